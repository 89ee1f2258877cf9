//! What needs the person's own terminal or editor: the operation says what to run, and the surface runs it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use dacapo_app::operations::terminal_plan::TerminalPlan;

use super::*;
use crate::terminal::Terminal;

/// A surface whose user has this program as shell and editor; it writes down where it was started, and with what.
fn with_program(world: &World) -> (Toy, PathBuf) {
    let (program, log) = (world.scratch("program"), world.scratch("log"));
    let script = format!("#!/bin/sh\necho \"$PWD $DACAPO_TASK $*\" > {}\n", log.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut toy = toy(world, App::act_elsewhere);
    toy.app.env = toy.app.env.with([("SHELL", &program), ("EDITOR", &program)]);
    (toy, log)
}

fn started(toy: &Toy) -> PathBuf {
    let request = TaskRequest {
        prompt: Some("x".into()),
        name: Some("t".into()),
        agent_cmd: Some("echo FIN-1".into()),
        until: Some("FIN-1".into()),
        checks: vec!["true".into()],
        ..TaskRequest::default()
    };
    toy.does(&Operation::Start { request });
    toy.watches("t");
    toy.app.files_of(Some("t")).unwrap()
}

fn planned(toy: &Toy, operation: &Operation) -> TerminalPlan {
    match toy.does(operation) {
        (OperationResult::ToRun { plan }, _) => plan,
        (other, _) => panic!("{other:?}"),
    }
}

#[test]
fn a_surface_opens_the_files_of_a_task_in_the_users_editor() {
    let world = project();
    let (toy, log) = with_program(&world);
    let place = started(&toy);
    let plan = planned(&toy, &Operation::Open { task: "t".into() });
    assert_eq!(plan.cwd, place);
    assert!(plan.command(&toy.app).status().unwrap().success());
    let place = place.display();
    assert_eq!(fs::read_to_string(log).unwrap(), format!("{place}  {place}\n"));
}

#[test]
fn a_surface_lets_a_person_take_a_task_over_at_their_terminal() {
    let world = project();
    let (toy, log) = with_program(&world);
    let place = started(&toy);
    let takeover = Operation::Takeover { task: "t".into(), no_resume: true };
    let plan = planned(&toy, &takeover);
    assert_eq!(
        (&plan.program, plan.arguments.as_slice()),
        (&None, &["takeover", "t", "--no-resume"].map(OsString::from)[..])
    );
    let (code, said) = Terminal::start(&plan.command(&toy.app)).end();
    assert_eq!(code, Some(0), "{said}");
    let seen = fs::read_to_string(log);
    assert_eq!(seen.ok(), Some(format!("{} t \n", place.display())), "{said}");
    // What stands in the way is said before the surface gives its terminal away.
    fs::remove_dir_all(&place).unwrap();
    let refused = (toy.act)(&toy.app, &takeover, &Answers::default());
    let Err(NotYet::Refused(failure)) = refused else { panic!("{refused:?}") };
    assert!(failure.message.english().contains("'t' has no worktree"), "{}", failure.message.english());
}

#[test]
fn a_surface_creates_the_files_of_a_repository() {
    let world = project();
    let toy = toy(&world, App::act_elsewhere);
    let init = Operation::Init { import: None };
    let (OperationResult::Initialized { files }, 0) = toy.does(&init) else { panic!("no files") };
    assert_eq!(files.top, world.repo());
    assert!(files.made.iter().all(|path| world.repo().join(path).exists()), "{files:?}");
    let (OperationResult::Initialized { files: again }, 0) = toy.does(&init) else { panic!("no files") };
    assert_eq!((again.made.len(), again.there), (0, files.made), "nothing is overwritten");
}
