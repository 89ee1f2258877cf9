//! `dacapo config edit`, `set` and `unset` (U5).

use std::fs;

use crate::support::{Ran, World};

fn edit(world: &World, words: &[&str], editor: &str) -> Ran {
    Ran::from(world.command(words).env("EDITOR", editor).env_remove("VISUAL").output().unwrap())
}

#[test]
fn u5_a_new_file_is_a_sample_and_what_was_written_is_checked_and_kept() {
    let world = World::new();
    let file = world.home().join(".config/dacapo/config.toml");
    let _ = fs::remove_file(&file);
    let ran = edit(&world, &["config", "edit"], "true").expect(0);
    assert!(ran.stdout.contains("is valid"), "{ran:?}");
    let sample = fs::read_to_string(&file).unwrap();
    assert!(sample.starts_with("# Your settings of Dacapo, for all projects"), "{sample}");
    assert!(sample.contains("\n#keep_awake = true\n"), "{sample}");

    let ran = edit(&world, &["config", "edit"], "sh -c 'echo keep_awake = 3 >> \"$0\"'").expect(2);
    let line = fs::read_to_string(&file).unwrap().lines().count();
    assert!(ran.stderr.contains(&format!("config.toml:{line}:")), "{}", ran.stderr);
    assert!(ran.stderr.contains("kept: what you wrote, in "), "{}", ran.stderr);
    assert!(fs::read_to_string(&file).unwrap().ends_with("keep_awake = 3\n"), "it is kept");
    // A file that is wrong can be opened again.
    let ran = edit(&world, &["config", "edit"], "sed -i s/=.3/=.false/").expect(2);
    assert!(ran.stderr.contains("do:   dacapo config edit opens it again"), "{}", ran.stderr);
    let ran = edit(&world, &["config", "edit"], "sed -i '$d'").expect(0);
    assert!(ran.stdout.contains("is valid"), "{ran:?}");
    let ran = edit(&world, &["config", "edit"], "false").expect(1);
    assert!(ran.stderr.contains("`false` failed"), "{}", ran.stderr);
}

#[test]
fn u5_what_one_writes_into_the_projects_file_is_trusted() {
    let world = World::new();
    let add = "sh -c 'echo \"checks = [\\\"test -e done\\\"]\" > \"$0\"'";
    let ran = edit(&world, &["config", "edit", "--project"], add).expect(0);
    assert!(ran.stdout.contains("is valid"), "{ran:?}");
    assert_eq!(world.read(".dacapo/config.toml"), "checks = [\"test -e done\"]\n");
    let agent = "touch done";
    let ran = world.exec(&["--worktree", "--checks", "--agent-cmd", agent, "go"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);

    // What came with the repository is not, whoever adds to it.
    world.write(".dacapo/config.toml", "checks = [\"test -e other\"]\n");
    let ran = edit(&world, &["config", "edit", "--project"], "true").expect(0);
    assert!(ran.stdout.contains("no effect until you trust it: dacapo trust"), "{ran:?}");
    let _ = world.exec(&["--worktree", "--checks", "--agent-cmd", agent, "go"]).expect(2);
}

#[test]
fn u5_one_setting_is_set_and_taken_out_again() {
    let world = World::new();
    let file = world.home().join(".config/dacapo/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# mine\nlanguage = \"en\" # for now\n").unwrap();
    let ran = world.run(&["config", "set", "spawn_task.max_concurrent", "2"]).expect(0);
    assert_eq!(ran.stdout, "spawn_task.max_concurrent is set in ~/.config/dacapo/config.toml\n");
    let written = "# mine\nlanguage = \"en\" # for now\n\n[spawn_task]\nmax_concurrent = 2\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    let ran = world.run(&["config", "set", "spawn_task.max_concurent", "3"]).expect(2);
    assert!(ran.stderr.contains("did you mean 'spawn_task.max_concurrent'?"), "{}", ran.stderr);
    assert!(ran.stderr.contains("kept: everything; nothing was changed"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    let ran = world.run(&["config", "unset", "language"]).expect(0);
    assert_eq!(ran.stdout, "language is no longer set in ~/.config/dacapo/config.toml\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n\n[spawn_task]\nmax_concurrent = 2\n");
    let ran = world.run(&["config", "unset", "language"]).expect(0);
    assert_eq!(ran.stdout, "language was not set in ~/.config/dacapo/config.toml\n");
}

#[test]
fn u5_what_one_sets_in_the_projects_file_is_trusted_and_what_came_with_it_is_not() {
    let world = World::new();
    let set = ["config", "set", "--project", "checks", "test -e done"];
    let _ = world.run(&set).expect(0);
    assert_eq!(world.read(".dacapo/config.toml"), "checks = [\"test -e done\"]\n");
    let ran = world.exec(&["--worktree", "--checks", "--agent-cmd", "touch done", "go"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);

    world.write(".dacapo/config.toml", "editor = \"evil\"\n");
    let ran = world.run(&set).expect(0);
    assert!(ran.stdout.contains("no effect until you trust it: dacapo trust"), "{ran:?}");
    let shown = world.run(&["config", "show"]).expect(0).stdout;
    let untrusted = shown.lines().filter(|line| line.contains("not trusted: no effect")).count();
    assert_eq!(untrusted, 2, "{shown}");
}
