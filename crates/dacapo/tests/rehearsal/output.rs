//! What comes out of it.

use std::io::Read;
use std::time::Duration;

use super::stage::Stage;

fn text(steps: &str) -> Stage {
    Stage::script(&format!("output: text\niterations:\n  - {}\n", steps.trim().replace('\n', "\n    ")))
}

#[test]
fn plain_text_is_plain() {
    let stage = text(
        r#"
- say: hello
- think: hidden
- tool: { name: Edit, summary: a.rs, output: "ok\n" }
- usage: { input: 1 }
- echo_prompt: true
- split: { text: "<promise>X</promise>", at: 4 }
- stderr: careful
- limit: { message: limit reached, resets_in: 1h }
"#,
    );
    let played = stage.prompt("do it");
    assert_eq!(played.code(), 1);
    let out = played.stdout();
    assert!(
        out.starts_with(
            "hello\n[Edit] a.rs\nok\n[prompt] \ndo it\n<promise>X</promise>\nlimit reached; resets at 2"
        ),
        "{out}"
    );
    assert_eq!(played.stderr(), "careful\n");
}

#[test]
fn a_text_may_come_in_two_pieces() {
    let played = Stage::new("- split: { text: 'aé<promise>', at: 2, pause: 1ms }\n- split: { text: abcd }\n- split: { text: ab, at: 99 }").play().ok();
    assert_eq!(played.said(), ["aé", "<promise>", "ab", "cd", "ab", ""]);
    // In plain text the first piece is there before the second is written.
    let stage = text("- split: { text: abcd, at: 2, pause: 60s }");
    let mut running = stage.start();
    let mut piece = [0; 16];
    let count = running.0.stdout.as_mut().unwrap().read(&mut piece).unwrap();
    assert_eq!(&piece[..count], b"ab");
}

#[test]
fn events_are_seen_when_they_happen() {
    let stage = Stage::script("session: false\niterations: [[say: now, sleep: 60s]]");
    let mut running = stage.start();
    let mut bytes = [0; 256];
    let count = running.0.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
    assert_eq!(&bytes[..count], b"{\"kind\":\"text\",\"text\":\"now\"}\n");
}

#[test]
fn raw_bytes_are_raw_and_do_not_swallow_the_next_event() {
    let played = Stage::script(
        "session: false\niterations:\n  - - raw: '\\xff{\"kind\":'\n    - say: a\n    - raw: 'x\\n'\n",
    )
    .play();
    assert_eq!(
        played.0.stdout,
        b"\xff{\"kind\":\n{\"kind\":\"text\",\"text\":\"a\"}\nx\n{\"kind\":\"end\",\"reason\":\"end_turn\"}\n"
    );
}

#[test]
fn a_flood_is_as_big_as_it_says() {
    let mb = 1024 * 1024;
    let played = Stage::script("session: false\niterations: [[flood: {mb: 5, bytes: 'ab'}]]").play();
    let end = b"\n{\"kind\":\"end\",\"reason\":\"end_turn\"}\n".len();
    assert_eq!(played.0.stdout.len(), 5 * mb + end);
    assert!(!played.0.stdout[..5 * mb].contains(&b'\n'));
    let played = Stage::script("session: false\niterations: [[flood: {mb: 1, newline: true}]]").play();
    let lines = played.0.stdout[..mb].split(|b| *b == b'\n');
    assert!(lines.clone().count() > 10_000 && lines.into_iter().all(|line| line.len() <= 99));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let stage = Stage::new("- flood: { mb: 100 }\n- say: never");
    let mut child = stage.command().spawn().unwrap();
    drop(child.stdin.take());
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    // Standard error may be gone too.
    let stage = Stage::new("- stderr: a\n- write: { path: seen }\n- expect: nothing like this");
    let mut child = stage.command().spawn().unwrap();
    drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[test]
fn standard_output_may_end_before_it_does() {
    let stage = Stage::new("- say: a\n- close_stdout: true\n- say: lost\n- sleep: 60s");
    let mut running = stage.start();
    let mut out = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(out.contains("\"a\"") && !out.contains("lost"));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(running.0.try_wait().unwrap(), None, "it lives on");
}
