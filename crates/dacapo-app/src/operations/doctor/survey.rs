//! Looks at every agent: is it there, which version, logged in, who pays.

use std::path::{Path, PathBuf};

use dacapo_core::agent::{self, Account, Adapter};
use dacapo_core::event::Fault;
use dacapo_core::spec::AgentSpec;
use dacapo_core::store::{AccountKey, Home};
use jiff::Timestamp;

use super::DoctorContext;
use super::ask::{self, Answer, Question};
use super::report::{AgentReport, Kind, LimitReport, State, without_credentials};
use crate::agents::{AgentChoice, described, how_to_install};
use crate::config::AgentProfile;
use crate::messages::{Messages, Text, say};
use crate::present::faults;
use crate::present::words;

/// An agent and what was found out about it.
pub struct Subject {
    pub report: AgentReport,
    /// How it is run, where that is known.
    pub(super) spec: Option<AgentSpec>,
    pub(super) account: Option<AccountKey>,
    /// The program to be asked for its version.
    asked: Option<PathBuf>,
}

pub(super) fn survey(here: &DoctorContext, names: &[String], wanted: &AgentChoice) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = names.iter().map(|name| subject(here, name, wanted)).collect();
    let asked: Vec<usize> = (0..subjects.len()).filter(|at| subjects[*at].asked.is_some()).collect();
    let questions = asked.iter().map(|at| version_question(here, &subjects[*at])).collect();
    for (at, answer) in asked.iter().zip(ask::all(&here.app, questions)) {
        let subject = &mut subjects[*at];
        heard(&mut subject.report, &answer);
        refused(subject);
    }
    subjects
}

fn kind_of(name: &str) -> Kind {
    match name {
        "native" => Kind::Native,
        "rehearsal" => Kind::Rehearsal,
        _ if agent::BUILT_IN.iter().any(|adapter| adapter.name() == name) => Kind::BuiltIn,
        _ => Kind::Configured,
    }
}

fn subject(here: &DoctorContext, name: &str, wanted: &AgentChoice) -> Subject {
    let kind = kind_of(name);
    let profile = here.config.agent_profile(name);
    let mut report = AgentReport::new(name, kind);
    if kind == Kind::Native && !here.config.agents.contains_key("native") {
        report.state = State::NotFound;
        report.problem = Some(say(Messages::doctor_not_configured));
        report.hint = Some(say(Messages::doctor_configure_native));
        return Subject { report, spec: None, account: None, asked: None };
    }
    let spec = match described(&here.app, name, wanted, &here.config, &here.top) {
        Ok(spec) => spec,
        Err(failure) => {
            // The scripted agent is there, whatever it is to play.
            report.state = if kind == Kind::Rehearsal { State::NotFound } else { State::Unusable };
            report.problem = Some(failure.message);
            report.hint = failure.hints.into_iter().next();
            return Subject { report, spec: None, account: None, asked: None };
        }
    };
    let adapter = agent::behind(&spec);
    let asked = look_for_program(here, &spec, adapter, &mut report);
    let account = agent::account(&spec, &here.env);
    look_at_account(&account, adapter, &profile, &mut report);
    let key = agent::account_key(&spec, &here.env);
    report.limit = key.as_ref().and_then(|key| limit(here, key));
    Subject { report, spec: Some(spec), account: key, asked }
}

/// The program, and what is run in its place. Gives back what may be asked for its version: a command of the user's own
/// need not know the question, and could take it for work to do.
fn look_for_program(
    here: &DoctorContext,
    spec: &AgentSpec,
    adapter: Option<&dyn Adapter>,
    report: &mut AgentReport,
) -> Option<PathBuf> {
    let program = agent::program(spec)?;
    let path = here.var("PATH");
    let Some(found) = agent::find_on_path(&program, path, &here.top) else {
        report.state = State::NotFound;
        report.problem = Some(match report.kind {
            Kind::BuiltIn if program == Path::new(&report.name) => say(Messages::doctor_not_found),
            _ => say(|m| m.doctor_program_not_found(&program.display().to_string())),
        });
        let install = how_to_install(&program.to_string_lossy());
        report.hint = Some(install.map_or_else(|| say(Messages::doctor_install_it), Text::from));
        return None;
    };
    report.path = Some(found.display().to_string());
    let native = agent::native_program(spec, &program, |_| Some(found.clone()));
    report.native_program = native.as_ref().map(|path| path.display().to_string());
    adapter.is_some().then(|| native.unwrap_or(found))
}

fn look_at_account(
    account: &Account,
    adapter: Option<&dyn Adapter>,
    profile: &AgentProfile,
    report: &mut AgentReport,
) {
    report.logged_in = account.logged_in.filter(|_| report.kind != Kind::Rehearsal);
    report.billing = account.billing.clone().into();
    report.base_url = account.base_url.as_deref().map(without_credentials);
    if account.logged_in == Some(false) && report.state == State::Ready {
        report.state = State::NotLoggedIn;
        report.problem = Some(say(Messages::doctor_not_logged_in));
        report.hint = match (adapter, &profile.key_env) {
            (Some(adapter), _) => Some(say(|m| faults::log_in_to(adapter, m))),
            (None, Some(variable)) => Some(say(|m| m.doctor_set_variable(variable))),
            (None, None) => None,
        };
    }
}

fn limit(here: &DoctorContext, key: &AccountKey) -> Option<LimitReport> {
    let now = Timestamp::now();
    let limits = here.home.as_ref().ok().map(Home::limits)?;
    let limit = limits.known(key, now).filter(|limit| limit.until > now)?;
    Some(LimitReport { until: limit.until, found_by: limit.found_by, message: limit.message })
}

fn version_question(here: &DoctorContext, subject: &Subject) -> Question {
    let mut env = here.env.to_vec();
    // What keeps an agent quiet in a loop keeps it from updating itself now.
    let own = subject.spec.iter().flat_map(|spec| spec.env.iter());
    env.extend(own.map(|(name, value)| (name.into(), value.into())));
    let program = subject.asked.clone().unwrap_or_default();
    Question { argv: vec![program.into(), "--version".into()], env, cwd: here.top.clone() }
}

fn heard(report: &mut AgentReport, answer: &Answer) {
    let problem = match answer {
        Answer::Said { code: 0, text } => {
            report.version = Some(version_in(text)).filter(|version| !version.is_empty());
            return;
        }
        Answer::Silent => {
            // It may be slow today; whether it works is for a test turn to say.
            let seconds = ask::PATIENCE.as_secs();
            report.problem.get_or_insert_with(|| say(|m| m.doctor_no_version(seconds)));
            return;
        }
        Answer::Said { code, text } => {
            let said = words::line(text, 200);
            say(|m| m.doctor_does_not_run_exit(*code, &said))
        }
        Answer::Impossible(why) => say(|m| m.doctor_does_not_run(&words::line(why.in_words(m), 200))),
    };
    report.state = State::Unusable;
    report.problem = Some(problem);
    report.hint = Some(say(Messages::doctor_try_it_yourself));
}

/// A version that no task can use.
fn refused(subject: &mut Subject) {
    let adapter = subject.spec.as_ref().and_then(agent::behind);
    let version = subject.report.version.as_deref();
    let found = adapter.zip(version).and_then(|(adapter, version)| adapter.unusable(version));
    if let Some(fault) = found.map(Fault::from) {
        subject.report.state = State::Unusable;
        subject.report.problem = Some(say(|m| faults::told(&fault, m)));
    }
}

/// `2.1.325` out of `2.1.325 (Claude Code)`, `codex-cli 0.166.0`, or whatever a program says; else its first line.
pub(super) fn version_in(text: &str) -> String {
    let is_version = |word: &&str| {
        let word = word.strip_prefix('v').unwrap_or(word);
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_,".contains(c))
    };
    let word = text.split_whitespace().find(is_version).map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        word.trim_end_matches([',', '.'])
    });
    words::line(word.unwrap_or(text), 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> AgentReport {
        AgentReport::new("codex", Kind::BuiltIn)
    }

    #[test]
    fn a4_a_version_is_found_in_what_programs_say() {
        for (text, version) in [
            ("2.1.325 (Claude Code)\n", "2.1.325"),
            ("codex-cli 0.166.0\n", "0.166.0"),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", "1.0.102"),
            ("\n\nv0.61.0\n", "0.61.0"),
            ("git version 2.47.1", "2.47.1"),
            ("nightly\n", "nightly"),
            ("", ""),
            ("a warning first\nagent v3.0.0-beta.1, made today", "3.0.0-beta.1"),
            ("\u{1b}[31mred\u{7} 1.2\u{1b}[0m", "[31mred  1.2 [0m"),
        ] {
            assert_eq!(version_in(text), version);
        }
    }

    #[test]
    fn a4_what_does_not_run_is_unusable_and_what_is_slow_is_not() {
        let mut broken = report();
        heard(&mut broken, &Answer::Said { code: 127, text: "env: node: No such file".into() });
        assert_eq!(broken.state, State::Unusable);
        assert!(broken.problem.unwrap().english().contains("env: node"));
        let mut slow = report();
        heard(&mut slow, &Answer::Silent);
        assert_eq!(slow.state, State::Ready);
        assert!(slow.problem.is_some());
    }

    #[test]
    fn a4_who_is_not_logged_in_is_told_how_to() {
        let mut out = report();
        let account = Account { logged_in: Some(false), ..Account::default() };
        let profile = AgentProfile { key_env: Some("MY_KEY".into()), ..AgentProfile::default() };
        look_at_account(&account, None, &profile, &mut out);
        assert_eq!(
            (out.state, out.hint.as_ref().map(Text::english)),
            (State::NotLoggedIn, Some("set MY_KEY"))
        );
        let mut missing = AgentReport { state: State::NotFound, ..report() };
        look_at_account(&account, None, &profile, &mut missing);
        assert_eq!(missing.state, State::NotFound, "first things first");
    }

    #[test]
    fn a4_every_agent_that_can_be_named_is_looked_at() {
        let mut config = crate::config::Config::default();
        for name in ["mybot", "native"] {
            config.agents.insert(name.into(), AgentProfile::default());
        }
        let names = crate::agents::names(&config);
        assert_eq!(names[agent::BUILT_IN.len()..], ["native", "rehearsal", "mybot"]);
        assert_eq!(kind_of("mybot"), Kind::Configured);
    }
}
