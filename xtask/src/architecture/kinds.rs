//! A kind of task is a module and a line: nothing outside its rooms asks which kind a task is. What counts are names of
//! things and names in quotes (a key, a file, a ref); sentences for people may say it.

use super::list::{Found, Rule};
use super::source::Crate;

pub(super) const RULE: Rule = Rule {
    file: "milestone-words.txt",
    fault: "more `milestone` in names of code outside the kind's rooms than is listed",
    remedy: "Put it into the kind's own module, behind the trait that all kinds have. In a file that moved, move its line too.",
};

/// Where the kind is at home: what is named after it, on the side of the engine and on that of each surface.
const ROOMS: [&str; 4] = ["/milestone.rs", "/milestone/", "/milestones.rs", "/milestones/"];

/// Sentences for people, by name: these may say it.
const TABLE: [&str; 2] = ["/src/messages.rs", "/src/messages/"];

/// How often, by file.
pub(super) fn find(crates: &[Crate]) -> Found {
    let mut found = Found::new();
    for file in crates.iter().flat_map(|one| &one.files) {
        if ROOMS.iter().chain(&TABLE).any(|room| file.path.contains(room)) {
            continue;
        }
        for (word, line) in &file.words {
            let finding = found.entry(file.path.clone()).or_default();
            *finding.times.get_or_insert(0) += 1;
            finding.notes.push(format!("line {line}: {word}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{File, scan};
    use super::*;

    #[test]
    fn counted_by_file_and_free_in_its_rooms() {
        let file = |path: &str| {
            let (file, _) = scan("use a::Milestone;\nfn f(m: Milestone) {}", &[]).unwrap();
            File { path: path.to_owned(), ..file }
        };
        let files = ["crates/a.rs", "crates/dacapo-core/src/task/milestone/plan.rs"].map(file).into();
        let found = find(&[Crate { name: "a".to_owned(), files }]);
        let found: Vec<_> =
            found.into_iter().map(|(key, finding)| (key, finding.times, finding.notes)).collect();
        let notes = ["line 1: Milestone", "line 2: Milestone"].map(str::to_owned).to_vec();
        assert_eq!(found, [("crates/a.rs".to_owned(), Some(2), notes)]);
    }
}
