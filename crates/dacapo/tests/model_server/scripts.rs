//! Which answer is given to what, and what is charged for it.

use serde_json::json;

use crate::client::{ask, prompt};
use crate::model_server::{
    Answer, Call, CallKind, Failure, ModelServer, Reply, ToolUse, Usage, Wire, in_order, script_file,
};

#[test]
fn side_calls_are_answered_and_counted_apart() {
    let server = ModelServer::start(in_order(vec![
        Reply::say("first").used(Usage { input: 10, output: 1, cached: 0 }).into(),
        Reply::say("later").used(Usage { input: 20, output: 2, cached: 5 }).into(),
    ]));
    let mut title = prompt(Wire::Chat);
    title.as_object_mut().unwrap().remove("tools");
    let said =
        |body| ask(&server, Wire::Chat, false, body).json()["choices"][0]["message"]["content"].clone();
    let main = prompt(Wire::Chat);
    let answers = [said(&title), said(&main), said(&title), said(&main), said(&main)];
    assert_eq!(answers, ["ok", "first", "ok", "later", "later"]);
    assert_eq!(server.usage(CallKind::Main), Usage { input: 50, output: 5, cached: 10 });
    let side = server.usage(CallKind::Side);
    let all = server.usage_of_all();
    assert!(side.input > 0 && all.input == 50 + side.input, "{side:?} {all:?}");
    assert_eq!(server.calls(CallKind::Side).len(), 2);
}

#[test]
fn without_a_word_about_it_every_call_is_charged_otherwise() {
    let server = ModelServer::start_for_all(|_: &Call| Reply::say("x").into());
    for _ in 0..3 {
        assert_eq!(ask(&server, Wire::Gemini, true, &prompt(Wire::Gemini)).status, 200);
    }
    let mut charged: Vec<Usage> = server.requests().iter().map(|one| one.usage.unwrap()).collect();
    let sum: Usage = charged.iter().copied().sum();
    assert_eq!(server.usage_of_all(), sum);
    charged.dedup();
    assert_eq!(charged.len(), 3);
}

#[test]
fn a_script_can_be_a_file() {
    let answers = script_file::read(
        "- call: write\n  with: { path: a }\n- say: done\n  usage: { input: 5, output: 2 }\n\
         - fail: limited\n  resets_in: 3\n- fail: hang\n- fail: status\n  status: 503\n",
    );
    let tool = ToolUse::new("write", json!({ "path": "a" }));
    let expected: Vec<Answer> = vec![
        Reply { text: String::new(), calls: vec![tool], usage: None }.into(),
        Reply::say("done").used(Usage { input: 5, output: 2, cached: 0 }).into(),
        Failure::limited(Some(3)).into(),
        Failure::Hang.into(),
        Failure::status(503).into(),
    ];
    assert_eq!(answers.unwrap(), expected);
    assert!(script_file::read("[]").unwrap_err().contains("an answer at least"));
    assert!(script_file::read("- with: { a: 1 }\n").unwrap_err().contains("answer 1"));
    assert!(script_file::read("- sing: loud\n").is_err());
}
