//! A model server that does what a test tells it: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
//! Gemini on one port of the loopback address, with streams; and 401, 429, 5xx, silence and cut connections.
//!
//! A *script* decides each answer from the call: [`Call::last`] says whether the model is asked something new or a tool
//! has answered, [`Call::kind`] tells the agent's own work from its side calls (titles, summaries). Everything that was
//! asked and charged is recorded.
//!
//! ```text
//! let server = ModelServer::start(|call: &Call| match call.last() {
//!     Last::Prompt(_) => Reply::call(ToolUse::new("Write", json!({ "file_path": "a", "content": "x" }))).into(),
//!     Last::Result(_) => Reply::say("Wrote a.").into(),
//! });
//! // … point an agent at server.url() …
//! assert_eq!(server.usage(CallKind::Main), usage_that_the_agent_reported);
//! ```
#![allow(dead_code, unused_imports, reason = "each test target that includes this uses a part of it")]

mod answer;
mod call;
mod http;
mod ledger;
mod serve;
mod wire;

pub(crate) mod script_file;

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) use self::{
    answer::{Answer, Failure, Limit, Refusal, Reply, ToolInput, ToolUse, Usage},
    call::{Call, CallKind, Last, Said},
    ledger::Recorded,
    wire::Wire,
};
use ledger::Ledger;

/// Decides each answer. Side calls are answered without it unless the server was started with `start_for_all`.
pub(crate) type Script = dyn Fn(&Call) -> Answer + Send + Sync;

/// What the threads of a server share.
pub(crate) struct Shared {
    script: Box<Script>,
    ledger: Ledger,
    stopping: AtomicBool,
    /// Open connections by number, to be closed at the end: their threads wait for their clients.
    open: Mutex<HashMap<u64, TcpStream>>,
    next: AtomicU64,
}

/// The server; it ends with this value, and every connection with it.
pub(crate) struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    listening: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// On a free port. The script answers the agent's own work; side calls are told `ok`.
    pub(crate) fn start(script: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_for_all(move |call| match call.kind {
            CallKind::Main => script(call),
            CallKind::Side => Reply::say("ok").into(),
        })
    }

    /// On a free port. The script answers side calls too.
    pub(crate) fn start_for_all(script: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_on(0, script)
    }

    /// On this port.
    pub(crate) fn start_on(port: u16, script: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port of the loopback address");
        let address = listener.local_addr().expect("the address of a bound socket");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            ledger: Ledger::default(),
            stopping: AtomicBool::new(false),
            open: Mutex::default(),
            next: AtomicU64::new(0),
        });
        let listening = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        });
        Self { shared, address, listening: Some(listening) }
    }

    /// `http://127.0.0.1:PORT`. Whatever path precedes that of an API is left out of account.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.shared.ledger.all()
    }

    /// The model calls of one kind so far.
    pub(crate) fn calls(&self, kind: CallKind) -> Vec<Call> {
        let all = self.requests().into_iter().filter(|recorded| recorded.is(kind));
        all.filter_map(|recorded| recorded.call).collect()
    }

    /// What was charged for calls of one kind, each answer that was sent to its end.
    pub(crate) fn usage(&self, kind: CallKind) -> Usage {
        self.requests()
            .iter()
            .filter(|recorded| recorded.is(kind))
            .filter_map(|recorded| recorded.usage)
            .sum()
    }

    /// What was charged in all.
    pub(crate) fn usage_of_all(&self) -> Usage {
        self.requests().iter().filter_map(|recorded| recorded.usage).sum()
    }

    /// Targets of requests that no API here knows: nothing else should have been asked.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let all = self.requests().into_iter().filter(|recorded| !recorded.known);
        all.map(|recorded| format!("{} {}", recorded.request.method, recorded.request.target)).collect()
    }

    /// Waits until the recorded requests are such that `holds`; whether they came to be in time.
    pub(crate) fn wait(&self, patience: Duration, holds: impl Fn(&[Recorded]) -> bool) -> bool {
        self.shared.ledger.wait(patience, holds)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, which has no other way to be told.
        let _ = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    for connection in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok(connection) = connection else { continue };
        connections.retain(|thread| !thread.is_finished());
        let id = shared.next.fetch_add(1, Ordering::SeqCst);
        if let Ok(copy) = connection.try_clone() {
            shared.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id, copy);
        }
        let shared = Arc::clone(shared);
        connections.push(std::thread::spawn(move || {
            serve::connection(connection, &shared);
            shared.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        }));
    }
    for open in shared.open.lock().unwrap_or_else(PoisonError::into_inner).values() {
        let _ = open.shutdown(Shutdown::Both);
    }
    for thread in connections {
        let _ = thread.join();
    }
}

/// A port of the loopback address where nobody listens, kept so that nobody else takes it meanwhile.
pub(crate) struct ClosedPort {
    _held: std::os::fd::OwnedFd,
    address: SocketAddr,
}

impl ClosedPort {
    /// Takes one.
    pub(crate) fn take() -> Self {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        let held = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&held, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port of the loopback address");
        let address = getsockname(&held).expect("its address");
        Self { _held: held, address: SocketAddr::try_from(address).expect("an address of the internet") }
    }

    /// `http://127.0.0.1:PORT`: every connection is refused.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The answers in order, one for each main call; the last for all that follow.
pub(crate) fn in_order(answers: Vec<Answer>) -> impl Fn(&Call) -> Answer + Send + Sync {
    move |call| {
        let at = usize::try_from(call.number).unwrap_or(usize::MAX).min(answers.len().saturating_sub(1));
        answers.get(at).cloned().unwrap_or_else(|| Reply::say("ok").into())
    }
}
