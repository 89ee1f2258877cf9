//! `dacapo open`: which editor, with which words, on which files.

use std::fs;

use crate::support::{Ran, World};

/// An editor that writes down how it was called.
fn editor(world: &World) -> String {
    let called = world.scratch("called");
    let text = format!(
        "#!/bin/sh\npwd > {0}\nfor word; do printf '%s\\n' \"$word\"; done >> {0}\n",
        called.display()
    );
    world.program("my-editor", &text);
    "my-editor --wait 'two words'".to_owned()
}

fn called(world: &World) -> String {
    fs::read_to_string(world.scratch("called")).unwrap()
}

#[test]
fn s2_a_task_is_opened_where_it_works() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--worktree", "--agent-cmd", "echo x > x", "go"]).expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    assert_eq!(world.run(&["open", "--print"]).expect(0).stdout, format!("{worktree}\n"));
    let editor = editor(&world);
    let mut command = world.command(&["open", "t"]);
    let _ = Ran::from(command.env("EDITOR", &editor).output().unwrap()).expect(0);
    let expected = format!("{worktree}\n--wait\ntwo words\n{worktree}\n");
    assert_eq!(called(&world), expected);
    // The setting wins over both variables, and its exit code is ours.
    world.config("editor = 'my-editor set; exit 3 #'\n");
    let mut command = world.command(&["open", "t"]);
    let _ = Ran::from(command.env("EDITOR", "false").env("VISUAL", "false").output().unwrap()).expect(3);
    assert_eq!(called(&world), format!("{worktree}\nset\n"));
    fs::remove_dir_all(&worktree).unwrap();
    world.run(&["open", "t"]).expect(2).says("no longer exist").says("git switch dacapo/t");
}

#[test]
fn s2_a_task_in_the_checkout_is_opened_there() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--agent-cmd", "echo x > x", "go"]).expect(0);
    let top = world.git(&["rev-parse", "--show-toplevel"]);
    assert_eq!(world.run(&["open", "t", "--print"]).expect(0).stdout, format!("{top}\n"));
    let mut command = world.command(&["open", "t"]);
    world.hide_other_programs(&mut command);
    let ran = Ran::from(command.output().unwrap()).expect(2);
    ran.says("no editor is set, and none was found").says("export EDITOR=").says("--print");
    // One with a window is found by itself.
    let text = format!("#!/bin/sh\necho \"$1\" > {}\n", world.scratch("called").display());
    world.program("zed", &text);
    let mut command = world.command(&["open", "t"]);
    world.hide_other_programs(&mut command);
    let _ = Ran::from(command.output().unwrap()).expect(0);
    assert_eq!(called(&world), format!("{top}\n"));
}
