//! What endpoints answer when they do not answer: what is waited for, tried again, given up, and what a person is told.

use dacapo_core::event::{AgentEvent, FailureKind};
use serde_json::json;

use super::desk::{APIS, Desk};
use crate::model_server::{
    Answer, Call, CallKind, ClosedPort, Failure, ModelServer, Reply, Said, ToolUse, in_order,
};

fn failing(failure: Failure) -> ModelServer {
    ModelServer::start_for_all(move |_: &Call| failure.into())
}

fn step() -> Answer {
    Reply::call(ToolUse::new("shell", json!({"command": "echo x >> log"}))).into()
}

#[test]
fn l8_a_refused_key_stops_at_once_and_names_the_variable() {
    for api in APIS {
        for arguments in [&[][..], &["--complete"]] {
            let server = failing(Failure::UNAUTHORIZED);
            let told = Desk::new(api, &server.url()).turn("x", arguments);
            let message = told.failed(FailureKind::Permanent);
            assert!(
                message.contains("401") && message.contains("the key in MY_KEY was refused"),
                "{message}"
            );
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[test]
fn l8_a_key_that_is_not_set_is_not_tried() {
    let server = failing(Failure::UNAUTHORIZED);
    let desk = Desk::new("openai", &server.url());
    let mut command = desk.command(&[]);
    command.env_remove("MY_KEY");
    let told = super::desk::tell(command, b"x");
    assert!(told.failed(FailureKind::Permanent).contains("MY_KEY is not set"), "{told:?}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn l8_who_cannot_pay_is_told_so() {
    for api in APIS {
        let server = failing(Failure::status(402));
        let told = Desk::new(api, &server.url()).turn("x", &[]);
        assert!(told.failed(FailureKind::Permanent).contains("billing"), "{told:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn l9_a_limit_is_told_with_its_end() {
    let limits = [Failure::limited, Failure::plan_limited];
    for api in APIS {
        for (limit, seconds) in limits.into_iter().flat_map(|limit| [(limit, Some(300)), (limit, None)]) {
            let server = failing(limit(seconds));
            let before = jiff::Timestamp::now();
            let told = Desk::new(api, &server.url()).turn("x", &[]);
            assert_eq!((told.code, told.stderr.as_str()), (Some(1), ""), "{told:?}");
            let Some(AgentEvent::Limit { message, resets_at }) = told.events.last() else {
                panic!("{told:?}")
            };
            assert!(message.contains("429"), "{message}");
            let left = resets_at.map(|at| at.duration_since(before).as_secs());
            match seconds {
                None => assert_eq!(left, None),
                Some(_) => assert!(left.is_some_and(|left| (299..400).contains(&left)), "{left:?}"),
            }
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[test]
fn l9_a_short_limit_in_the_midst_of_work_is_waited_for() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![
            step(),
            Failure::limited(Some(1)).into(),
            Reply::say("ok").into(),
        ]));
        let desk = Desk::new(api, &server.url());
        let told = desk.turn("x", &[]).ended("end_turn");
        assert_eq!(told.retries(), [Some(429)]);
        assert_eq!(desk.world.read("log"), "x\n", "what was done is not done again");
    }
    let server = ModelServer::start(in_order(vec![step(), Failure::limited(Some(3600)).into()]));
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(matches!(told.events.last(), Some(AgentEvent::Limit { .. })), "{told:?}");
}

#[test]
fn l8_a_server_that_stumbles_is_asked_again() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![
            Failure::status(500).into(),
            step(),
            Failure::status(529).into(),
            Failure::status(503).into(),
            Reply::say("ok").into(),
        ]));
        let desk = Desk::new(api, &server.url());
        let told = desk.turn("x", &[]).ended("end_turn");
        assert_eq!(told.retries(), [Some(500), Some(529), Some(503)]);
        assert_eq!(desk.world.read("log"), "x\n");
        let charged = server.usage(CallKind::Main);
        assert_eq!((told.usage().input, told.usage().output), (charged.input, charged.output));
    }
}

#[test]
fn l8_a_server_that_is_down_is_given_up() {
    for api in APIS {
        let server = failing(Failure::status(500));
        let told = Desk::new(api, &server.url()).turn("x", &[]);
        assert!(told.failed(FailureKind::Transient).contains("answered 500"), "{told:?}");
        assert_eq!((server.requests().len(), told.retries().len()), (5, 4));
    }
}

#[test]
fn l8_a_server_that_is_not_there_is_given_up() {
    let nobody = ClosedPort::take();
    for api in APIS {
        let told = Desk::new(api, &nobody.url()).turn("x", &[]);
        assert!(told.failed(FailureKind::Transient).contains("cannot be reached: "), "{told:?}");
        assert_eq!(told.retries().len(), 4);
    }
}

#[test]
fn l12_a_server_that_says_nothing_is_given_up() {
    for api in APIS {
        for failure in [Failure::Hang, Failure::HangInStream] {
            let server = failing(failure);
            let told = Desk::new(api, &server.url()).turn("x", &["--silence-ms", "300"]);
            assert!(told.failed(FailureKind::Transient).contains("said nothing for"), "{told:?}");
            // The client may have given up before the server came to read what it was asked.
            assert!(server.wait(crate::support::PATIENCE, |all| !all.is_empty()));
            assert_eq!(server.requests().len(), 1, "it is not asked again at once");
        }
    }
}

#[test]
fn l8_an_answer_that_breaks_off_is_gone_on_with() {
    for api in APIS {
        let server = ModelServer::start_for_all(|call: &Call| match call.number {
            0 => Failure::Cut.into(),
            _ => Reply::say("And that was it.").into(),
        });
        let told = Desk::new(api, &server.url()).turn("Tell me", &[]).ended("end_turn");
        assert_eq!(told.retries(), [None]);
        let calls = server.calls(CallKind::Main);
        let heard = &calls[1].said[1..];
        match heard {
            [Said::User(prompt)] => assert_eq!(prompt, "Tell me", "nothing had been said yet"),
            [Said::User(prompt), Said::Model(said), Said::User(note)] => {
                assert_eq!(prompt, "Tell me");
                assert!(
                    told.said().starts_with(said.as_str()) && note.contains("connection broke"),
                    "{heard:?}"
                );
            }
            _ => panic!("{heard:?}"),
        }
    }
}

#[test]
fn l8_a_server_that_always_breaks_off_is_given_up() {
    for api in APIS {
        let server = failing(Failure::Cut);
        let told = Desk::new(api, &server.url()).turn("x", &[]);
        told.failed(FailureKind::Transient);
        assert_eq!(server.requests().len(), 5);
    }
}
