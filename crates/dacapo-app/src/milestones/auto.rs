//! Which milestone goes on or begins when nobody names one (M2).

use dacapo_core::spec::TaskName;
use jiff::Timestamp;

/// What is to be done with a milestone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auto {
    /// Its process is gone: it goes on.
    Resume(TaskName),
    Start(TaskName),
}

/// A milestone that may go on or begin by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidate {
    /// It was begun, and its process is gone.
    Gone { id: TaskName, begun: Timestamp },
    /// It is pending and has `auto_start: true`.
    Pending {
        id: TaskName,
        /// What its front matter says.
        created: Option<Timestamp>,
        /// When its file was first committed.
        first_commit: Option<Timestamp>,
        /// When its file was last changed.
        modified: Option<Timestamp>,
    },
}

/// The one whose turn it is: what was begun before what was not, then the oldest; of the same age by ID.
pub fn next(candidates: &[Candidate]) -> Option<Auto> {
    let oldest = candidates.iter().min_by_key(|candidate| match candidate {
        Candidate::Gone { id, begun } => (false, *begun, id.as_str()),
        Candidate::Pending { id, created, first_commit, modified } => {
            // One of unknown age has waited for the shortest time that can be thought of.
            let since = created.or(*first_commit).or(*modified).unwrap_or(Timestamp::MAX);
            (true, since, id.as_str())
        }
    })?;
    Some(match oldest {
        Candidate::Gone { id, .. } => Auto::Resume(id.clone()),
        Candidate::Pending { id, .. } => Auto::Start(id.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> TaskName {
        TaskName::parse(name).unwrap()
    }

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(second).unwrap())
    }

    fn pending(name: &str, ages: [Option<Timestamp>; 3]) -> Candidate {
        let [created, first_commit, modified] = ages;
        Candidate::Pending { id: id(name), created, first_commit, modified }
    }

    #[test]
    fn m2_the_oldest_pending_one_starts() {
        let started = |all: &[Candidate]| match next(all) {
            Some(Auto::Start(id)) => id.to_string(),
            other => panic!("{other:?}"),
        };
        // The front matter, else the first commit, else the file; whatever the others say.
        let all = [
            pending("front", [at(30), at(1), at(1)]),
            pending("commit", [None, at(20), at(1)]),
            pending("file", [None, None, at(25)]),
        ];
        assert_eq!(started(&all), "commit");
        assert_eq!(started(&[all[0].clone(), all[2].clone()]), "file");
        assert_eq!(started(&all[..1]), "front");
        assert_eq!(started(&[pending("b", [at(1); 3]), pending("a", [at(1); 3])]), "a");
        assert_eq!(started(&[pending("unknown", [None; 3]), pending("known", [None, None, at(9)])]), "known");
    }

    #[test]
    fn m2_what_was_begun_goes_on_first() {
        let gone = |name: &str, second| Candidate::Gone { id: id(name), begun: at(second).unwrap() };
        let all = [pending("old", [at(1); 3]), gone("later", 90), gone("first", 80)];
        assert_eq!(next(&all), Some(Auto::Resume(id("first"))));
        assert_eq!(next(&[]), None);
    }
}
