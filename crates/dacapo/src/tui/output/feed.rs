//! The thread that reads for a pane of output, as long as its screen is open.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dacapo_core::spec::TaskName;
use dacapo_core::store::TaskDir;

use super::reader::{Paper, Reader, Step};
use super::shared::Shared;
use crate::App;
use crate::error::Failure;
use crate::tui::effect::{Feed, Feeder, Services};
use crate::tui::live::TaskId;

/// People see no more pictures than this; what comes in between is taken together.
const FRAME: Duration = Duration::from_millis(33);

/// What is shown may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputChanged;

/// The application as seen from the repository of a task.
pub(crate) fn app_of(services: &Services, task: &TaskId) -> App {
    App { cwd: Ok(task.repo.clone().into()), ..services.app.clone() }
}

/// The directory of a task.
pub(crate) fn dir_of(services: &Services, task: &TaskId) -> Result<TaskDir, Failure> {
    let data = app_of(services, task).repository_data()?;
    let name = TaskName::parse(&task.name).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(data.task(&name))
}

/// Reads the turns of a task.
pub(super) fn of_task(shared: Shared, task: TaskId) -> Feed {
    Feed::new(shared.bell().clone(), move |services, feeder| {
        let opened = dir_of(services, &task).and_then(|dir| {
            let watched = services.hub.watch(&dir).map_err(|error| Failure::failed(error.to_string()))?;
            Ok((dir, watched))
        });
        match opened {
            Ok((dir, watched)) => {
                watched.ring(shared.bell());
                let (hub, kinds) = (services.hub.clone(), services.app.kinds);
                run(services, feeder, &shared, Paper::Task { hub, dir, kinds });
            }
            Err(failure) => {
                shared.lock().problem = Some(failure.shown(services.app.messages).to_string());
                let _ = feeder.send(OutputChanged);
            }
        }
    })
}

pub(super) fn of_patch(shared: Shared, path: PathBuf) -> Feed {
    Feed::new(shared.bell().clone(), move |services, feeder| {
        run(services, feeder, &shared, Paper::Patch(path));
    })
}

fn run(services: &Services, feeder: &Feeder, shared: &Shared, paper: Paper) {
    let mut reader = Reader::new(paper, shared.clone(), services.app.messages);
    let mut teller = Teller { last: Instant::now(), told: None };
    loop {
        let step = reader.step();
        if teller.tell(shared, feeder, step).is_none() {
            return;
        }
        if step == Step::Idle {
            if feeder.wait(None).is_err() {
                return;
            }
            // What comes within a frame is read together; a request ends the rest at once.
            shared.rest(FRAME);
            reader.news();
        }
    }
}

/// Tells the screen, but no more often than anybody can see.
struct Teller {
    last: Instant,
    told: Option<super::shared::Print>,
}

impl Teller {
    /// None: nobody listens any more.
    fn tell(&mut self, shared: &Shared, feeder: &Feeder, step: Step) -> Option<()> {
        if feeder.is_closed() {
            return None;
        }
        if step == Step::Busy && self.last.elapsed() < FRAME {
            return Some(());
        }
        let mut state = shared.lock();
        let print = state.print();
        // Told once until the screen has looked: a slow terminal does not gather a queue of messages that all say the
        // same.
        let is_news = self.told.as_ref() != Some(&print) && !std::mem::replace(&mut state.told, true);
        drop(state);
        if is_news {
            self.told = Some(print);
            self.last = Instant::now();
            feeder.send(OutputChanged).ok()?;
        }
        Some(())
    }
}
