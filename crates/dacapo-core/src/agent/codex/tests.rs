//! How codex is run, who pays for it, and what its last words mean.

use std::fs;

use super::*;
use crate::agent::adapter::testing::{self, argv};
use crate::agent::npm_package::testing::program;

fn wish(approval: Approval, model: Option<&str>) -> Wish<'_> {
    Wish { model, approval, as_root: true }
}

#[test]
fn a8_each_approval_has_its_sandbox_and_asking_is_refused_before_the_start() {
    let start = "codex exec --json --skip-git-repo-check";
    for (approval, flags) in [
        (Approval::Auto, "--dangerously-bypass-approvals-and-sandbox"),
        (Approval::Edits, "--sandbox workspace-write"),
        (Approval::ReadOnly, "--sandbox read-only"),
    ] {
        let spec = Codex.profile(&wish(approval, None)).unwrap();
        assert_eq!(argv(&spec), format!("{start} {flags}"));
    }
    let unable = Codex.profile(&wish(Approval::Ask, None)).unwrap_err();
    assert_eq!((unable.approval, unable.acp_command), (Approval::Ask, &["codex-acp"][..]));
}

#[test]
fn a1_a_model_is_chosen_and_a_conversation_is_continued_by_flags_before_the_command() {
    let spec = Codex.profile(&wish(Approval::Auto, Some("gpt-5.5"))).unwrap();
    assert!(argv(&spec).ends_with(" --model gpt-5.5"));
    assert_eq!(spec.start, ["-"]);
    assert_eq!(spec.resume.unwrap(), ["resume", "{session}", "-"]);
}

#[test]
fn a_command_of_the_users_own_may_change_nothing_unless_it_says_so() {
    let own = |command: &str| AgentSpec {
        command: AgentCommand::Argv(command.split(' ').map(str::to_owned).collect()),
        ..Codex.profile(&wish(Approval::Auto, None)).unwrap()
    };
    assert!(Codex.lacks_tools(&own("codex exec --json -m gpt-5.5 -")));
    for told in [
        "codex exec --json --yolo",
        "codex exec --sandbox=workspace-write",
        "codex exec -s workspace-write",
        "codex exec -p mine",
        "codex exec -c sandbox_mode=danger-full-access",
    ] {
        assert!(!Codex.lacks_tools(&own(told)), "{told}");
    }
    assert!(!Codex.lacks_tools(&Codex.profile(&wish(Approval::Auto, None)).unwrap()));
}

fn account(env: &[(&str, &str)], home: &Path) -> Account {
    testing::account(&Codex, home, env)
}

#[test]
fn a4_who_pays_is_told_from_files_and_variables() {
    let home = tempfile::tempdir().unwrap();
    let login = |text: &str| fs::write(home.path().join(".codex/auth.json"), text).unwrap();
    fs::create_dir(home.path().join(".codex")).unwrap();
    let none = Account { logged_in: Some(false), ..Account::default() };
    assert_eq!(account(&[], home.path()), none);
    assert_eq!(account(&[("OPENAI_API_KEY", "sk-openai")], home.path()), none, "exec never looks at it");

    let paid = |billing, credential: &str| Account {
        logged_in: Some(true),
        billing,
        credential: Some(credential.into()),
        base_url: None,
    };
    login(
        r#"{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"at","account_id":"acc-1"}}"#,
    );
    assert_eq!(account(&[], home.path()), paid(Billing::Subscription, "acc-1"));
    let by_key = paid(Billing::ApiKey("CODEX_API_KEY".into()), "sk-codex");
    assert_eq!(account(&[("CODEX_API_KEY", "sk-codex")], home.path()), by_key, "it goes before the file");
    login(r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-file"}"#);
    assert_eq!(account(&[], home.path()), paid(Billing::ApiKey("auth.json".into()), "sk-file"));
    login("{ not json");
    assert_eq!(account(&[], home.path()), none);
}

#[test]
fn a4_a_provider_of_the_users_own_has_its_key_and_address() {
    let home = tempfile::tempdir().unwrap();
    let settings = r#"
        model_provider = "mock"
        [model_providers.mock]
        base_url = "http://127.0.0.1:1/v1"
        env_key = "MOCK_KEY"
    "#;
    fs::write(home.path().join("config.toml"), settings).unwrap();
    let codex_home = ("CODEX_HOME", home.path().to_str().unwrap());
    let expected = |key: Option<&str>| Account {
        logged_in: Some(key.is_some()),
        billing: Billing::ApiKey("MOCK_KEY".into()),
        credential: key.map(str::to_owned),
        base_url: Some("http://127.0.0.1:1/v1".into()),
    };
    let elsewhere = Path::new("/nowhere");
    assert_eq!(account(&[codex_home, ("MOCK_KEY", "k")], elsewhere), expected(Some("k")));
    assert_eq!(account(&[codex_home], elsewhere), expected(None));

    fs::write(home.path().join("config.toml"), "cli_auth_credentials_store = \"keyring\"").unwrap();
    assert_eq!(account(&[codex_home], elsewhere), Account::default(), "the system may hold a login");
}

#[test]
fn the_program_behind_the_script_is_found_beside_below_or_in_its_package() {
    let Some((system, processor)) = npm_package::machine() else { return };
    let family = if processor == "x64" { "x86_64" } else { "aarch64" };
    let target = if system == "linux" { "unknown-linux-musl" } else { "apple-darwin" };
    let own = format!("codex-{system}-{processor}");
    for place in [
        format!("@openai/{own}/vendor/{family}-{target}/bin/codex"),
        format!("@openai/codex/node_modules/@openai/{own}/vendor/{family}-{target}/bin/codex"),
        format!("@openai/codex/vendor/{family}-{target}/codex/codex"),
    ] {
        let modules = tempfile::tempdir().unwrap();
        let script = modules.path().join("@openai/codex/bin/codex.js");
        program(&script);
        assert_eq!(Codex.native_program(&script), None, "nothing is there yet");
        program(&modules.path().join("@openai/codex/vendor/riscv64-unknown-plan9/bin/codex"));
        assert_eq!(Codex.native_program(&script), None, "nothing is there for this machine");
        let native = modules.path().join(&place);
        program(&native);
        assert_eq!(Codex.native_program(&script), Some(native), "{place}");
    }
    assert_eq!(Codex.native_program(Path::new("/usr/local/bin/codex")), None, "installed as a program");
}

#[test]
fn l13_a_conversation_that_is_gone_is_named_so() {
    let stderr =
        "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a1 (code -32600)";
    let Some(AgentEvent::Error { failure: FailureKind::SessionLost, fault }) = Codex.diagnose(1, stderr)
    else {
        panic!("no reason");
    };
    assert_eq!(fault, Fault::SessionGone { agent: "codex".into(), said: String::new() });
}

#[test]
fn l8_what_codex_says_of_its_settings_and_arguments_will_not_heal() {
    let warning = "WARNING: proceeding, even though we could not create PATH aliases\n";
    for (code, stderr) in [
        (1, "Error loading config.toml: `wire_api = \"chat\"` is no longer supported."),
        (1, "Not inside a trusted directory and --skip-git-repo-check was not specified."),
        (
            1,
            "Error: turn/start failed: Input exceeds the maximum length of 1048576 characters. (code -32602)",
        ),
        (2, "error: unexpected argument '--nosuch' found"),
    ] {
        let found = Codex.diagnose(code, &format!("{warning}{stderr}\n\n   0: <unknown>"));
        assert!(
            matches!(&found, Some(AgentEvent::Error { failure: FailureKind::Permanent, .. })),
            "{stderr}: {found:?}"
        );
    }
    assert_eq!(Codex.diagnose(1, warning), None);
    assert_eq!(Codex.diagnose(1, "2026-11-15T18:24:46Z ERROR codex_core::session: failed"), None);
}
