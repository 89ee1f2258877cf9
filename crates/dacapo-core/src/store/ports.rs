//! Ports that are one task's alone as long as it runs (S3): ten in a row, by a file lock that the kernel gives back on any
//! death. Servers that the agents of two tasks start then do not meet.

use std::fs::{self, File, TryLockError};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::files;

/// How many ports a task has.
pub const PORTS: u16 = 10;

/// Above what servers are usually given, below what the system gives to connections.
const FIRST: u16 = 20_000;
const LAST: u16 = 32_759;

/// The ports of this machine.
#[derive(Debug, Clone)]
pub struct Ports {
    dir: PathBuf,
    /// Whether nobody listens at a port.
    is_free: fn(u16) -> bool,
}

/// Ten ports that nobody else of ours has.
#[derive(Debug)]
pub(crate) struct PortLease {
    base: u16,
    file: File,
}

impl Ports {
    /// `dir` is made when it is first needed.
    pub(crate) fn at(dir: PathBuf) -> Self {
        Self { dir, is_free }
    }

    /// Leases ports to the task with this tag: those it had `before` where they are free, else the first free ones from a
    /// place of its own. None: all are taken.
    pub(crate) fn lease(&self, tag: &str, before: Option<u16>) -> io::Result<Option<PortLease>> {
        files::make_dir(&self.dir)?;
        let all = candidates(&connections());
        let own = tag.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let row = (0..all.len()).map(|step| all[(own % all.len() + step) % all.len()]);
        for base in before.into_iter().filter(|base| all.contains(base)).chain(row) {
            if let Some(lease) = self.take(base)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    fn take(&self, base: u16) -> io::Result<Option<PortLease>> {
        // The files are never removed: a lock on a file that has lost its name would keep nobody out.
        let file = files::open_or_create(&self.dir.join(format!("ports-{base}")))?;
        match file.try_lock() {
            // Somebody else on this machine may listen there without asking us.
            Ok(()) if (base..base + PORTS).all(self.is_free) => Ok(Some(PortLease { base, file })),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl PortLease {
    /// The first of them.
    pub(crate) fn base(&self) -> u16 {
        self.base
    }

    /// For a job: the lease ends when all that may use the ports is gone.
    pub(crate) fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The ports that the system gives to outgoing connections.
fn connections() -> RangeInclusive<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(first), Some(last)) => first..=last,
        _ => 49_152..=65_535,
    }
}

/// First ports of all ranges outside of those; of all ranges where the system leaves nothing.
fn candidates(connections: &RangeInclusive<u16>) -> Vec<u16> {
    let all: Vec<u16> = (FIRST..=LAST - PORTS + 1).step_by(PORTS.into()).collect();
    let apart = |base: &u16| base + PORTS <= *connections.start() || base > connections.end();
    let outside: Vec<u16> = all.iter().copied().filter(apart).collect();
    if outside.is_empty() { all } else { outside }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Other tests look at the same ports for an instant.
    fn without_looking(dir: PathBuf) -> Ports {
        Ports { dir, is_free: |_| true }
    }

    #[test]
    fn s3_two_hundred_tasks_have_ports_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let ports = without_looking(dir.path().join("leases"));
        let held: Vec<PortLease> =
            (0..200).map(|n| ports.lease(&format!("task {n}"), None).unwrap().unwrap()).collect();
        let all: HashSet<u16> = held.iter().flat_map(|lease| lease.base()..lease.base() + PORTS).collect();
        assert_eq!(all.len(), 2000);
    }

    #[test]
    fn s3_a_task_has_the_same_ports_again_when_they_are_free() {
        let dir = tempfile::tempdir().unwrap();
        let ports = without_looking(dir.path().to_owned());
        let lease = ports.lease("a", None).unwrap().unwrap();
        let (base, share) = (lease.base(), lease.share().unwrap());
        drop(lease);
        // What it started is still at work.
        assert_ne!(ports.lease("a", Some(base)).unwrap().unwrap().base(), base);
        drop(share);
        assert_eq!(ports.lease("b", Some(base)).unwrap().unwrap().base(), base);
    }

    #[test]
    fn s3_ports_that_somebody_listens_at_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let ports = Ports::at(dir.path().to_owned());
        let (base, _listener) = loop {
            let base = ports.lease("c", None).unwrap().unwrap().base();
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, base + 7)) {
                break (base, listener);
            }
        };
        assert_ne!(ports.lease("c", Some(base)).unwrap().unwrap().base(), base);
    }

    #[test]
    fn s3_ports_of_connections_are_left_alone() {
        assert_eq!(candidates(&(32_768..=60_999)).first(), Some(&FIRST));
        assert_eq!(candidates(&(20_005..=30_000)).first(), Some(&30_010));
        assert_eq!(candidates(&(1024..=65_535)).len(), 1276);
        assert!(candidates(&(32_768..=60_999)).iter().all(|base| base + PORTS - 1 < 32_768));
    }
}
