//! Every real agent as a mere command (A1): what Dacapo knows nothing of can do its work too.

use crate::agents::{Agent, CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, QWEN, Retries};
use crate::model_server::CallKind;
use crate::rig::Rig;
use crate::running::Running;
use crate::scripts::writer;
use crate::work::counts;

fn works_as_a_plain_command(agent: &'static Agent) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    rig.configure(&format!("[agents.plain]\ncommand = {:?}\n", agent.plain));
    let ran = Running::start(rig.command_of("plain", &["Add a file."])).finish().expect(0);
    assert_eq!(counts(&ran.result()), [1, 1, 0]);
    assert_eq!(rig.world.read("file-0.txt"), "text 0\n", "{}", rig.last_words());
    assert!(rig.world.git(&["log", "-1", "--format=%B"]).contains("Added file-0.txt"), "its closing words");
    assert_eq!(server.calls(CallKind::Main).len(), 2);
    assert_eq!(server.unknown(), Vec::<String>::new());
    rig.world.assert_nothing_left("t");
}

#[test]
fn a1_claude() {
    works_as_a_plain_command(&CLAUDE);
}

#[test]
fn a1_codex() {
    works_as_a_plain_command(&CODEX);
}

#[test]
fn a1_copilot() {
    works_as_a_plain_command(&COPILOT);
}

#[test]
fn a1_gemini() {
    works_as_a_plain_command(&GEMINI);
}

#[test]
fn a1_opencode() {
    works_as_a_plain_command(&OPENCODE);
}

#[test]
fn a1_qwen() {
    works_as_a_plain_command(&QWEN);
}
