//! Notifications (U4): a webhook at a real server, a command, the desktop's program; never a failure of the task.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::{Ran, World, is_gone, wait_for};

/// What nobody but the server may see of the address.
const SECRET: &str = "T0KEN-that-nobody-may-see";

/// A server that gives these answers one after the other, then `200`.
struct Hook {
    port: u16,
    posts: Arc<Mutex<Vec<Value>>>,
    /// Command lines of all processes that held the secret while a message was on its way.
    leaks: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hook {
    fn start(answers: &[&str]) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").unwrap(), answers)
    }

    fn listen(listener: TcpListener, answers: &[&str]) -> Self {
        let port = listener.local_addr().unwrap().port();
        let mut answers: Vec<String> = answers.iter().rev().map(|answer| (*answer).to_owned()).collect();
        let (posts, leaks) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let over = Arc::<AtomicBool>::default();
        let thread = std::thread::spawn({
            let (posts, leaks, over) = (Arc::clone(&posts), Arc::clone(&leaks), Arc::clone(&over));
            move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let mut stream = stream.unwrap();
                    let Some(post) = read(&stream) else { continue };
                    leaks.lock().unwrap().extend(who_shows_the_secret());
                    posts.lock().unwrap().push(post);
                    let answer = answers.pop().unwrap_or_else(|| "200 OK\r\n\r\nok".to_owned());
                    // An empty answer: the line goes dead.
                    if !answer.is_empty() {
                        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                        let length = body.len();
                        let _ = write!(
                            stream,
                            "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                        );
                    }
                }
            }
        });
        Self { port, posts, leaks, over, thread: Some(thread) }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook/{SECRET}", self.port)
    }

    fn posts(&self) -> Vec<Value> {
        self.posts.lock().unwrap().clone()
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The body of one request, which must be a POST of JSON.
fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert!(line.starts_with("POST /hook/"), "{line}");
    let mut json = false;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.trim().to_ascii_lowercase();
        json |= header == "content-type: application/json";
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.is_empty() {
            break;
        }
    }
    assert!(json, "no content type");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

fn who_shows_the_secret() -> Vec<String> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    all.flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .filter(|line| line.contains(SECRET))
        .collect()
}

fn exec(world: &World, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--agent-cmd", "echo x >> log"];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["make it good"]).collect();
    world.exec(&words)
}

fn webhook(world: &World, hook: &Hook) {
    world.config(&format!("[notify]\ndesktop = false\nwebhook = \"{}\"\n", hook.url()));
}

/// `how` and `error` of all that were tried.
fn notified(world: &World) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    world
        .events("t", "notified")
        .iter()
        .map(|event| (text(&event["how"]).unwrap(), text(&event["error"])))
        .collect()
}

/// Posts by the hidden command, with little patience.
fn deliver(world: &World, order: &Value) -> Ran {
    let mut command = world.command(&["__deliver"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

fn order(url: &str, attempts: u32) -> Value {
    json!({"url": url, "body": {"v": 1}, "attempts": attempts, "pause_ms": 20, "limit_ms": 60_000})
}

#[test]
fn u4_the_end_of_a_task_is_posted() {
    let world = World::new();
    let hook = Hook::start(&[]);
    webhook(&world, &hook);
    let ran = exec(&world, &["--check", "test -e log"]).expect(0);
    let posts = hook.posts();
    assert_eq!(posts.len(), 1);
    let expected = json!({
        "v": 3, "type": "task_finished", "name": "t", "repo": world.git(&["rev-parse", "--show-toplevel"]),
        "kind": "loop", "status": "completed", "outcome": "completed", "stop_reason": "checks", "verified": true,
        "needs": null, "message": null, "iteration": 1, "max_iterations": 5, "cost_usd": null, "agent": "echo",
        "branch": "main", "last_commit": world.git(&["rev-parse", "HEAD"]), "trust_files": ["log"], "pull_request": null,
        "next": [
            {"command": "dacapo diff t", "meaning": "see what changed"},
            {"command": "dacapo resume t \"also …\"", "meaning": "continue with one more request"},
        ],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&posts[0][field], value, "{field}");
    }
    let text = posts[0]["text"].as_str().unwrap();
    assert!(text.starts_with("t: ✓ proven\n1 iteration · "), "{text}");
    assert!(posts[0]["content"].as_str().unwrap().starts_with("t: ✓ proven\n"));
    assert_eq!(notified(&world), [("webhook".into(), None)]);
    world.run(&["logs", "t"]).expect(0).says("Notified by webhook\n");
    let journal = fs::read_to_string(world.task_dir("t").join("journal.jsonl")).unwrap();
    for text in [&ran.stdout, &ran.stderr, &journal] {
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(hook.leaks.lock().unwrap().clone(), Vec::<String>::new());
    world.assert_nothing_left("t");
}

#[test]
fn u4_a_failed_attempt_is_made_again() {
    let world = World::new();
    let hook = Hook::start(&["500 Oops\r\n\r\n", ""]);
    let ran = deliver(&world, &order(&hook.url(), 5)).expect(0);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer, json!({"status": 200, "attempts": 3}));
    assert_eq!(hook.posts().len(), 3);
    // By the program itself, with its own pause of a second.
    let hook = Hook::start(&["503 Busy\r\n\r\n"]);
    webhook(&world, &hook);
    let _ = exec(&world, &[]).expect(0);
    assert_eq!(hook.posts().len(), 2);
    assert_eq!(notified(&world), [("webhook".into(), None)]);
}

#[test]
fn u4_a_server_that_is_not_up_yet_is_tried_again() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    let world = World::new();
    // Bound but not listening: the port is ours, and whoever connects is refused.
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = std::net::SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap().port();
    let url = format!("http://127.0.0.1:{port}/hook/{SECRET}");
    let refused = deliver(&world, &order(&url, 2)).expect(1);
    refused.says("it cannot be reached").says("(tried 2 times)").silent_about(SECRET);
    let mut command = world.command(&["__deliver"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let order = json!({"url": url, "body": {}, "attempts": 1000, "pause_ms": 1, "limit_ms": 60_000});
    child.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    listen(&socket, 8).unwrap();
    let hook = Hook::listen(TcpListener::from(socket), &[]);
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(0);
    ran.says("\"status\":200");
    assert_eq!(hook.posts().len(), 1);
}

#[test]
fn u4_a_refusal_is_final_and_told() {
    let world = World::new();
    let hook = Hook::start(&["404 Not Found\r\n\r\nno_such_hook", "404 Not Found\r\n\r\n"]);
    webhook(&world, &hook);
    exec(&world, &[]).expect(0).says("cannot notify by webhook: it answers 404 Not Found: no_such_hook");
    assert_eq!(hook.posts().len(), 1);
    let error = "it answers 404 Not Found: no_such_hook".to_owned();
    assert_eq!(notified(&world), [("webhook".into(), Some(error))]);
    world.run(&["status", "t"]).expect(0).says("note    cannot notify by webhook: it answers 404");
    assert_eq!(world.status("t")["outcome"], "completed");
    let ran = world.run(&["notify", "test"]).expect(1);
    assert_eq!(ran.stdout, "webhook  failed: it answers 404 Not Found\n");
}

#[test]
fn u4_it_waits_as_long_as_it_is_told_within_bounds() {
    let world = World::new();
    let hook =
        Hook::start(&["429 Slow Down\r\nRetry-After: 0\r\n\r\n", "429 Slow Down\r\nRetry-After: 0\r\n\r\n"]);
    // Our own pause would take all of its time.
    let patient =
        json!({"url": hook.url(), "body": {}, "attempts": 3, "pause_ms": 600_000, "limit_ms": 60_000});
    deliver(&world, &patient).expect(0).says("\"attempts\":3");
    let hook = Hook::start(&["503 Later\r\nRetry-After: 3600\r\n\r\n"]);
    deliver(&world, &order(&hook.url(), 5)).expect(1).says("it answers 503");
    assert_eq!(hook.posts().len(), 1);
}

#[test]
fn u4_nobody_else_gets_the_message() {
    let world = World::new();
    let other = Hook::start(&[]);
    let hook = Hook::start(&[&format!("307 Moved\r\nLocation: {}\r\n\r\n", other.url())]);
    deliver(&world, &order(&hook.url(), 5)).expect(1).says("the address has moved").silent_about(SECRET);
    assert_eq!((hook.posts().len(), other.posts().len()), (1, 0));
    for (url, why) in [("ftp://h/x", "the address is none"), ("http://", "the address is none")] {
        deliver(&world, &order(url, 5)).expect(1).says(why);
    }
    let mut nonsense = order(&hook.url(), 1);
    nonsense["attempts"] = json!(SECRET);
    deliver(&world, &nonsense).expect(1).says("not understood").silent_about(SECRET);
}

#[test]
fn u4_a_command_is_told_by_variables_and_json() {
    let world = World::new();
    let (env, stdin) = (world.scratch("env"), world.scratch("stdin"));
    let command = format!(
        "env > {}; cat > {}; pwd > {}",
        env.display(),
        stdin.display(),
        world.scratch("cwd").display()
    );
    world.config(&format!("[notify]\ndesktop = false\ncommand = {command:?}\n"));
    let _ = exec(&world, &["--worktree", "--check", "false", "--max-iterations", "1"]).expect(3);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    let env = fs::read_to_string(env).unwrap();
    for line in [
        "DACAPO_TASK=t",
        "DACAPO_STATUS=stopped",
        "DACAPO_OUTCOME=max_reached",
        "DACAPO_VERIFIED=false",
        "DACAPO_COST_USD=",
        "DACAPO_MESSAGE=t: stopped, not done",
        &format!("DACAPO_WORKSPACE={worktree}"),
    ] {
        assert!(env.lines().any(|set| set == line), "{line}\n{env}");
    }
    let told: Value = serde_json::from_str(&fs::read_to_string(stdin).unwrap()).unwrap();
    assert_eq!(
        (&told["v"], &told["status"], &told["outcome"]),
        (&json!(3), &json!("stopped"), &json!("max_reached"))
    );
    assert_eq!(fs::read_to_string(world.scratch("cwd")).unwrap().trim(), worktree);
    assert_eq!(notified(&world), [("command".into(), None)]);
}

#[cfg(target_os = "linux")]
#[test]
fn u4_a_command_that_hangs_is_ended_with_all_it_started() {
    let world = World::new();
    let pids = world.scratch("pids");
    let command = format!("trap '' TERM; setsid sleep 1000 & echo $$ $! >> {}; sleep 1000", pids.display());
    // On a busy machine a shell may not have come far within a second.
    for limit in [1, 5, 40] {
        let limit = format!("{limit}s");
        world.config(&format!(
            "[notify]\ndesktop = false\ncommand = {command:?}\ncommand_timeout = {limit:?}\n"
        ));
        let ran = world.run(&["notify", "test"]).expect(1);
        ran.says(&format!("command  failed: no end within {limit}; it was ended\n"));
        if fs::read_to_string(&pids).is_ok_and(|text| text.ends_with('\n')) {
            break;
        }
    }
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2);
    for pid in pids.split_whitespace() {
        wait_for("the command to be gone", || is_gone(pid));
    }
}

#[test]
fn u4_who_waits_for_the_task_does_not_wait_for_its_notification() {
    let world = World::new();
    let (begun, go) = (world.scratch("begun"), world.scratch("go"));
    let command = format!("touch {}; while ! test -e {}; do sleep 0.05; done", begun.display(), go.display());
    world.config(&format!("[notify]\ndesktop = false\ncommand = {command:?}\n"));
    let task = world.start(&["exec", "--name", "t", "--agent-cmd", "echo x > x", "go"]);
    world.wait_for_file("begun");
    let _ = world.run(&["wait", "t"]).expect(0);
    // Somebody has taken it up again meanwhile: it has an end of its own to tell of.
    let again = world.start(&["resume", "t", "more"]);
    wait_for("the second run to end", || {
        let status = world.status("t");
        status["iteration"] == 2 && status["status"] == "completed"
    });
    fs::write(go, "").unwrap();
    let _ = (task.end().expect(0), again.end().expect(0));
    assert!(!notified(&world).is_empty());
}

#[test]
fn u4_a_command_that_fails_is_no_failure_of_the_task() {
    let world = World::new();
    world.config("[notify]\ndesktop = false\ncommand = \"echo it broke >&2; exit 3\"\n");
    let ran = exec(&world, &["--json"]).expect(0);
    assert_eq!(ran.result()["outcome"], "completed");
    ran.says("cannot notify by command: exit 3: it broke");
    let ran = world.run(&["notify", "test", "--json"]).expect(1);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        answer,
        json!({"v": 3, "type": "notified", "how": "command", "ok": false, "error": "exit 3: it broke"})
    );
}

#[cfg(not(target_os = "macos"))]
#[test]
fn u4_the_desktop_shows_it_where_there_is_one() {
    let world = World::new();
    let shown = world.scratch("shown");
    let text = format!("#!/bin/sh\nfor word; do printf '%s\\n--\\n' \"$word\"; done > {}\n", shown.display());
    world.program("notify-send", &text);
    // No session, no desktop: nothing is tried, and nothing is said.
    exec(&world, &[]).expect(0).silent_about("notif");
    assert!(!shown.exists() && notified(&world).is_empty());
    world
        .run(&["notify", "test"])
        .expect(2)
        .says("cannot notify you: there is no desktop here")
        .says("[notify] webhook");
    let mut command = world.command(&["resume", "t", "<b>more</b>"]);
    let _ =
        Ran::from(command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere").output().unwrap()).expect(0);
    let text = fs::read_to_string(&shown).unwrap();
    assert!(
        text.starts_with(
            "--app-name=dacapo\n--\n--urgency=normal\n--\n--\n--\nt: finished, unverified\n--\n2 iterations"
        ),
        "{text}"
    );
    assert_eq!(notified(&world), [("desktop".into(), None)]);
    let mut command = world.command(&["notify", "test"]);
    let ran =
        Ran::from(command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere").output().unwrap()).expect(0);
    assert_eq!(ran.stdout, "desktop  sent\n");
    let mut command = world.command(&["resume", "t", "more"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", "x").env("DACAPO_NOTIFY_DESKTOP", "false");
    let _ = Ran::from(command.output().unwrap()).expect(0);
    assert_eq!(notified(&world).len(), 1);
}

#[test]
fn s15_what_is_told_holds_no_secret() {
    let world = World::new();
    let hook = Hook::start(&[]);
    webhook(&world, &hook);
    let key = "sk-very-secret-value-1";
    let words =
        ["exec", "--name", "t", "--iter", "1", "--agent-cmd", "echo bad key $MY_API_KEY >&2; exit 1", "go"];
    let _ = Ran::from(world.command(&words).env("MY_API_KEY", key).output().unwrap()).expect(1);
    let post = hook.posts()[0].to_string();
    assert!(post.contains("✗ failed") && !post.contains(key) && !post.contains(SECRET), "{post}");
}
