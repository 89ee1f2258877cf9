//! The milestone that goes on or begins where nobody named one (M2).

use super::{ByItself as Next, MilestoneOperation, which};
use crate::App;
use crate::error::Failure;
use crate::milestones::Folder;
use crate::operations::kind::{ByItself, StartsByItself};
use crate::question::{Answers, NotYet};
use crate::trust::of_file;

pub(super) fn starts_by_itself(app: &App) -> Result<Option<StartsByItself>, Failure> {
    let (task, how, operation) = match app.next_milestone()? {
        Next::AtWork(_) | Next::Nothing => return Ok(None),
        Next::Resume(id) => {
            let operation =
                MilestoneOperation::Resume { id: id.clone(), guidance: None, rounds: None, refreeze: false };
            (id, ByItself::GoesOn, operation)
        }
        Next::Start(id) if is_trusted(app, &id)? => {
            let (developer, acceptor, checks) = (None, None, Vec::new());
            let operation = MilestoneOperation::Start { id: id.clone(), developer, acceptor, checks };
            (id, ByItself::Begins, operation)
        }
        Next::Start(_) => return Ok(None),
    };
    Ok(Some(StartsByItself { task, how, operation: operation.operation() }))
}

/// Nobody named it, so somebody must have agreed to what it says.
fn is_trusted(app: &App, id: &str) -> Result<bool, Failure> {
    let (repo, _, entry) = which::entry(app, id)?;
    let Some(Ok((text, _))) = entry.written.as_ref().map(|written| &written.read) else { return Ok(false) };
    let brought = of_file(&Folder::relative(&which::id(id)?), text);
    match app.brought(repo.toplevel(), brought.as_ref(), &Answers::default()) {
        Ok(()) => Ok(true),
        Err(NotYet::Ask(_)) => Ok(false),
        Err(NotYet::Refused(failure)) => Err(failure),
    }
}
