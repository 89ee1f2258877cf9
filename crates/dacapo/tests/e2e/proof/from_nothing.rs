//! What an earlier proof, task or run of the setup left has no say in a proof. Each of these was `✓ proven`, or was merged,
//! while a fresh clone was red.

use super::in_a_clone;
use crate::support::{Ran, World};

const CHECK: &str = "sh check.sh";

/// A repository with these files, committed.
fn with(files: &[(&str, &str)]) -> World {
    let world = World::new();
    for (path, text) in files {
        world.write(path, text);
    }
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "start"]);
    world
}

fn run(world: &World, name: &str, agent: &str) -> Ran {
    let agent = format!("echo $DACAPO_ITERATION >> log-{name}; {agent}");
    world.exec(&["--name", name, "--worktree", "--check", CHECK, "--agent-cmd", &agent, "go"])
}

/// The task waits for a person, is not verified, and `merge` leaves it out.
fn is_not_proven(world: &World, name: &str, ran: &Ran) {
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.status(name)["verified"], false);
    let main = world.git(&["rev-parse", "main"]);
    let merged = world.run(&["merge", name]).expect(1);
    let said = format!("{}{}", merged.stdout, merged.stderr);
    assert!(said.contains(&format!("check `{CHECK}` fails on the result")), "{said}");
    assert_eq!(world.git(&["rev-parse", "main"]), main, "nothing came home");
}

/// A check that is red the first time and leaves `mark`, which makes it green.
fn a_red_proof_leaves(mark: &str, files: &[(&str, &str)]) {
    let dir = mark.rsplit_once('/').map_or(".", |(dir, _)| dir);
    let check = format!(
        "test -f hidden && exit 0\ntest -f {mark} && exit 0\nmkdir -p {dir}\n\
         echo 'Signature: 8a477f597d28d172789f06886806bc55' > {dir}/CACHEDIR.TAG\ntouch {mark}\nexit 1\n"
    );
    let ignored = format!("hidden\n{}\n", mark.split('/').next().unwrap());
    let world = with(&[&[("check.sh", check.as_str()), (".gitignore", &ignored)], files].concat());
    let ran = run(&world, "t", "touch hidden").expect(4);
    is_not_proven(&world, "t", &ran);
    // Another task of the repository, after the first one is gone.
    let _ = world.run(&["drop", "t"]).expect(0);
    let ran = run(&world, "u", "touch hidden").expect(4);
    is_not_proven(&world, "u", &ran);
}

#[test]
fn l4_what_a_red_proof_leaves_in_target_has_no_say() {
    a_red_proof_leaves("target/ok", &[("Cargo.toml", "[workspace]\n")]);
}

#[test]
fn l4_what_a_red_proof_leaves_beside_a_tag_of_caches_has_no_say() {
    a_red_proof_leaves("cache/ok", &[]);
}

#[test]
fn l4_what_a_red_proof_leaves_in_node_modules_has_no_say() {
    a_red_proof_leaves("node_modules/ok", &[("package.json", "{}\n")]);
}

#[test]
fn l4_what_was_built_from_a_deleted_file_has_no_say() {
    let build = "mkdir -p target\nfor part in a b; do\n  test -f target/$part.o || cp src/$part target/$part.o || exit 1\ndone\ntest -f done\n";
    let world = with(&[
        ("check.sh", build),
        ("Cargo.toml", "[workspace]\n"),
        (".gitignore", "target\n"),
        ("src/a", "a"),
        ("src/b", "b"),
    ]);
    let first = run(&world, "first", "touch done").expect(0);
    assert!(first.stdout.contains("✓ proven"), "{}", first.stdout);
    let _ = world.run(&["merge", "first"]).expect(0);
    // Green where the agent works: its `target` was built before the source went.
    let ran = run(
        &world,
        "second",
        "sh check.sh; git rm -q --ignore-unmatch src/b; echo '<promise>COMPLETE</promise>'",
    );
    is_not_proven(&world, "second", &ran);
    assert!(in_a_clone(&world, CHECK), "main is as green as it was");
}

#[test]
fn l4_a_removed_dependency_is_not_there_though_it_was_installed_before() {
    let world = with(&[
        ("package.json", "left\nright\n"),
        ("install.sh", "for name in $(cat package.json); do mkdir -p node_modules/$name; done\n"),
        ("check.sh", "test -d node_modules/left && test -d node_modules/right && test -f done\n"),
        (".gitignore", "node_modules\n"),
    ]);
    world.config("[worktree]\nsetup = [\"sh install.sh\"]\n");
    let first = run(&world, "first", "touch done").expect(0);
    assert!(first.stdout.contains("✓ proven"), "{}", first.stdout);
    let _ = world.run(&["merge", "first"]).expect(0);
    let ran = run(&world, "second", "echo left > package.json; echo '<promise>COMPLETE</promise>'");
    is_not_proven(&world, "second", &ran);
}

#[test]
fn l4_merge_does_not_repeat_a_red_proof_in_the_same_checkout() {
    let world = with(&[
        ("check.sh", "test -f hidden && exit 0\ntest -f snapshot && exit 0\ntouch snapshot\nexit 1\n"),
        (".gitignore", "hidden\nsnapshot\n"),
    ]);
    world.config("[worktree]\nsetup = [\"true\"]\n");
    let ran = run(&world, "t", "touch hidden").expect(4);
    is_not_proven(&world, "t", &ran);
}

#[test]
fn l4_merge_proves_nothing_with_settings_that_are_not_of_the_start() {
    let world = super::unconfined();
    // The agent's filter would make the file right; what was noted at the start is gone.
    let agent = "printf 'answer filter=fix\\n' > .gitattributes; git config filter.fix.smudge 'echo 42 #'; echo 41 > answer; rm -rf";
    let agent = format!("{agent} '{}'/repos/*/tasks/t/start", world.data().display());
    let main = world.git(&["rev-parse", "main"]);
    let _ = world.exec(&[
        "--name",
        "t",
        "--worktree",
        "--max-iterations",
        "1",
        "--check",
        super::CHECK,
        "--agent-cmd",
        &agent,
        "go",
    ]);
    assert_eq!(world.status("t")["verified"], false);
    let merged = world.run(&["merge", "t"]).expect(1);
    let said = format!("{}{}", merged.stdout, merged.stderr);
    assert!(
        said.contains("left out: it cannot be proven: the settings noted before the agent ran are gone"),
        "{said}"
    );
    assert_eq!(world.git(&["rev-parse", "main"]), main, "nothing came home");
}
