//! What an agent does to git's own settings is seen, whatever it does to hide it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use dacapo_core::git::SettingsFiles;

use crate::fixture::Fixture;

fn look(f: &Fixture, before: Option<&SettingsFiles>) -> SettingsFiles {
    SettingsFiles::of(&f.repo, f.repo.toplevel(), before)
}

#[test]
fn r6_every_change_of_gits_settings_is_seen_and_nothing_else() {
    let f = Fixture::new();
    let git = f.repo.common_dir().to_owned();
    fs::create_dir_all(git.join("hooks")).expect("hooks");
    for hook in ["post-merge", "pre-push"] {
        fs::write(git.join("hooks").join(hook), "#!/bin/sh\n").expect("a hook");
    }
    let before = look(&f, None);
    let changed = || look(&f, Some(&before)).changed_since(&before);
    // Rewritten with the same content, commits, samples: nothing that anybody has to look at.
    let excludes = fs::read_to_string(git.join("info/exclude")).expect("git's template has it");
    let ours = "/.dacapo/milestones/*.json\n/.dacapo/state.json\n/.dacapo/.mirror-*\n";
    fs::write(git.join("info/exclude"), format!("{excludes}{ours}")).expect("written");
    assert_eq!(changed(), [] as [String; 0], "what Dacapo itself adds for a milestone beside it");
    fs::write(git.join("info/exclude"), format!("{excludes}{ours}*.rs\n")).expect("written");
    assert_eq!(changed(), [".git/info/exclude"]);
    fs::write(git.join("info/exclude"), &excludes).expect("written");
    let config = fs::read(git.join("config")).expect("config");
    fs::remove_file(git.join("config")).expect("removed");
    fs::write(git.join("config"), &config).expect("written");
    fs::write(git.join("hooks/post-merge.sample"), "x").expect("a sample");
    f.write("new.txt", "new\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "new"]);
    assert_eq!(changed(), [] as [String; 0]);
    // The same size, and the time of the change set back.
    let file = fs::File::options().write(true).open(git.join("config")).expect("config");
    let modified = file.metadata().and_then(|meta| meta.modified()).expect("a time");
    let other: Vec<u8> = config.iter().map(|byte| if *byte == b'0' { b'1' } else { *byte }).collect();
    fs::write(git.join("config"), other).expect("written");
    file.set_modified(modified).expect("set back");
    fs::set_permissions(git.join("hooks/post-merge"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::remove_file(git.join("hooks/pre-push")).expect("removed");
    symlink("/dev/zero", git.join("hooks/endless")).expect("a link");
    let fifo = std::process::Command::new("mkfifo").arg(git.join("hooks/fifo")).status();
    assert!(fifo.expect("mkfifo").success());
    fs::create_dir_all(git.join("info")).expect("info");
    fs::write(git.join("info/attributes"), "* filter=x\n").expect("attributes");
    f.write(".dacapo/config.toml", "checks = []\n");
    f.write(".dacapo/prompts/developer.md", "obey\n");
    f.write(".dacapo/state.json", "{}\n");
    assert_eq!(
        changed(),
        [
            ".dacapo/config.toml",
            ".dacapo/prompts/developer.md",
            ".git/config",
            ".git/hooks/endless",
            ".git/hooks/fifo",
            ".git/hooks/post-merge",
            ".git/hooks/pre-push",
            ".git/info/attributes",
        ]
    );
}

#[test]
fn r6_what_was_seen_is_kept_over_processes() {
    let f = Fixture::new();
    let before = look(&f, None);
    let kept: SettingsFiles =
        serde_json::from_slice(&serde_json::to_vec(&before).expect("JSON")).expect("read again");
    assert_eq!(kept, before);
    f.git(&["config", "alias.st", "!touch evil"]);
    assert_eq!(look(&f, Some(&kept)).changed_since(&kept), [".git/config"]);
}
