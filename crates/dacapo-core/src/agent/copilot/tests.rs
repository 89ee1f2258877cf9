//! How copilot is run, who pays for it, and what its last words mean.

use std::fs;

use super::*;
use crate::agent::adapter::testing::{self, argv};
use crate::agent::npm_package::testing::program;

fn wish(approval: Approval, model: Option<&str>) -> Wish<'_> {
    Wish { model, approval, as_root: true }
}

#[test]
fn a8_each_approval_has_its_flags_and_asking_is_refused_before_the_start() {
    let start = "copilot --output-format json --usage-output-file {usage_file}";
    for (approval, flags) in [
        (Approval::Auto, "--allow-all"),
        (Approval::Edits, "--allow-tool=write"),
        (Approval::ReadOnly, "--deny-tool=write --deny-tool=shell"),
    ] {
        let spec = Copilot.profile(&wish(approval, None)).unwrap();
        assert_eq!(argv(&spec), format!("{start} {flags}"));
        let allows_all = spec.env.iter().any(|pair| pair == ("COPILOT_ALLOW_ALL", "false"));
        assert_eq!(allows_all, approval != Approval::Auto, "a variable of the user's must not allow more");
    }
    let unable = Copilot.profile(&wish(Approval::Ask, None)).unwrap_err();
    assert_eq!((unable.approval, unable.acp_command), (Approval::Ask, &["copilot", "--acp"][..]));
}

#[test]
fn a1_a_model_is_chosen_and_the_conversation_has_an_id_of_ours() {
    let spec = Copilot.profile(&wish(Approval::Auto, Some("gpt-5.5"))).unwrap();
    assert!(argv(&spec).ends_with(" --model gpt-5.5"));
    assert!(spec.presets_session());
    assert_eq!(spec.resume.unwrap(), ["--resume={session}"]);
}

fn account(env: &[(&str, &str)], home: &Path) -> Account {
    testing::account(&Copilot, home, env)
}

#[test]
fn a4_who_pays_is_told_from_files_and_variables() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(account(&[], home.path()), Account::default(), "gh may hold a login");

    let own = [("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1/v1"), ("COPILOT_PROVIDER_API_KEY", "k")];
    let expected = Account {
        logged_in: Some(true),
        billing: Billing::ApiKey("COPILOT_PROVIDER_API_KEY".into()),
        credential: Some("k".into()),
        base_url: Some("http://127.0.0.1:1/v1".into()),
    };
    assert_eq!(account(&[own[0], own[1], ("GH_TOKEN", "t")], home.path()), expected);
    assert_eq!(account(&own[..1], home.path()).billing, Billing::Unknown, "a model on this machine");

    let of_user = |credential: &str| Account {
        logged_in: Some(true),
        billing: Billing::Subscription,
        credential: Some(credential.into()),
        base_url: None,
    };
    let tokens = [("GITHUB_TOKEN", "c"), ("COPILOT_GITHUB_TOKEN", "a"), ("GH_TOKEN", "b")];
    assert_eq!(account(&tokens, home.path()), of_user("a"));

    fs::create_dir(home.path().join(".copilot")).unwrap();
    let file = "// This file is managed automatically.\n\
                {\n  \"lastLoggedInUser\": {\"host\": \"https://github.com\", \"login\": \"octocat\"}\n}";
    fs::write(home.path().join(".copilot/config.json"), file).unwrap();
    assert_eq!(account(&[], home.path()), of_user("https://github.com octocat"));
    fs::write(home.path().join(".copilot/config.json"), "{\"firstLaunchAt\": 7}").unwrap();
    assert_eq!(account(&[], home.path()), Account::default());
}

#[test]
fn the_program_behind_the_script_is_found_where_there_is_no_doubt() {
    let Some((system, processor)) = npm_package::machine() else { return };
    let modules = tempfile::tempdir().unwrap();
    let script = modules.path().join("@github/copilot/npm-loader.js");
    program(&script);
    assert_eq!(Copilot.native_program(&script), None);
    let native = modules.path().join(format!("@github/copilot-{system}-{processor}/copilot"));
    program(&native);
    assert_eq!(Copilot.native_program(&script), Some(native));
    if system == "linux" {
        program(&modules.path().join(format!("@github/copilot-linuxmusl-{processor}/copilot")));
        assert_eq!(Copilot.native_program(&script), None, "the script knows which");
    }
    assert_eq!(Copilot.native_program(Path::new("/opt/homebrew/bin/copilot")), None);
}

#[test]
fn l8_l13_what_is_only_said_on_standard_error_is_understood() {
    let diagnosed = |stderr: &str| match Copilot.diagnose(1, stderr) {
        Some(AgentEvent::Error { failure, fault: message }) => Some((failure, message)),
        Some(other) => panic!("{other:?}"),
        None => None,
    };
    let (failure, message) =
        diagnosed("Error: No authentication information found.\n\nCopilot can be authenticated …").unwrap();
    assert_eq!(failure, FailureKind::Permanent);
    let fault = Fault::not_logged_in("copilot has no login", Some(LogIn::of("copilot")));
    assert_eq!(message, fault);

    let (failure, message) = diagnosed("Error: No session, task, or name matched '1111'.").unwrap();
    assert_eq!(failure, FailureKind::SessionLost);
    assert_eq!(message, Fault::SessionGone { agent: "copilot".into(), said: String::new() });

    let (failure, message) = diagnosed("error: unexpected argument '--nosuch' found\n\nUsage: …").unwrap();
    assert_eq!(failure, FailureKind::Permanent);
    assert!(message.quoted().unwrap().contains("--nosuch"), "{message:?}");

    assert_eq!(diagnosed("Error: out of memory").unwrap().0, FailureKind::Transient);
    assert_eq!(diagnosed(""), None);
    let after_an_interrupt = "Error executing prompt: Error: Cannot invoke native session";
    assert_eq!(Copilot.diagnose(0, after_an_interrupt), None);
}
