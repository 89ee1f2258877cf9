//! `dacapo man` (U5).

use std::fs;

use crate::bad_input::refused;
use crate::support::World;

#[test]
fn u5_every_command_has_a_manual_page() {
    let world = World::new();
    let ran = world.run(&["man"]).expect(0);
    assert!(ran.stdout.contains(".TH dacapo 1"), "{}", ran.stdout);
    let ran = world.run(&["man", "spawn"]).expect(0);
    assert!(ran.stdout.contains(".TH dacapo-spawn 1") && ran.stdout.contains("max\\-cost"), "{}", ran.stdout);
    assert!(ran.stdout.contains("context\\-max\\-tokens"), "also what only --help=all shows");
    let ran = world.run(&["man", "ms", "start"]).expect(2);
    assert!(ran.stderr.contains("there is no command 'ms start'"), "{}", ran.stderr);
    let _ = world.run(&["man", "milestone", "start"]).expect(0);
    assert_eq!(world.run(&["man", "ps"]).expect(0).stdout, world.run(&["man", "list"]).expect(0).stdout);
    refused(&world, &["man", "spwan"], "dacapo man spawn");
    let dir = world.scratch("man1");
    let _ = world.run(&["man", "--out", dir.to_str().unwrap()]).expect(0);
    let mut pages: Vec<String> =
        fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    for page in ["dacapo.1", "dacapo-list.1", "dacapo-milestone-start.1", "dacapo-config-edit.1"] {
        assert!(pages.contains(&page.to_owned()), "{page} in {pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("__prompt") || page.contains("help")), "{pages:?}");
}
