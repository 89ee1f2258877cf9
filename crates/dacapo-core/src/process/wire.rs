//! What runner and guard say to each other over their socket.
//!
//! Both ends are the same binary, but a runner may outlive an upgrade of the file it was started from: the first byte
//! is a version. Arguments and environment are bytes, never text.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{SendFlags, send};

use super::Unreachable;
use super::room::{Otherwise, Place, Processes, Room, RoomMade, RoomRefused, RoomStep, Shows, Trials, Walls};

/// Bytes of the header that carries the descriptors and says how long the order is.
pub(super) const HEADER: usize = 5;
const VERSION: u8 = 3;
/// The kernel takes no more than a few MiB of arguments and environment; anything larger is a broken message.
const LONGEST: usize = 64 << 20;

/// Ask the tree to end, kill it after the grace.
pub(super) const STOP_GENTLY: u8 = b'T';
/// Kill the tree now. The end of the socket means the same, unless the order says that the job may go on for a while.
pub(super) const STOP_NOW: u8 = b'K';
/// Stop the job itself (SIGSTOP) and end all others below the guard. Who is the job itself follows: `encode_members`.
/// Answered by `Frozen`.
pub(super) const FREEZE: u8 = b'Z';
/// Let the job go on.
pub(super) const THAW: u8 = b'C';

/// Never die of writing to someone who has just died.
#[cfg(target_os = "linux")]
pub(super) const QUIETLY: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
pub(super) const QUIETLY: SendFlags = SendFlags::empty();

/// Sends all of it, or says why not.
pub(super) fn send_all(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match send(socket, bytes, QUIETLY) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What the guard is to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) grace: Duration,
    /// How long it may go on when the runner is gone, before it is stopped.
    pub(super) without_runner: Duration,
    pub(super) room: Option<Room>,
}

impl Order {
    pub(super) fn encode(&self) -> ([u8; HEADER], Vec<u8>) {
        let mut body = Vec::new();
        for time in [self.grace, self.without_runner] {
            put_u32(&mut body, u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        }
        put_bytes(&mut body, self.cwd.as_os_str());
        put_len(&mut body, self.argv.len());
        for argument in &self.argv {
            put_bytes(&mut body, argument);
        }
        put_len(&mut body, self.env.len());
        for (name, value) in &self.env {
            put_bytes(&mut body, name);
            put_bytes(&mut body, value);
        }
        put_room(&mut body, self.room.as_ref());
        let mut header = [VERSION; HEADER];
        header[1..].copy_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        (header, body)
    }

    /// The length of the body that follows this header.
    pub(super) fn body_len(header: [u8; HEADER]) -> Option<usize> {
        let [version, length @ ..] = header;
        let length = u32::from_le_bytes(length) as usize;
        (version == VERSION && length <= LONGEST).then_some(length)
    }

    pub(super) fn decode(mut body: &[u8]) -> Option<Self> {
        let body = &mut body;
        let grace = Duration::from_millis(u64::from(take_u32(body)?));
        let without_runner = Duration::from_millis(u64::from(take_u32(body)?));
        let cwd = PathBuf::from(take_bytes(body)?);
        let argv = (0..take_u32(body)?).map(|_| take_bytes(body)).collect::<Option<_>>()?;
        let env = (0..take_u32(body)?)
            .map(|_| Some((take_bytes(body)?, take_bytes(body)?)))
            .collect::<Option<_>>()?;
        let room = take_room(body)?;
        body.is_empty().then_some(Self { argv, cwd, env, grace, without_runner, room })
    }
}

/// What of a start went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    Program,
    Cwd,
    /// The room that it may not do without, at this step.
    Room(RoomStep),
}

/// What the guard tells the runner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Status {
    Started {
        pid: u32,
    },
    SpawnFailed {
        what: Failed,
        errno: i32,
    },
    /// How the job runs that was to have a room.
    RoomMade(RoomMade),
    /// The job is stopped, and what it had started has ended.
    Frozen,
    Exited {
        code: Option<i32>,
        signal: i32,
    },
    Empty {
        leftovers: u32,
        cpu_ms: u64,
        unreachable: Vec<Unreachable>,
    },
}

impl Status {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Self::Started { pid } => {
                body.push(b'S');
                put_u32(&mut body, *pid);
            }
            Self::SpawnFailed { what, errno } => {
                match what {
                    Failed::Program => body.push(b'P'),
                    Failed::Cwd => body.push(b'D'),
                    Failed::Room(step) => body.extend([b'N', step.to_byte()]),
                }
                put_u32(&mut body, errno.cast_unsigned());
            }
            Self::RoomMade(made) => {
                let kind = match made.walls {
                    Walls::Mounts => b'M',
                    Walls::Landlock(_) => b'L',
                    Walls::None(_) => b'N',
                };
                body.extend([b'R', kind]);
                body.extend(made.trials.to_bytes());
                if let Some(refused) = made.refused() {
                    body.push(refused.step.to_byte());
                    put_u32(&mut body, refused.errno.cast_unsigned());
                }
            }
            Self::Frozen => body.push(b'Z'),
            Self::Exited { code: Some(code), .. } => {
                body.push(b'C');
                put_u32(&mut body, code.cast_unsigned());
            }
            Self::Exited { code: None, signal } => {
                body.push(b'G');
                put_u32(&mut body, signal.cast_unsigned());
            }
            Self::Empty { leftovers, cpu_ms, unreachable } => {
                body.push(b'E');
                put_u32(&mut body, *leftovers);
                body.extend_from_slice(&cpu_ms.to_le_bytes());
                put_len(&mut body, unreachable.len());
                for process in unreachable {
                    put_u32(&mut body, process.pid);
                    put_bytes(&mut body, OsStr::new(&process.name));
                }
            }
        }
        let mut message = Vec::with_capacity(body.len() + 4);
        put_len(&mut message, body.len());
        message.extend_from_slice(&body);
        message
    }

    /// Reads one message; `None` at the end of the socket, also in the middle of a message.
    pub(super) fn read(socket: &mut impl Read) -> io::Result<Option<Self>> {
        let mut length = [0; 4];
        if !fill(socket, &mut length)? {
            return Ok(None);
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Ok(None);
        }
        let mut body = vec![0; length];
        Ok(if fill(socket, &mut body)? { Self::decode(&body) } else { None })
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let (kind, mut body) = body.split_first()?;
        let body = &mut body;
        Some(match kind {
            b'S' => Self::Started { pid: take_u32(body)? },
            b'P' => Self::SpawnFailed { what: Failed::Program, errno: take_u32(body)?.cast_signed() },
            b'D' => Self::SpawnFailed { what: Failed::Cwd, errno: take_u32(body)?.cast_signed() },
            b'N' => {
                let step = take_step(body)?;
                Self::SpawnFailed { what: Failed::Room(step), errno: take_u32(body)?.cast_signed() }
            }
            b'R' => {
                let [kind, made, failed] = take(body, 3)? else { return None };
                let refused = |body: &mut &[u8]| {
                    Some(RoomRefused { step: take_step(body)?, errno: take_u32(body)?.cast_signed() })
                };
                let walls = match kind {
                    b'M' => Walls::Mounts,
                    b'L' => Walls::Landlock(refused(body)?),
                    b'N' => Walls::None(refused(body)?),
                    _ => return None,
                };
                Self::RoomMade(RoomMade { walls, trials: Trials::from_bytes([*made, *failed]) })
            }
            b'Z' => Self::Frozen,
            b'C' => Self::Exited { code: Some(take_u32(body)?.cast_signed()), signal: 0 },
            b'G' => Self::Exited { code: None, signal: take_u32(body)?.cast_signed() },
            b'E' => {
                let leftovers = take_u32(body)?;
                let cpu_ms = u64::from_le_bytes(take(body, 8)?.try_into().ok()?);
                let unreachable = (0..take_u32(body)?)
                    .map(|_| {
                        let pid = take_u32(body)?;
                        Some(Unreachable { pid, name: take_bytes(body)?.to_string_lossy().into_owned() })
                    })
                    .collect::<Option<_>>()?;
                Self::Empty { leftovers, cpu_ms, unreachable }
            }
            _ => return None,
        })
    }
}

/// Fills `bytes`; false when the other end is gone. A reset is an end too: the guard died with our order unread.
fn fill(socket: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match socket.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Processes by id and start, as they follow an order byte.
pub(super) fn encode_members(members: &[(u32, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_len(&mut bytes, members.len());
    for (pid, started) in members {
        put_u32(&mut bytes, *pid);
        bytes.extend_from_slice(&started.to_le_bytes());
    }
    bytes
}

/// Reads them; none: the other end is gone.
pub(super) fn read_members(socket: &mut impl Read) -> Option<Vec<(u32, u64)>> {
    let mut word = || {
        let mut bytes = [0; 4];
        socket.read_exact(&mut bytes).ok().map(|()| u32::from_le_bytes(bytes))
    };
    let count = word()?;
    let mut member = || Some((word()?, u64::from(word()?) | u64::from(word()?) << 32));
    (0..count).map(|_| member()).collect()
}

fn put_u32(to: &mut Vec<u8>, number: u32) {
    to.extend_from_slice(&number.to_le_bytes());
}

fn put_len(to: &mut Vec<u8>, length: usize) {
    put_u32(to, u32::try_from(length).unwrap_or(u32::MAX));
}

fn put_bytes(to: &mut Vec<u8>, bytes: &OsStr) {
    put_len(to, bytes.len());
    to.extend_from_slice(bytes.as_bytes());
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

fn take_u32(from: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(from, 4)?.try_into().ok()?))
}

fn take_bytes(from: &mut &[u8]) -> Option<OsString> {
    let count = take_u32(from)? as usize;
    Some(OsString::from_vec(take(from, count)?.to_vec()))
}

fn take_step(from: &mut &[u8]) -> Option<RoomStep> {
    let [step] = take(from, 1)? else { return None };
    RoomStep::from_byte(*step)
}

fn put_room(to: &mut Vec<u8>, room: Option<&Room>) {
    let Some(room) = room else { return to.push(0) };
    let processes = match room.processes {
        Processes::Own => b'O',
        Processes::Shared => b'S',
    };
    let otherwise = match room.otherwise {
        Otherwise::Run => b'R',
        Otherwise::Refuse => b'N',
    };
    to.extend([1, processes, otherwise]);
    put_len(to, room.places.len());
    for Place { path, shows } in &room.places {
        put_bytes(to, path.as_os_str());
        match shows {
            Shows::Nothing => to.push(b'N'),
            Shows::ReadOnly => to.push(b'R'),
            Shows::Pinned => to.push(b'P'),
            Shows::Itself => to.push(b'I'),
            Shows::Other(other) => {
                to.push(b'O');
                put_bytes(to, other.as_os_str());
            }
        }
    }
}

fn take_room(from: &mut &[u8]) -> Option<Option<Room>> {
    if take(from, 1)? == [0] {
        return Some(None);
    }
    let processes = match take(from, 1)? {
        b"O" => Processes::Own,
        b"S" => Processes::Shared,
        _ => return None,
    };
    let otherwise = match take(from, 1)? {
        b"R" => Otherwise::Run,
        b"N" => Otherwise::Refuse,
        _ => return None,
    };
    let places = (0..take_u32(from)?)
        .map(|_| {
            let path = PathBuf::from(take_bytes(from)?);
            let shows = match take(from, 1)? {
                b"N" => Shows::Nothing,
                b"R" => Shows::ReadOnly,
                b"P" => Shows::Pinned,
                b"I" => Shows::Itself,
                b"O" => Shows::Other(take_bytes(from)?.into()),
                _ => return None,
            };
            Some(Place { path, shows })
        })
        .collect::<Option<_>>()?;
    Some(Some(Room { places, processes, otherwise }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(OsString::from_vec)
    }

    proptest! {
        #[test]
        fn an_order_arrives_as_it_was_given(
            argv in proptest::collection::vec(bytes(), 0..6),
            cwd in bytes(),
            env in proptest::collection::vec((bytes(), bytes()), 0..6),
            times in (0u32.., 0u32..),
            room in proptest::option::of((proptest::collection::vec((bytes(), bytes(), 0..5), 0..4), 0..4)),
        ) {
            let place = |(path, other, which): (OsString, OsString, i32)| Place {
                path: path.into(),
                shows: [
                    Shows::Nothing,
                    Shows::Itself,
                    Shows::ReadOnly,
                    Shows::Pinned,
                    Shows::Other(other.into()),
                ][which as usize].clone(),
            };
            let room = room.map(|(places, kind)| Room {
                places: places.into_iter().map(place).collect(),
                processes: [Processes::Own, Processes::Shared][kind as usize % 2],
                otherwise: [Otherwise::Run, Otherwise::Refuse][kind as usize / 2],
            });
            let (grace, without_runner) = (times.0.into(), times.1.into());
            let [grace, without_runner] = [grace, without_runner].map(Duration::from_millis);
            let order = Order { argv, cwd: cwd.into(), env, grace, without_runner, room };
            let (header, body) = order.encode();
            prop_assert_eq!(Order::body_len(header), Some(body.len()));
            prop_assert_eq!(Order::decode(&body), Some(order));
            for cut in 0..body.len() {
                prop_assert_eq!(Order::decode(&body[..cut]), None);
            }
        }
    }

    #[test]
    fn members_arrive_and_torn_ones_do_not() {
        let members = vec![(1, u64::MAX), (u32::MAX, 7)];
        let bytes = encode_members(&members);
        assert_eq!(read_members(&mut bytes.as_slice()), Some(members));
        assert_eq!(read_members(&mut &bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn every_status_arrives_and_a_torn_one_is_an_end() {
        let all = [
            Status::Started { pid: 7 },
            Status::SpawnFailed { what: Failed::Program, errno: 2 },
            Status::SpawnFailed { what: Failed::Cwd, errno: 20 },
            Status::SpawnFailed { what: Failed::Room(RoomStep::Trials), errno: 1 },
            Status::RoomMade(RoomMade { walls: Walls::Mounts, trials: Trials::from_bytes([63, 1]) }),
            Status::RoomMade(RoomMade {
                walls: Walls::Landlock(RoomRefused { step: RoomStep::Namespaces, errno: 28 }),
                trials: Trials::default(),
            }),
            Status::RoomMade(RoomMade {
                walls: Walls::None(RoomRefused { step: RoomStep::User, errno: 1 }),
                trials: Trials::default(),
            }),
            Status::Frozen,
            Status::Exited { code: Some(-1), signal: 0 },
            Status::Exited { code: None, signal: 9 },
            Status::Empty {
                leftovers: 3,
                cpu_ms: 1 << 40,
                unreachable: vec![Unreachable { pid: 1, name: "sudo".into() }],
            },
        ];
        for status in all {
            let bytes = status.encode();
            assert_eq!(Status::read(&mut bytes.as_slice()).unwrap().as_ref(), Some(&status));
            assert_eq!(Status::read(&mut &bytes[..bytes.len() - 1]).unwrap(), None);
        }
    }
}
