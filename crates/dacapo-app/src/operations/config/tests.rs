use std::os::unix::fs::symlink;

use super::*;
use crate::note::Notes;

/// A user whose home is a directory of the test's own, outside of any repository.
struct Case {
    _dir: tempfile::TempDir,
    app: App,
    file: PathBuf,
}

fn case(env: &[(&str, &str)]) -> Case {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_owned();
    let app = App {
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        cwd: Ok(home.clone()),
        user_dir: Some(home.clone()),
        program: "dacapo".into(),
        supervision: dacapo_core::process::Supervision::default(),
        kinds: dacapo_core::engine::Kinds::default(),
        messages: crate::messages::Messages::ENGLISH,
        notes: Notes::default(),
    };
    Case { _dir: dir, app, file: home.join(".config/dacapo/config.toml") }
}

impl Case {
    fn write(&self, text: &str) {
        fs::create_dir_all(self.file.parent().unwrap()).unwrap();
        fs::write(&self.file, text).unwrap();
    }

    fn read(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    fn mode(&self) -> u32 {
        self.file.metadata().unwrap().permissions().mode() & 0o777
    }

    fn set(&self, key: &str, value: &str) -> Result<ConfigChange, Failure> {
        self.app.set_config(Whose::User, key, value)
    }

    fn changed(&self, effect: Effect) -> ConfigChange {
        ConfigChange { path: self.file.display().to_string(), written: Written::Changed, effect }
    }
}

#[test]
fn a_new_file_is_the_users_alone_and_one_that_is_there_keeps_its_permissions() {
    let case = case(&[]);
    let origin = Origin::User { path: case.file.clone(), line: 1 };
    assert_eq!(case.set("agent", "codex").unwrap(), case.changed(Effect::From { origin }));
    assert_eq!((case.read().as_str(), case.mode()), ("agent = \"codex\"\n", 0o600));
    fs::set_permissions(&case.file, Permissions::from_mode(0o644)).unwrap();
    let change = case.app.unset_config(Whose::User, "agent").unwrap();
    assert_eq!(change, case.changed(Effect::From { origin: Origin::Default }));
    assert_eq!((case.read().as_str(), case.mode()), ("", 0o644));
    let again = case.app.unset_config(Whose::User, "agent").unwrap();
    assert_eq!(again.written, Written::AsItWas);
    let left: Vec<_> = fs::read_dir(case.file.parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_is_refused_changes_nothing() {
    let case = case(&[]);
    let failure = case.set("keep_awake", "maybe").unwrap_err();
    assert_eq!(failure.exit_code(), 2);
    assert_eq!(failure.kept.as_ref().map(|kept| kept.english()), Some("everything; nothing was changed"));
    assert!(!case.file.parent().unwrap().exists(), "not even a folder is made");
    // It fits, and the table would mean nothing.
    let failure = case.set("prices.m.input", "1").unwrap_err();
    assert!(failure.message.english().contains("missing key 'output' in [prices.m]"), "{failure}");
    assert!(!case.file.exists());
}

#[test]
fn c11_the_users_file_may_be_a_link_to_where_dotfiles_are_kept() {
    let case = case(&[]);
    case.write("");
    let dotfiles = case.file.ancestors().nth(3).unwrap().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let target = dotfiles.join("dacapo.toml");
    fs::rename(&case.file, &target).unwrap();
    symlink("../../dotfiles/dacapo.toml", &case.file).unwrap();
    let origin = Origin::User { path: case.file.clone(), line: 1 };
    assert_eq!(case.set("agent", "codex").unwrap(), case.changed(Effect::From { origin }));
    assert!(case.file.is_symlink(), "the link stays");
    assert_eq!(fs::read_to_string(&target).unwrap(), "agent = \"codex\"\n");
    assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), 1, "nothing else is left there");
    // One that leads nowhere is named.
    fs::remove_file(&target).unwrap();
    let failure = case.set("agent", "codex").unwrap_err();
    assert!(
        failure.message.english().ends_with("is a symbolic link to a file that does not exist"),
        "{failure}"
    );
    assert!(!target.exists());
    // The folder may be one, too.
    let folder = case.file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    symlink(&dotfiles, folder).unwrap();
    case.set("agent", "codex").unwrap();
    assert_eq!(fs::read_to_string(dotfiles.join("config.toml")).unwrap(), "agent = \"codex\"\n");
}

#[test]
fn r6_a_link_in_place_of_the_projects_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("config.toml"));
    fs::write(&target, "").unwrap();
    symlink(&target, &link).unwrap();
    assert_eq!(behind_links(&link, Whose::Project).unwrap(), link);
    let failure = text_of(&link).unwrap_err();
    assert!(failure.message.english().ends_with("is a symbolic link, which is not followed"), "{failure}");
}

#[test]
fn mistakes_can_be_mended_one_by_one() {
    let case = case(&[]);
    case.write("agnet = 1\nkeep_awake = 3\n");
    assert!(case.set("language", "en").is_err(), "the file is as wrong as before");
    let change = case.app.unset_config(Whose::User, "agnet").unwrap();
    assert!(
        matches!(&change.effect, Effect::StillWrong { problems } if problems.english().contains("keep_awake")),
        "{change:?}"
    );
    case.set("keep_awake", "false").unwrap();
    assert_eq!(case.read(), "keep_awake = false\n");
}

#[test]
fn who_has_the_last_word_is_said() {
    let case = case(&[("DACAPO_KEEP_AWAKE", "true")]);
    let origin = Origin::Env { name: "DACAPO_KEEP_AWAKE".into() };
    assert_eq!(case.set("keep_awake", "false").unwrap(), case.changed(Effect::From { origin }));
    let text = serde_json::to_string(&case.set("keep_awake", "false").unwrap()).unwrap();
    assert!(text.ends_with(
        r#""written":"as_it_was","effect":{"effect":"from","origin":{"kind":"env","name":"DACAPO_KEEP_AWAKE"}}}"#
    ), "{text}");
}

#[test]
fn nobody_is_set_to_work_who_is_unknown() {
    let case = case(&[]);
    let refused = case.set("agent", "gsecond word").unwrap_err();
    let shown = refused.shown(crate::messages::Messages::ENGLISH).to_string();
    assert!(shown.contains("unknown agent 'gsecond word'") && shown.contains("claude, codex"), "{shown}");
    assert!(shown.contains("agents.\"gsecond word\".command = [\"…\"]"), "{shown}");
    assert!(!case.file.exists(), "nothing was written");
    assert!(case.set("agent", "claude,nobody").is_err());
    case.write("[agents.mine]\ncommand = [\"mine\"]\n");
    for known in ["mine", "claude,mine", "rehearsal:some.yaml", "native"] {
        case.set("agent", known).unwrap();
    }
}
