//! How many spawned tasks work at once on this machine, and in which order the others get their turn (S4, K7).
//!
//! A slot is a locked file, and so is a ticket: the kernel gives back what any death leaves behind. Each who waits
//! sleeps on the ticket before its own; only the first in the queue looks for a free slot. So nobody is overtaken, and a
//! thousand that wait cost a thousand sleeping processes and nothing else.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{files, lock};

mod wake;

pub(crate) use wake::Bell;

/// What a process that is gone has started holds its slot until it is done; so long its own task waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The name of a task is no longer; what else may be in the file is not read.
const LONGEST_NAME: u64 = 256;

/// The slots of this machine, or the one that tasks of a kind have in a repository.
#[derive(Debug, Clone)]
pub struct Slots {
    dir: PathBuf,
    most: u32,
}

/// A place in the queue. Dropping it leaves the queue.
#[derive(Debug)]
pub struct QueueTicket {
    number: u64,
    path: PathBuf,
    /// Locked as long as its holder waits.
    _file: File,
}

/// A slot that is taken: free again when this and all its shares are gone.
#[derive(Debug)]
pub struct SlotLease {
    file: File,
}

impl SlotLease {
    /// A share of it for what works in this slot: it is free again when its holder and all shares are gone.
    pub(crate) fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Says in its file who has it, for [`Taken::by`].
    pub(crate) fn name(&self, who: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(who.as_bytes(), 0)
    }
}

/// No slot is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Who has one, where that is known.
    pub by: Option<String>,
}

/// What a newcomer gets.
#[derive(Debug)]
pub enum Entered {
    /// A slot was free.
    Slot(SlotLease),
    /// All slots are taken, or others came first.
    Queued(QueueTicket),
}

impl Slots {
    /// `dir` is made when it is first needed.
    pub(crate) fn new(dir: PathBuf, most: u32) -> Self {
        Self { dir, most: most.max(1) }
    }

    /// Takes a slot if one is free and nobody waits for it, else joins the queue at its end.
    pub(crate) fn enter(&self) -> io::Result<Entered> {
        let _order = self.order()?;
        if self.waiting()?.is_empty()
            && let Some(held) = take_any(&mut self.doors()?)?
        {
            return Ok(Entered::Slot(held));
        }
        self.join().map(Entered::Queued)
    }

    /// Takes a slot for `who` if one is free and nobody waits for it. Never joins the queue.
    ///
    /// A slot under the very same name is what a dead process of that task has left behind; it is free in a moment.
    pub fn try_enter(&self, who: &str) -> io::Result<Result<SlotLease, Taken>> {
        let start = Instant::now();
        loop {
            let taken = {
                let _order = self.order()?;
                if self.waiting()?.is_empty()
                    && let Some(held) = take_any(&mut self.doors()?)?
                {
                    held.name(who)?;
                    return Ok(Ok(held));
                }
                Taken { by: self.named() }
            };
            if taken.by.as_deref() != Some(who) || start.elapsed() > PATIENCE {
                return Ok(Err(taken));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Who has a slot, by the first that names somebody.
    fn named(&self) -> Option<String> {
        use std::io::Read as _;
        let read = |number| -> Option<String> {
            let mut name = String::new();
            let file = files::open(&self.dir.join(format!("place-{number}"))).ok()?;
            file.take(LONGEST_NAME).read_to_string(&mut name).ok()?;
            Some(name).filter(|name| !name.is_empty())
        };
        (0..self.most).find_map(read)
    }

    fn join(&self) -> io::Result<QueueTicket> {
        self.clear_away()?;
        // Numbers begin again when the queue is empty; only the order among those who wait now means anything.
        let number = self.waiting()?.last().map_or(0, |(last, _)| last + 1);
        let path = self.dir.join(format!("ticket-{number:016}"));
        let file = files::open_or_create(&path)?;
        file.lock()?;
        Ok(QueueTicket { number, path, _file: file })
    }

    /// Sleeps until a slot is free and all who came before have theirs.
    pub(crate) fn wait(&self, ticket: QueueTicket) -> io::Result<SlotLease> {
        loop {
            // Asked anew after each wake-up: the one before us may have given up, and then somebody earlier is the
            // next to wait for.
            let before = self.waiting()?.into_iter().rfind(|(number, _)| *number < ticket.number);
            match before {
                Some((_, path)) => wait_until_free(&path)?,
                None => return self.wait_at_the_head(ticket),
            }
        }
    }

    fn wait_at_the_head(&self, ticket: QueueTicket) -> io::Result<SlotLease> {
        // Before the first look: a slot that is freed between a look and the beginning of the watch would ring for
        // nobody.
        let mut bell = Bell::hang_in(&self.dir);
        // Opened once: closing one would ring our own bell.
        let mut doors = self.doors()?;
        loop {
            if let Some(held) = take_any(&mut doors)? {
                // Only now may the next in the queue look: the slot that it would find is taken.
                drop(ticket);
                return Ok(held);
            }
            bell.wait()?;
        }
    }

    fn doors(&self) -> io::Result<Vec<File>> {
        let open = |number| {
            let path = self.dir.join(format!("place-{number}"));
            files::open_or_create(&path)
        };
        (0..self.most).map(open).collect()
    }

    /// Numbers are given one at a time.
    fn order(&self) -> io::Result<File> {
        files::make_dir(&self.dir)?;
        let file = files::open_or_create(&self.dir.join("order"))?;
        file.lock()?;
        Ok(file)
    }

    /// Who waits, the first first. A ticket that nobody holds is one that a death left.
    fn waiting(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut waiting = Vec::new();
        for (number, path) in self.tickets()? {
            if is_held(&path)? {
                waiting.push((number, path));
            }
        }
        waiting.sort();
        Ok(waiting)
    }

    /// Removes what deaths left. Only who gives numbers may: a ticket is made and locked while `order` is held.
    fn clear_away(&self) -> io::Result<()> {
        for (_, path) in self.tickets()? {
            if !is_held(&path)? {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    fn tickets(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut tickets = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(number) = name.and_then(|name| name.strip_prefix("ticket-")?.parse().ok()) {
                tickets.push((number, path));
            }
        }
        Ok(tickets)
    }
}

/// Whether somebody waits with this ticket.
fn is_held(ticket: &Path) -> io::Result<bool> {
    match files::open(ticket) {
        Ok(file) => lock::is_locked(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sleeps until nobody waits with this ticket.
fn wait_until_free(ticket: &Path) -> io::Result<()> {
    match files::open(ticket) {
        Ok(file) => lock::wait_for(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn take_any(doors: &mut Vec<File>) -> io::Result<Option<SlotLease>> {
    for index in 0..doors.len() {
        match doors[index].try_lock() {
            Ok(()) => {
                return Ok(Some(SlotLease { file: doors.swap_remove(index) }));
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        // The file is still locked: whoever sleeps on it wakes when it is closed, just after this.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn slots(most: u32) -> (tempfile::TempDir, Slots) {
        let dir = tempfile::tempdir().unwrap();
        let slots = Slots::new(dir.path().join("slots"), most);
        (dir, slots)
    }

    fn slot(seat: Entered) -> SlotLease {
        match seat {
            Entered::Slot(held) => held,
            Entered::Queued(ticket) => panic!("a slot was free: {ticket:?}"),
        }
    }

    fn queue(seat: Entered) -> QueueTicket {
        match seat {
            Entered::Queued(ticket) => ticket,
            Entered::Slot(held) => panic!("nobody may pass: {held:?}"),
        }
    }

    #[test]
    fn s4_no_more_than_the_most_have_a_place() {
        let (_dir, slots) = slots(2);
        let first = slot(slots.enter().unwrap());
        let _second = slot(slots.enter().unwrap());
        drop(queue(slots.enter().unwrap()));
        drop(first);
        slot(slots.enter().unwrap());
    }

    #[test]
    fn s4_a_share_keeps_the_place() {
        let (_dir, slots) = slots(1);
        let held = slot(slots.enter().unwrap());
        let share = held.share().unwrap();
        drop(held);
        let ticket = queue(slots.enter().unwrap());
        drop(share);
        slots.wait(ticket).unwrap();
    }

    #[test]
    fn s4_who_waits_is_not_overtaken() {
        let (_dir, slots) = slots(1);
        let held = slot(slots.enter().unwrap());
        let ticket = queue(slots.enter().unwrap());
        drop(held);
        let later = queue(slots.enter().unwrap());
        drop(slots.wait(ticket).unwrap());
        slots.wait(later).unwrap();
    }

    #[test]
    fn s4_all_get_their_turn_in_order() {
        let (_dir, slots) = slots(1);
        let held = slot(slots.enter().unwrap());
        let (tell, told) = mpsc::channel();
        let waiters: Vec<_> = (0..20)
            .map(|number| {
                let (slots, tell) = (slots.clone(), tell.clone());
                let ticket = queue(slots.enter().unwrap());
                std::thread::spawn(move || {
                    let held = slots.wait(ticket).unwrap();
                    tell.send(number).unwrap();
                    drop(held);
                })
            })
            .collect();
        assert!(told.try_recv().is_err(), "nobody may pass");
        drop(held);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        drop(tell);
        assert_eq!(told.iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn m2_who_does_not_wait_is_told_who_is_there() {
        let (_dir, slots) = slots(1);
        let held = slots.try_enter("auth").unwrap().unwrap();
        assert_eq!(slots.try_enter("search").unwrap().unwrap_err(), Taken { by: Some("auth".into()) });
        held.name("a").unwrap();
        assert_eq!(slots.try_enter("search").unwrap().unwrap_err(), Taken { by: Some("a".into()) });
        drop(held);
        let held = slot(slots.enter().unwrap());
        let ticket = queue(slots.enter().unwrap());
        drop(held);
        assert!(slots.try_enter("search").unwrap().is_err(), "somebody waits for it");
        drop(slots.wait(ticket).unwrap());
        drop(slots.try_enter("search").unwrap().unwrap());
    }

    #[test]
    fn m2_what_an_own_dead_process_left_is_waited_for() {
        let (_dir, slots) = slots(1);
        let held = slots.try_enter("auth").unwrap().unwrap();
        let share = held.share().unwrap();
        drop(held);
        let guard = std::thread::spawn(move || drop(share));
        drop(slots.try_enter("auth").unwrap().unwrap());
        guard.join().unwrap();
    }

    #[test]
    fn s4_a_ticket_left_by_a_death_holds_nobody_up() {
        let (_dir, slots) = slots(1);
        let held = slot(slots.enter().unwrap());
        let ticket = queue(slots.enter().unwrap());
        // As SIGKILL does: the lock goes, the file stays.
        let path = ticket.path.clone();
        drop(ticket);
        fs::write(&path, "").unwrap();
        let next = queue(slots.enter().unwrap());
        assert!(!path.exists() || path == next.path);
        drop(held);
        slots.wait(next).unwrap();
    }
}
