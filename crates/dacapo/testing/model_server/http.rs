//! Just enough of HTTP/1.1, by hand: a test wants to stop in the middle of a chunk, or never to answer, and no library
//! that answers properly lets it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Longest request line and headers together.
const LONGEST_HEAD: u64 = 256 << 10;
/// Longest body: an agent that sends more has lost its way.
const LONGEST_BODY: u64 = 256 << 20;

/// What a client asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpRequest {
    /// `POST`.
    pub(crate) method: String,
    /// As sent, with its query.
    pub(crate) target: String,
    /// In order, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Without the framing of the transfer.
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// The value of a header; its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// Reads one; `None` when the client has no more to ask.
    pub(crate) fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut head = from.take(LONGEST_HEAD);
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(invalid(format!("no request line: {line:?}")));
        };
        let mut request = Self { method: method.to_owned(), target: target.to_owned(), ..Self::default() };
        loop {
            let mut line = String::new();
            if head.read_line(&mut line)? == 0 {
                return Err(invalid("the headers have no end"));
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) =
                line.split_once(':').ok_or_else(|| invalid(format!("no header: {line:?}")))?;
            request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            from.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = request.read_body(from)?;
        Ok(Some(request))
    }

    fn read_body(&self, from: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self
            .header("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
        {
            loop {
                let mut line = String::new();
                from.take(LONGEST_HEAD).read_line(&mut line)?;
                let size = line.split(';').next().unwrap_or_default().trim();
                let size =
                    u64::from_str_radix(size, 16).map_err(|_| invalid(format!("no chunk: {line:?}")))?;
                if size + body.len() as u64 > LONGEST_BODY {
                    return Err(invalid("the body is too long"));
                }
                read_exactly(from, size, &mut body)?;
                let mut end = String::new();
                from.take(LONGEST_HEAD).read_line(&mut end)?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let length = self.header("content-length").unwrap_or("0");
        let length: u64 = length.parse().map_err(|_| invalid(format!("no length: {length:?}")))?;
        if length > LONGEST_BODY {
            return Err(invalid("the body is too long"));
        }
        read_exactly(from, length, &mut body)?;
        Ok(body)
    }
}

fn read_exactly(from: &mut BufReader<TcpStream>, size: u64, into: &mut Vec<u8>) -> io::Result<()> {
    // What is announced is not reserved: it may never come.
    if from.take(size).read_to_end(into)? as u64 != size {
        return Err(invalid("the body ends early"));
    }
    Ok(())
}

fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// A whole answer at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HttpResponse {
    /// 200.
    pub(crate) status: u16,
    /// Beyond type and length.
    pub(crate) headers: Vec<(String, String)>,
    /// JSON.
    pub(crate) body: serde_json::Value,
}

impl HttpResponse {
    /// A plain answer.
    pub(crate) fn json(status: u16, body: serde_json::Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    /// With one more header.
    pub(crate) fn with(mut self, name: &str, value: &dyn std::fmt::Display) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sends it.
    pub(crate) fn write(&self, to: &mut TcpStream) -> io::Result<()> {
        let body = self.body.to_string();
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len()));
        to.write_all(&[head.as_bytes(), body.as_bytes()].concat())
    }
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// Its name, where the wire has names.
    pub(crate) event: Option<&'static str>,
    /// What it says: JSON, or a word that ends the stream.
    pub(crate) data: String,
}

/// A stream of server-sent events. One that is dropped before [`EventStream::end`] was cut, and the client can tell: the
/// last chunk never came.
#[derive(Debug)]
pub(crate) struct EventStream<'a>(&'a mut TcpStream);

impl<'a> EventStream<'a> {
    /// Sends the headers.
    pub(crate) fn begin(to: &'a mut TcpStream) -> io::Result<Self> {
        to.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )?;
        Ok(Self(to))
    }

    /// Sends one event, at once.
    pub(crate) fn send(&mut self, frame: &Frame) -> io::Result<()> {
        let event = frame.event.map(|name| format!("event: {name}\n")).unwrap_or_default();
        let text = format!("{event}data: {}\n\n", frame.data);
        self.0.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// Ends it properly.
    pub(crate) fn end(self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}
