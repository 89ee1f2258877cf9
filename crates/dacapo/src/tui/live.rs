//! The tasks that are followed, as the newest news has them.

use dacapo_app::operations::list::{Listed, Scope};
use dacapo_app::present::listing::Entry;
use dacapo_core::overview::Brief;

use crate::error::Failure;

/// All tasks of the scope, as they are now.
pub(crate) struct Tasks {
    pub(crate) scope: Scope,
    pub(crate) state: State,
    /// Sorted by repository and name.
    pub(crate) entries: Vec<Entry>,
    /// How many there are in repositories that are not followed.
    pub(crate) elsewhere: usize,
}

/// How much is known.
pub(crate) enum State {
    Loading,
    Known,
    /// The tasks cannot be read.
    Failed(Failure),
}

pub(crate) struct News {
    pub(crate) scope: Scope,
    pub(crate) listed: Result<Listed, Failure>,
}

/// Which task: a name is unique in its repository alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TaskId {
    /// The checkout it was asked for in.
    pub(crate) repo: String,
    pub(crate) name: String,
}

impl TaskId {
    pub(crate) fn of(brief: &Brief) -> Self {
        Self { repo: brief.repo.clone(), name: brief.name.clone() }
    }

    pub(crate) fn is(&self, brief: &Brief) -> bool {
        brief.name == self.name && brief.repo == self.repo
    }
}

impl Tasks {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, state: State::Loading, entries: Vec::new(), elsewhere: 0 }
    }

    /// Takes news in; those of a scope that was left meanwhile are none.
    pub(crate) fn take(&mut self, news: News) {
        if news.scope != self.scope {
            return;
        }
        match news.listed {
            Ok(Listed { entries, elsewhere, .. }) => {
                self.entries = entries;
                self.elsewhere = elsewhere;
                self.state = State::Known;
            }
            Err(failure) => self.state = State::Failed(failure),
        }
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<&Entry> {
        self.entries.iter().find(|entry| id.is(&entry.brief))
    }
}
