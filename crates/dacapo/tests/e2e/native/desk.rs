//! A workspace, an endpoint, and the agent between them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use dacapo_core::event::{AgentEvent, FailureKind, Fault, Usage};

use crate::support::World;

/// Both wire formats.
pub(crate) const APIS: [&str; 2] = ["openai", "anthropic"];

/// The value of the key's variable.
pub(crate) const KEY: &str = "sk-a-key-of-this-test";

/// Where the agent works.
pub(crate) struct Desk {
    pub(crate) world: World,
    api: &'static str,
    url: String,
    more: Vec<String>,
}

impl Desk {
    /// With an endpoint that a key named `MY_KEY` opens.
    pub(crate) fn new(api: &'static str, url: &str) -> Self {
        Desk { world: World::new(), api, url: url.to_owned(), more: Vec::new() }
    }

    /// With more arguments.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.more.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Where sessions are kept.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.world.scratch("sessions")
    }

    /// The command line, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let words = ["__native", "--api", self.api, "--base-url", &self.url, "--model", "qwen-max"];
        let mut command = self.world.command(&words);
        command.args(["--key-env", "MY_KEY", "--backoff-ms", "10"]).args(&self.more).args(arguments);
        command.env("MY_KEY", KEY);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A turn.
    pub(crate) fn turn(&self, prompt: &str, arguments: &[&str]) -> Told {
        tell(self.command(arguments), prompt.as_bytes())
    }

    /// A turn in a conversation that is kept.
    pub(crate) fn session(&self, prompt: &str, arguments: &[&str]) -> Told {
        let mut command = self.command(arguments);
        command.arg("--sessions").arg(self.sessions());
        tell(command, prompt.as_bytes())
    }
}

/// Runs a turn to its end.
pub(crate) fn tell(mut command: Command, prompt: &[u8]) -> Told {
    let mut child = command.spawn().unwrap();
    // It may end before it reads.
    let _ = child.stdin.take().unwrap().write_all(prompt);
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let events = stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    Told { code: output.status.code(), events, stderr: String::from_utf8(output.stderr).unwrap() }
}

/// What a turn told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) stderr: String,
}

impl Told {
    /// It came to its proper end.
    #[track_caller]
    pub(crate) fn ended(self, how: &str) -> Self {
        assert_eq!(self.events.last(), Some(&AgentEvent::End { reason: how.into() }), "{self:#?}");
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:#?}");
        self
    }

    /// It failed, and says why.
    #[track_caller]
    pub(crate) fn failed(&self, kind: FailureKind) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(1), ""), "{self:#?}");
        match &self.events[..] {
            [
                ..,
                AgentEvent::Error { failure, fault: Fault::Said { message } },
                AgentEvent::End { reason },
            ] if *failure == kind && reason == "error" => {
                assert!(!message.contains(KEY) && !message.contains('\n'), "{message}");
                message
            }
            _ => panic!("{self:#?}"),
        }
    }

    /// All it said.
    pub(crate) fn said(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            AgentEvent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// What tools answered: whether they failed, and what they said.
    pub(crate) fn answers(&self) -> Vec<(bool, &str)> {
        let answers = self.events.iter().filter_map(|event| match event {
            AgentEvent::ToolResult { failed, output, .. } => Some((*failed, output.as_str())),
            _ => None,
        });
        answers.collect()
    }

    /// The last word on what it used.
    pub(crate) fn usage(&self) -> Usage {
        let mut usages = self.events.iter().filter_map(|event| match event {
            AgentEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        usages.next_back().unwrap_or_default()
    }

    /// How often it tried again, by the status it was told.
    pub(crate) fn retries(&self) -> Vec<Option<u16>> {
        let retries = self.events.iter().filter_map(|event| match event {
            AgentEvent::Retry { status, .. } => Some(*status),
            _ => None,
        });
        retries.collect()
    }
}

/// What a connection gets after its request was read. Whether it may be served again.
type Serve = dyn Fn(usize, &mut TcpStream) + Send + Sync;

/// An endpoint that sends bytes of a test's own making: what no proper server would. One request a connection.
pub(crate) struct Bytes {
    address: std::net::SocketAddr,
    stopping: Arc<AtomicBool>,
    served: Arc<AtomicUsize>,
    bodies: Arc<Mutex<Vec<String>>>,
    listening: Option<JoinHandle<()>>,
}

impl Bytes {
    /// `serve` gets the number of the request, and the connection.
    pub(crate) fn serve(serve: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (stopping, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let address = listener.local_addr().unwrap();
        let listening = std::thread::spawn({
            let (stopping, served, bodies) =
                (Arc::clone(&stopping), Arc::clone(&served), Arc::clone(&bodies));
            move || listen(&listener, &stopping, &served, &bodies, &serve)
        });
        Bytes { address, stopping, served, bodies, listening: Some(listening) }
    }

    /// These answers in turn, the last for all that follow.
    pub(crate) fn streams(answers: Vec<String>) -> Self {
        Bytes::serve(move |number, to| {
            let answer = &answers[number.min(answers.len() - 1)];
            let _ = to.write_all(format!("{STREAM}{answer}").as_bytes());
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How many requests came.
    pub(crate) fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }

    /// What was asked.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

/// The head of a stream that ends with its connection.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

impl Drop for Bytes {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

fn listen(
    listener: &TcpListener,
    stopping: &AtomicBool,
    served: &AtomicUsize,
    bodies: &Mutex<Vec<String>>,
    serve: &Serve,
) {
    for connection in listener.incoming() {
        if stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok(mut connection) = connection else { continue };
        if let Some(body) = read_request(&connection) {
            bodies.lock().unwrap().push(body);
            serve(served.fetch_add(1, Ordering::SeqCst), &mut connection);
        }
    }
}

fn read_request(connection: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

/// A chunk of a Chat Completions stream.
pub(crate) fn chunk(delta: &str, finish: &str) -> String {
    let finish = if finish.is_empty() { "null".into() } else { format!("{finish:?}") };
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
}

/// An answer of words alone, in the Chat Completions format.
pub(crate) fn words(text: &str) -> String {
    let delta = serde_json::json!({ "content": text }).to_string();
    format!("{}{}data: [DONE]\n\n", chunk(&delta, ""), chunk("{}", "stop"))
}
