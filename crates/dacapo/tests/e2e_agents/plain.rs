//! A real agent as a mere command (A1): what Dacapo knows nothing of can do its work too.

use crate::agents::{CLAUDE, Retries};
use crate::model_server::CallKind;
use crate::rig::Rig;
use crate::running::Running;
use crate::scripts::writer;
use crate::work::counts;

#[test]
fn a1_an_agent_that_nobody_knows_is_a_command() {
    let (rig, server) = Rig::start(&CLAUDE, Retries::AsShipped, |repo| writer(&CLAUDE, repo));
    rig.configure("[agents.plain]\ncommand = [\"claude\", \"-p\", \"--dangerously-skip-permissions\"]\n");
    let ran = Running::start(rig.command_of("plain", &["Add a file."])).finish().expect(0);
    assert_eq!(counts(&ran.result()), [1, 1, 0]);
    assert_eq!(rig.world.read("file-0.txt"), "text 0\n", "{}", rig.last_words());
    assert!(rig.world.git(&["log", "-1", "--format=%B"]).contains("Added file-0.txt"), "its closing words");
    assert_eq!(server.calls(CallKind::Main).len(), 2);
    rig.world.assert_nothing_left("t");
}
