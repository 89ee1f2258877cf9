//! Conversations that no recording has: what is asked, answered, replayed and taken up.

use super::*;

const INITIALIZED: &str =
    r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
const ALLOW: &str =
    r#"[{"optionId":"a","name":"A","kind":"allow_once"},{"optionId":"r","name":"R","kind":"reject_once"}]"#;

fn text(session: &str, text: &str) -> String {
    let update =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    json!({ "method": "session/update", "params": { "sessionId": session, "update": update } }).to_string()
}

fn request(id: &str, kind: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"session/request_permission","params":{{"toolCall":{{"toolCallId":"t{kind}","kind":"{kind}","title":"x"}},"options":{ALLOW}}}}}"#
    )
}

fn player(approval: Approval) -> Player {
    let mut player = Player::new(assignment(0, "go", None, approval), None);
    player.hears(INITIALIZED);
    player.hears(r#"{"id":2,"result":{"sessionId":"s"}}"#);
    player
}

#[test]
fn l7_the_history_ends_with_the_answer_to_the_mode_even_when_it_comes_late() {
    let mut player = Player::new(assignment(0, "go", Some("s"), Approval::Auto), None);
    player.hears(INITIALIZED);
    player.hears(&text("s", "DONE, said long ago"));
    // The player sets the mode and answers for the agent; what stands between is history all the same.
    let modes = r#"{"currentModeId":"default","availableModes":[{"id":"default"},{"id":"yolo"}]}"#;
    player.hears(&format!(r#"{{"id":4,"result":{{"modes":{modes}}}}}"#));
    player.hears(&text("s", "now"));
    assert_eq!(player.turn.methods(), ["initialize", "session/load", "session/set_mode", "session/prompt"]);
    assert_eq!(player.turn.lines(), ["session s", "text \"now\""]);
}

#[test]
fn l7_what_helpers_of_the_agent_say_is_not_what_it_says() {
    let mut player = player(Approval::Auto);
    player.hears(&text("helper", "DONE"));
    player.hears(&text("s", "not yet"));
    assert_eq!(player.turn.lines(), ["session s", "text \"not yet\""]);
}

#[test]
fn a8_questions_are_put_one_at_a_time_and_taken_back_with_the_turn() {
    let mut player = player(Approval::Ask);
    for (id, kind) in [("\"a\"", "edit"), ("7", "execute"), ("null", "read")] {
        player.hears(&request(id, kind));
    }
    // An id that is null is none: nobody could be answered.
    assert_eq!(player.turn.questions.len(), 1);
    assert_eq!(player.turn.questions[0].what, "change x");
    let (moves, refused) = player.client.answered(99, Some(0));
    assert_eq!((moves, refused), (vec![], None), "an answer to another question");
    let (moves, refused) = player.client.answered(1, Some(1));
    assert_eq!(refused.as_deref(), Some("edit x"));
    player.act(moves);
    assert_eq!(player.turn.questions.len(), 2);
    let moves = player.client.cancel().unwrap();
    player.act(moves);
    assert_eq!(
        player.turn.methods()[3..],
        ["answer r", "session/cancel", "answer cancelled"],
        "what was open is closed"
    );
    assert!(!player.client.awaits_a_person());
    player.hears(&request("8", "edit"));
    assert_eq!(player.turn.methods().last().map(String::as_str), Some("answer cancelled"));
}

#[test]
fn nothing_is_cancelled_before_it_began() {
    let mut early = Player::new(assignment(0, "go", None, Approval::Auto), None);
    early.hears(INITIALIZED);
    assert_eq!(early.client.cancel(), None);
    early.hears(r#"{"id":2,"result":{"sessionId":"s"}}"#);
    assert_eq!(early.turn.methods(), ["initialize", "session/new"], "and nothing is begun afterwards");
}

#[test]
fn what_is_not_offered_is_declined_with_the_agents_own_id() {
    let mut player = player(Approval::Auto);
    player.hears(r#"{"id":"x-1","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}"#);
    player.hears(r#"{"id":-5,"method":"terminal/create"}"#);
    player.hears(r#"{"method":"_some/notification","params":[]}"#);
    let answers: Vec<(&Value, &Value)> =
        player.turn.said[3..].iter().map(|said| (&said["id"], &said["error"]["code"])).collect();
    assert_eq!(answers, [(&json!("x-1"), &json!(-32601)), (&json!(-5), &json!(-32601))]);
}

#[test]
fn a8_without_an_option_that_fits_nothing_is_allowed() {
    let mut player = player(Approval::Auto);
    player.hears(r#"{"id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"t"},"options":[{"optionId":"?","kind":"new"}]}}"#);
    assert_eq!(player.turn.said.last().unwrap()["error"]["code"], -32602);
    assert_eq!(player.turn.lines().last().map(String::as_str), Some("refused tool"));
}

#[test]
fn a_turn_that_is_over_says_nothing_more() {
    let mut player = player(Approval::Auto);
    player.hears(r#"{"id":6,"result":{"stopReason":"end_turn"}}"#);
    player.hears(&text("s", "DONE"));
    player.hears(r#"{"id":6,"error":{"code":1,"message":"late"}}"#);
    assert_eq!(player.turn.lines(), ["session s", "end end_turn"]);
    assert!(player.parser.is_over());
}

#[test]
fn r3_bytes_that_are_no_text_leave_nobody_waiting() {
    let mut parser = parser(OutputFormat::Acp, ParserSetting::default());
    let (before, after) =
        request("1", "edit").split_once("\"title\":\"x").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let line = [before.as_bytes(), b"\"title\":\"\xff\xfe", after.as_bytes(), b"\n"].concat();
    let mut heard = Vec::new();
    parser.hear(&line, &mut |one| heard.push(one));
    assert!(matches!(heard.last(), Some(AcpItem::Message(AcpMessage::Permission(_)))), "{heard:?}");
}

#[test]
fn a_session_without_an_id_is_none() {
    let mut player = Player::new(assignment(0, "go", None, Approval::Auto), None);
    player.hears(INITIALIZED);
    player.hears(r#"{"id":2,"result":{}}"#);
    assert!(matches!(player.turn.end(), TurnEnd::Failed { failure: FailureKind::Permanent, .. }));
    assert_eq!(player.turn.methods(), ["initialize", "session/new"]);
}

#[test]
fn what_a_later_turn_must_know_survives_being_written_down() {
    let memory = play("copilot-session", Approval::Auto)[1].memory.clone().unwrap();
    let json = serde_json::to_string(&memory).unwrap();
    assert_eq!(serde_json::from_str::<Memory>(&json).unwrap(), memory);
    assert_eq!(serde_json::from_str::<Memory>("{}").unwrap(), Memory::default(), "an older one");
    assert!(json.contains("\"process\"") && json.contains(r#""login":{"agent":"copilot"}"#), "{json}");
}
