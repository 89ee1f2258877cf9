//! Threads that read and act for the loop: few, started when they are needed, and never waited for.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use dacapo_app::operations::act::OperationCanceller;

use super::effect::{Act, Job, Services};
use super::message::{Message, ScreenId};

/// Reads are short; more at once would only wait for the same disk.
const READERS: usize = 2;
/// Operations may be long: a merge runs checks. Those that wait for each other do so in their own processes.
const ACTORS: usize = 8;

/// Both kinds: a merge that takes minutes must not hold up a page that is to be shown.
pub(super) struct Workers {
    readers: Pool,
    actors: Pool,
    /// How each operation that is under way is ended.
    cancellers: Vec<Weak<OperationCanceller>>,
}

impl Workers {
    pub(super) fn new(services: Services, messages: SyncSender<Message>) -> Self {
        Self {
            readers: Pool::new(READERS, services.clone(), messages.clone()),
            actors: Pool::new(ACTORS, services, messages),
            cancellers: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, screen: ScreenId, job: Job) {
        self.readers.put(Box::new(move |services| Message::Answered { screen, answer: job.run(services) }));
    }

    pub(super) fn act(&mut self, act: Act) {
        let canceller = Arc::<OperationCanceller>::default();
        self.cancellers.retain(|under_way| under_way.strong_count() > 0);
        self.cancellers.push(Arc::downgrade(&canceller));
        self.actors.put(Box::new(move |services| {
            let app = services.app_in(act.directory.as_deref());
            let came = app.act_elsewhere_until(&act.operation, &act.answers, &canceller);
            Message::Acted { act, came: Box::new(came) }
        }));
    }

    /// Ends all operations that are under way.
    pub(super) fn cancel(&self) {
        self.cancellers.iter().filter_map(Weak::upgrade).for_each(|canceller| canceller.cancel());
    }
}

type Work = Box<dyn FnOnce(&Services) -> Message + Send>;

struct Pool {
    shared: Arc<Shared>,
    most: usize,
    services: Services,
    messages: SyncSender<Message>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    threads: usize,
    idle: usize,
    over: bool,
}

impl Pool {
    fn new(most: usize, services: Services, messages: SyncSender<Message>) -> Self {
        Self { shared: Arc::default(), most, services, messages }
    }

    fn put(&mut self, work: Work) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.push_back(work);
        // Counted under the lock: a thread that is about to sleep has not said so yet, and one too many is harmless.
        if queue.idle < queue.waiting.len() && queue.threads < self.most {
            let (shared, services) = (Arc::clone(&self.shared), self.services.clone());
            let messages = self.messages.clone();
            let thread = std::thread::Builder::new().name("worker".into());
            // Without another thread those that are there do it, a little later.
            if thread.spawn(move || shared.work(&services, &messages)).is_ok() {
                queue.threads += 1;
            }
        }
        drop(queue);
        self.shared.more.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.shared.more.notify_all();
    }
}

impl Shared {
    fn work(&self, services: &Services, messages: &SyncSender<Message>) {
        while let Some(work) = self.next() {
            if messages.send(work(services)).is_err() {
                return;
            }
        }
    }

    fn next(&self) -> Option<Work> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if queue.over {
                return None;
            }
            if let Some(work) = queue.waiting.pop_front() {
                return Some(work);
            }
            queue.idle += 1;
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}
