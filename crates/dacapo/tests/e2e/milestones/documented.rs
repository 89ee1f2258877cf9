//! What programs read of a milestone is as docs/json.md says.

use super::*;
use crate::json_output::check_files;

#[test]
fn m8_a_milestone_is_documented_from_its_file_to_its_merge() {
    let stage = Stage::with("requires_human_review: true\n", "checks = [\"test -e F-1\"]");
    let rejected = "reject 'no second line' 'F-1 has one line'";
    stage.play(
        &["echo nothing", "build F-1", "build F-1", "build F-2", "complete"],
        &[rejected, "accept", "accept", "accept_all"],
    );
    let _ = stage.milestone("show", &["--json"]).expect(0);
    let _ = stage.milestone("start", &["--json"]).expect(4);
    for words in [
        &["milestone", "list"][..],
        &["milestone", "show", ID],
        &["status", ID],
        &["list"],
        &["logs", ID],
        &["attach", ID],
    ] {
        let _ = stage.run(&[words, &["--json"]].concat());
    }
    check_files(&stage.world);
    let _ = stage.milestone("approve", &["--json"]).expect(0);
    let _ = stage.world.run(&["milestone", "new", "three", "--json"]).expect(0);
    let _ = stage.world.run(&["milestone", "list", "--json"]).expect(0);
    let merged = stage.world.run(&["merge", ID, "--json"]).expect(0);
    assert!(merged.stdout.contains("\"result\":\"merged\""), "{}", merged.stdout);
    check_files(&stage.world);
}
