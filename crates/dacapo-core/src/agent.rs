//! Agents as adapters: a spec becomes a command line, bytes become [`AgentEvent`]s. Nothing above knows which agent it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::event::AgentEvent;
use crate::spec::{AgentCommand, AgentSpec, OutputFormat, PromptBy};
use crate::store::AccountKey;

pub mod acp;
mod adapter;
mod api_error;
mod arguments;
mod claude;
mod claude_like;
mod codex;
mod copilot;
mod excerpt;
mod fields;
mod gemini;
mod lines;
mod metering;
mod native;
mod npm_package;
mod observe;
mod opencode;
mod patience;
mod promise;
mod quotation;
mod qwen;
mod raw_json;
mod rehearsal;
mod reset_time;
mod tag;
mod text;
mod weigh;

pub use adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
pub(crate) use observe::RawPromise;
pub use observe::{Observed, Observer};
pub use patience::{GiveUp, Patience};
pub(crate) use promise::{EchoFilter, PromiseSearch};
pub use tag::PLACEHOLDER;
pub(crate) use tag::{RawTag, Tag};
pub(crate) use text::unfinished;
pub use weigh::{Ending, weigh};

/// The agents with a profile, in the order in which one is chosen when nobody says which.
pub const BUILT_IN: &[&dyn Adapter] =
    &[&claude::Claude, &codex::Codex, &copilot::Copilot, &gemini::Gemini, &opencode::Opencode, &qwen::Qwen];

/// The kernel takes no longer argument than this.
const LONGEST_ARG: usize = 131_071;

/// Turns what an agent printed into what it did. Fed with chunks of any size, it never holds more than a bounded part.
pub trait Parser: Send {
    /// Takes the next bytes.
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent));

    /// The output has ended: what was held back is told now.
    fn finish(&mut self, sink: &mut dyn FnMut(AgentEvent));

    /// As `feed`, with what an agent that speaks ACP wants to be answered.
    fn hear(&mut self, bytes: &[u8], sink: &mut dyn FnMut(acp::AcpItem)) {
        self.feed(bytes, &mut |event| sink(acp::AcpItem::Event(event)));
    }

    /// The turn is over, though the agent's process may live on.
    fn is_over(&self) -> bool {
        false
    }

    /// The same parser once more, as it stands: fed with what follows, it says what this one says. So the middle of a long
    /// turn can be reached again without reading all that is before it.
    fn checkpoint(&self) -> Box<dyn Parser>;
}

/// The agent that speaks a format.
pub fn adapter(format: OutputFormat) -> Option<&'static dyn Adapter> {
    if format == OutputFormat::Acp {
        return Some(&acp::Acp);
    }
    BUILT_IN.iter().copied().find(|adapter| adapter.format() == format)
}

/// What is known of the program behind an agent. One that speaks ACP is known by its program's name.
pub fn behind(agent: &AgentSpec) -> Option<&'static dyn Adapter> {
    if agent.output != OutputFormat::Acp {
        return adapter(agent.output);
    }
    let program = program(agent)?;
    let name = program.file_name()?.to_str()?;
    BUILT_IN.iter().copied().find(|known| known.name() == name)
}

/// The parser for an output format.
pub fn parser(format: OutputFormat, setting: ParserSetting) -> Box<dyn Parser> {
    match (format, adapter(format)) {
        (OutputFormat::Rehearsal, _) => Box::new(lines::ByLine::new(rehearsal::RehearsalLines)),
        (_, Some(adapter)) => adapter.parser(setting),
        (_, None) => Box::new(text::TextParser::default()),
    }
}

/// Where the built-in agent keeps its conversations: in Dacapo's data, where it must be able to write.
pub fn sessions_place(agent: &AgentSpec) -> Option<PathBuf> {
    let AgentCommand::Own(arguments) = &agent.command else { return None };
    let at = arguments.iter().position(|argument| argument == "--sessions")?;
    arguments.get(at + 1).map(PathBuf::from)
}

/// Where an agent keeps its own state: logins, settings, conversations. Known by its program's name, as nearly all agents do.
pub fn state_places(
    agent: &AgentSpec,
    home: Option<&Path>,
    env: &[(OsString, OsString)],
) -> impl Iterator<Item = PathBuf> {
    const VARIABLES: [&str; 4] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"];
    let named = behind(agent).map(|adapter| adapter.name().to_owned());
    let name = named.or_else(|| Some(program(agent)?.file_name()?.to_str()?.to_owned()));
    let below_home = home.zip(name).into_iter().flat_map(|(home, name)| {
        let hidden = [format!(".{name}"), format!(".{name}.json")];
        let of_xdg = [".config", ".cache", ".local/share", ".local/state"].map(|dir| format!("{dir}/{name}"));
        hidden.into_iter().chain(of_xdg).map(|place| home.join(place)).collect::<Vec<_>>()
    });
    let set = VARIABLES.into_iter().filter_map(|variable| {
        env.iter().rev().find(|(known, _)| known == variable).map(|(_, value)| PathBuf::from(value))
    });
    set.filter(|place| place.is_absolute()).chain(below_home).collect::<Vec<_>>().into_iter()
}

/// Who pays for an agent in this environment, which is the user's own; what its profile adds to it counts too.
pub fn account(agent: &AgentSpec, env: &[(OsString, OsString)]) -> Account {
    let added = agent.env.iter().map(|(name, value)| (name.into(), value.into()));
    let env: Vec<(OsString, OsString)> = env.iter().cloned().chain(added).collect();
    let user_env = UserEnv { env: &env };
    if let AgentCommand::Own(arguments) = &agent.command {
        return native::account(arguments, &user_env);
    }
    match (agent.output, behind(agent)) {
        (OutputFormat::Rehearsal, _) => rehearsal::account(&user_env),
        (_, Some(adapter)) => adapter.account(&user_env),
        (_, None) => Account::default(),
    }
}

/// What tells the account of an agent from all others on this machine; none where it cannot be told.
pub fn account_key(agent: &AgentSpec, env: &[(OsString, OsString)]) -> Option<AccountKey> {
    let kind = match &agent.command {
        AgentCommand::Own(_) => "native",
        _ => behind(agent).map_or("rehearsal", Adapter::name),
    };
    let account = account(agent, env);
    Some(AccountKey::new(kind, &account.credential?, account.base_url.as_deref()))
}

/// What to run for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// What goes to its standard input.
    pub stdin: Vec<u8>,
}

/// A turn as an adapter sees it.
#[derive(Debug, Clone, Copy)]
pub struct TurnRequest<'a> {
    /// What the agent is told.
    pub prompt: &'a str,
    /// A file that holds the same.
    pub prompt_file: &'a Path,
    /// The conversation, where its id is known.
    pub session: Option<&'a str>,
    /// It is to be continued.
    pub continued: bool,
    /// Our own program, for the built-in agents.
    pub own_program: &'a Path,
    /// Where the agent may write what it used.
    pub usage_file: &'a Path,
    /// What it may cost, in USD.
    pub budget: Option<f64>,
}

/// The turn cannot be put into a command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the prompt of {bytes} bytes does not fit into an argument (at most {LONGEST_ARG}): \
     set prompt = \"stdin\" or \"file\" for agent '{agent}'"
)]
pub struct PromptTooLong {
    agent: String,
    bytes: usize,
}

/// The command line of a turn. User text goes in as it is: only the arguments the user wrote hold placeholders.
pub fn invocation(agent: &AgentSpec, turn: &TurnRequest<'_>) -> Result<Invocation, PromptTooLong> {
    let session = turn.session.unwrap_or_default();
    let fill = |arg: &String| match arg.as_str() {
        "{usage_file}" => Some(turn.usage_file.into()),
        arg if arg.contains("{budget}") => {
            turn.budget.map(|usd| arg.replace("{budget}", &dollars(usd)).into())
        }
        arg => Some(OsString::from(arg.replace("{session}", session))),
    };
    let mut argv: Vec<OsString> = match &agent.command {
        AgentCommand::Shell(command) => vec!["sh".into(), "-c".into(), command.into()],
        AgentCommand::Argv(argv) => argv.iter().filter_map(fill).collect(),
        AgentCommand::Rehearsal(script) => vec![turn.own_program.into(), "__rehearse".into(), script.into()],
        AgentCommand::Own(arguments) => {
            std::iter::once(turn.own_program.into()).chain(arguments.iter().filter_map(fill)).collect()
        }
    };
    if turn.continued {
        argv.extend(agent.resume.iter().flatten().filter_map(fill));
    } else {
        argv.extend(agent.start.iter().filter_map(fill));
    }
    let mut stdin = Vec::new();
    match agent.prompt {
        PromptBy::Stdin => stdin = turn.prompt.as_bytes().to_vec(),
        PromptBy::Arg if turn.prompt.len() > LONGEST_ARG => {
            return Err(PromptTooLong { agent: agent.name.clone(), bytes: turn.prompt.len() });
        }
        PromptBy::Arg => place(&mut argv, "{prompt}", turn.prompt.into()),
        PromptBy::File => place(&mut argv, "{prompt_file}", turn.prompt_file.into()),
    }
    Ok(Invocation { argv, stdin })
}

/// Up to the next millionth: who has spent that much has spent all of it.
fn dollars(usd: f64) -> String {
    format!("{:.6}", (usd * 1e6).ceil() / 1e6)
}

/// Puts `value` where an argument is exactly `placeholder`, else at the end.
fn place(argv: &mut Vec<OsString>, placeholder: &str, value: OsString) {
    match argv.iter().position(|arg| arg == placeholder) {
        Some(at) => argv[at] = value,
        None => argv.push(value),
    }
}

/// How a person talks with an agent at a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InteractiveCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// It goes on in the conversation that was given.
    pub continues: bool,
}

/// How a person takes an agent's conversation over; none where that is not known. A program of another name than the
/// agent's own is a wrapper, of which nobody knows what it does without its arguments.
pub fn interactive_command(agent: &AgentSpec, session: Option<&str>) -> Option<InteractiveCommand> {
    let adapter = behind(agent)?;
    let program = program(agent)?;
    if program.file_name()?.to_str()? != adapter.name() {
        return None;
    }
    // What the protocol calls a session the program itself may call something else.
    let session = session.filter(|_| agent.output != OutputFormat::Acp);
    let mut argv = vec![program.to_str()?.to_owned()];
    argv.extend(session.into_iter().flat_map(|session| adapter.interactive(session)));
    argv.extend(agent.model.iter().flat_map(|model| ["--model".to_owned(), model.clone()]));
    Some(InteractiveCommand { argv, continues: session.is_some() })
}

/// What is run in truth for a command that merely starts another program: stopped, it would leave that one behind.
/// `find` looks a name up on PATH.
pub fn native_program(
    agent: &AgentSpec,
    program: &Path,
    find: impl FnOnce(&Path) -> Option<PathBuf>,
) -> Option<PathBuf> {
    let adapter = behind(agent)?;
    let found = find(program)?;
    adapter.native_program(&found.canonicalize().ok()?)
}

/// Commands that the agent runs do not see the user's git config.
pub(crate) fn hides_git_config(agent: &AgentSpec) -> bool {
    behind(agent).is_some_and(Adapter::hides_git_config)
}

/// The first file of this name on `path` that can be run, or the program itself where it is a path already.
pub fn find_on_path(program: &Path, path: Option<&std::ffi::OsStr>, cwd: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(cwd.join(program)).filter(|path| runnable(path));
    }
    std::env::split_paths(path?).map(|dir| cwd.join(dir).join(program)).find(|path| runnable(path))
}

/// Whether this is a program.
fn runnable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The program of an agent, where it must be found on PATH.
pub fn program(agent: &AgentSpec) -> Option<PathBuf> {
    match &agent.command {
        AgentCommand::Argv(argv) => argv.first().map(PathBuf::from),
        AgentCommand::Shell(_) | AgentCommand::Rehearsal(_) | AgentCommand::Own(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Approval;

    fn agent(command: AgentCommand, prompt: PromptBy) -> AgentSpec {
        AgentSpec {
            name: "mybot".into(),
            command,
            start: vec!["--session-id".into(), "{session}".into()],
            prompt,
            output: OutputFormat::Text,
            resume: Some(vec!["--resume".into(), "{session}".into()]),
            follow_up: "繼續".into(),
            env: Vec::new().into(),
            model: None,
            price: None,
            approval: Approval::Auto,
        }
    }

    fn request(prompt: &str, continued: bool) -> TurnRequest<'_> {
        TurnRequest {
            prompt,
            prompt_file: Path::new("/t/0000.prompt"),
            session: Some("s-1"),
            continued,
            own_program: Path::new("/bin/dacapo"),
            usage_file: Path::new("/t/0000.usage"),
            budget: None,
        }
    }

    fn argv(of: &Invocation) -> Vec<&str> {
        of.argv.iter().map(|arg| arg.to_str().unwrap()).collect()
    }

    #[test]
    fn a1_the_prompt_goes_in_as_configured_and_is_never_expanded() {
        let prompt = "do {session} and {prompt} \"quoted\" {{ x }}";
        let bot =
            |argv: &[&str], by| agent(AgentCommand::Argv(argv.iter().map(|a| (*a).to_owned()).collect()), by);

        let stdin =
            invocation(&bot(&["mybot", "--headless"], PromptBy::Stdin), &request(prompt, false)).unwrap();
        let expected = vec!["mybot", "--headless", "--session-id", "s-1"];
        assert_eq!((argv(&stdin), stdin.stdin.as_slice()), (expected, prompt.as_bytes()));

        let last = invocation(&bot(&["mybot"], PromptBy::Arg), &request(prompt, true)).unwrap();
        assert_eq!(argv(&last), ["mybot", "--resume", "s-1", prompt]);

        let placed =
            invocation(&bot(&["mybot", "{prompt}", "-x"], PromptBy::Arg), &request(prompt, true)).unwrap();
        assert_eq!(argv(&placed), ["mybot", prompt, "-x", "--resume", "s-1"]);

        let usage = bot(&["mybot", "-u", "{usage_file}", "-f"], PromptBy::File);
        let file = invocation(&usage, &request(prompt, true)).unwrap();
        assert_eq!(argv(&file), ["mybot", "-u", "/t/0000.usage", "-f", "--resume", "s-1", "/t/0000.prompt"]);
    }

    #[test]
    fn k13_an_agent_whose_account_cannot_be_told_shares_nothing() {
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let env = [variable("REHEARSAL_ACCOUNT", "a")];
        let mut bot = agent(AgentCommand::Argv(vec!["mybot".into()]), PromptBy::Stdin);
        assert_eq!(account_key(&bot, &env), None, "plain text");
        bot.output = OutputFormat::Rehearsal;
        assert_eq!(account_key(&bot, &[]), None);
        assert_eq!(account_key(&bot, &env), Some(AccountKey::new("rehearsal", "a", None)));
        bot.env = vec![("REHEARSAL_ACCOUNT".into(), "b".into())].into();
        assert_eq!(account_key(&bot, &env), Some(AccountKey::new("rehearsal", "b", None)));
    }

    #[test]
    fn l10_a_budget_is_named_where_there_is_one() {
        let bot = agent(
            AgentCommand::Argv(vec!["mybot".into(), "--most={budget}".into(), "-x".into()]),
            PromptBy::Stdin,
        );
        let with = |budget| invocation(&bot, &TurnRequest { budget, ..request("go", false) }).unwrap();
        assert_eq!(argv(&with(None)), ["mybot", "-x", "--session-id", "s-1"]);
        assert_eq!(argv(&with(Some(0.25)))[1], "--most=0.250000");
        assert_eq!(argv(&with(Some(0.1 + 0.2)))[1], "--most=0.300001", "never less than there is");
    }

    #[test]
    fn k13_an_agent_over_acp_has_the_account_of_the_program_behind_it() {
        let mut bot =
            agent(AgentCommand::Argv(vec!["/opt/bin/copilot".into(), "--acp".into()]), PromptBy::Stdin);
        bot.output = OutputFormat::Acp;
        assert_eq!(behind(&bot).map(Adapter::name), Some("copilot"));
        bot.command = AgentCommand::Argv(vec!["mybot".into()]);
        assert!(behind(&bot).is_none());
        assert_eq!(account_key(&bot, &[("COPILOT_GITHUB_TOKEN".into(), "x".into())]), None);
        bot.output = OutputFormat::Claude;
        assert_eq!(behind(&bot).map(Adapter::name), Some("claude"), "by what it prints");
    }

    #[test]
    fn s2_a_person_takes_over_the_conversation_that_is_known() {
        for (name, with, without) in [
            ("claude", "claude --resume s-1 --model m", "claude --model m"),
            ("codex", "codex resume s-1 --model m", "codex --model m"),
            ("copilot", "copilot --resume=s-1 --model m", "copilot --model m"),
            ("gemini", "gemini --resume s-1 --model m", "gemini --model m"),
            ("opencode", "opencode --session s-1 --model m", "opencode --model m"),
            ("qwen", "qwen --resume s-1 --model m", "qwen --model m"),
        ] {
            let adapter = BUILT_IN.iter().find(|adapter| adapter.name() == name).unwrap();
            let wish = Wish { model: Some("m"), approval: Approval::Auto, as_root: false };
            let agent = adapter.profile(&wish).unwrap();
            let argv = |session| interactive_command(&agent, session).map(|command| command.argv.join(" "));
            assert_eq!(argv(Some("s-1")).as_deref(), Some(with));
            assert_eq!(argv(None).as_deref(), Some(without));
        }
        let mut wrapped = agent(AgentCommand::Argv(vec!["my-claude".into()]), PromptBy::Stdin);
        wrapped.output = OutputFormat::Claude;
        assert_eq!(interactive_command(&wrapped, Some("s-1")), None);
        assert_eq!(
            interactive_command(&agent(AgentCommand::Shell("claude".into()), PromptBy::Stdin), None),
            None
        );
        let mut acp = agent(AgentCommand::Argv(vec!["/opt/gemini".into(), "--acp".into()]), PromptBy::Stdin);
        acp.output = OutputFormat::Acp;
        assert_eq!(interactive_command(&acp, Some("s-1")).unwrap().argv, ["/opt/gemini"]);
    }

    #[test]
    fn a1_an_argument_longer_than_the_kernel_takes_is_refused_with_a_way_out() {
        let bot = agent(AgentCommand::Argv(vec!["mybot".into()]), PromptBy::Arg);
        let error = invocation(&bot, &request(&"x".repeat(200_000), false)).unwrap_err();
        assert!(error.to_string().contains("prompt = \"stdin\""), "{error}");
    }
}
