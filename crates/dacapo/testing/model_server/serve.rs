//! One connection: read, record, ask the script, answer.

use std::io::{self, BufReader, Read as _};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use super::Shared;
use super::answer::{Answer, Failure, Refusal, Reply, Usage};
use super::call::Call;
use super::http::{EventStream, Frame, HttpRequest, HttpResponse};
use super::ledger::Recorded;
use super::wire::{self, Route, Wire};

/// Serves one client until it hangs up, or is hung up on.
pub(crate) fn connection(stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let Ok(writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    let mut writer = writer;
    // A client that hangs up in the middle is nobody's fault: agents do it whenever they are interrupted.
    while let Ok(Some(request)) = HttpRequest::read(&mut reader) {
        match exchange(request, &mut reader, &mut writer, shared) {
            Ok(Then::GoOn) => {}
            Ok(Then::HangUp) | Err(_) => break,
        }
    }
    let _ = writer.shutdown(Shutdown::Both);
}

enum Then {
    GoOn,
    HangUp,
}

fn exchange(
    request: HttpRequest,
    reader: &mut BufReader<TcpStream>,
    writer: &mut TcpStream,
    shared: &Shared,
) -> io::Result<Then> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let route = wire::route(&request);
    let call = match &route {
        Route::Model(wire, stream) => wire.read(&request, &body, *stream),
        Route::Models(_) | Route::CountTokens(_) | Route::Unknown => None,
    };
    let malformed = matches!(route, Route::Model(..)) && call.is_none();
    let recorded = Recorded {
        body: body.clone(),
        call,
        known: !matches!(route, Route::Unknown) && !malformed,
        answer: None,
        usage: None,
        request,
    };
    let (at, call) = shared.ledger.add(recorded);
    let response = match (&route, call) {
        (Route::Model(wire, _), Some(call)) => {
            let answer = (shared.script)(&call);
            shared.ledger.update(at, |recorded| recorded.answer = Some(answer.clone()));
            let given = give(*wire, &call, at as u64, &answer, reader, writer)?;
            shared.ledger.update(at, |recorded| recorded.usage = given.usage);
            return Ok(given.then);
        }
        (Route::Model(wire, _), None) => wire.error(Refusal::Status(400)),
        (Route::CountTokens(wire), _) => {
            HttpResponse::json(200, wire.counted(body.to_string().len() as u64 / 4))
        }
        (Route::Models(wire), _) => HttpResponse::json(200, wire.models()),
        (Route::Unknown, _) => {
            HttpResponse::json(404, json!({ "error": { "message": "there is nothing here", "code": 404 } }))
        }
    };
    response.write(writer)?;
    Ok(Then::GoOn)
}

struct Given {
    then: Then,
    usage: Option<Usage>,
}

impl Given {
    const NOTHING: Self = Self { then: Then::HangUp, usage: None };
}

/// Carries the answer out.
fn give(
    wire: Wire,
    call: &Call,
    id: u64,
    answer: &Answer,
    reader: &mut BufReader<TcpStream>,
    writer: &mut TcpStream,
) -> io::Result<Given> {
    // What is broken off is an answer that began well.
    let whole = Reply::say("I am about to say something that takes me a while, because it is so long");
    let (reply, failure) = match answer {
        Answer::Reply(reply) => (reply, None),
        Answer::Fail(failure) => (&whole, Some(*failure)),
    };
    let usage = reply.usage.unwrap_or_else(|| Usage::of_call(id));
    let frames = |reply| wire.stream(call, id, reply, usage);
    match failure {
        None if call.stream => {
            let mut stream = EventStream::begin(writer)?;
            for frame in frames(reply) {
                stream.send(&frame)?;
            }
            stream.end()?;
        }
        None => HttpResponse::json(200, wire.whole(call, id, reply, usage)).write(writer)?,
        Some(Failure::Hang) => {
            outwait(reader);
            return Ok(Given::NOTHING);
        }
        Some(Failure::HangInStream) => {
            begin(writer, call, &frames(reply))?;
            outwait(reader);
            return Ok(Given::NOTHING);
        }
        Some(Failure::Cut) => {
            begin(writer, call, &frames(reply))?;
            return Ok(Given::NOTHING);
        }
        Some(Failure::Refused(refusal)) => {
            wire.error(refusal).write(writer)?;
            return Ok(Given { then: Then::GoOn, usage: None });
        }
    }
    Ok(Given { then: Then::GoOn, usage: Some(usage) })
}

/// The first half of an answer.
fn begin(writer: &mut TcpStream, call: &Call, frames: &[Frame]) -> io::Result<()> {
    if !call.stream {
        use std::io::Write as _;
        return writer.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4096\r\n\r\n{\"",
        );
    }
    let mut stream = EventStream::begin(writer)?;
    frames[..frames.len().div_ceil(2)].iter().try_for_each(|frame| stream.send(frame))
}

/// Until the client loses patience, or the server ends.
fn outwait(reader: &mut BufReader<TcpStream>) {
    let mut byte = [0];
    while matches!(reader.read(&mut byte), Ok(1..)) {}
}
