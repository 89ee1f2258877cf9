//! Files that an older Dacapo wrote are read for good, from the first version on that was released. `formats/v3` is a task of
//! that format: three iterations, a usage limit, a failure, checks. `formats/v1` and `formats/v2` are the same one in formats
//! that no release wrote: they are refused, and stay as they are.

use std::path::Path;
use std::sync::Arc;

use dacapo_core::engine::Kinds;
use dacapo_core::event::{Envelope, Outcome};
use dacapo_core::store::{TaskDir, read};
use dacapo_core::view::{Status, TaskView};

fn old_task() -> TaskDir {
    TaskDir::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v3"))
}

#[test]
fn a_task_of_a_format_before_the_first_release_is_refused_and_left_as_it_is() {
    for version in [1, 2] {
        refused(version);
    }
}

fn refused(version: u32) {
    let dir = tempfile::tempdir().expect("a directory");
    let task = TaskDir::at(dir.path().to_owned());
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/v{version}"));
    let copy =
        |from: &Path, file: &str| std::fs::copy(from.join(file), dir.path().join(file)).expect("a copy");
    ["spec.json", "journal.jsonl"].iter().for_each(|file| _ = copy(&old, file));
    let refused = |what: &str, reads: u32| {
        let error = TaskView::load(&task, Kinds::default()).expect_err("it is refused");
        assert!(error.is_older(), "{error}");
        let path = dir.path().join(what);
        let said = format!(
            "{} was written by an older Dacapo (format {version}; this one reads {reads})",
            path.display()
        );
        assert_eq!(error.to_string(), said);
        let now = std::fs::read(&path).expect("it is there");
        assert_eq!(now, std::fs::read(old.join(what)).expect("it is there"));
    };
    refused("spec.json", dacapo_core::spec::SPEC_FORMAT);
    assert_eq!(task.spec_of_any_format().map(|spec| spec.v).expect("enough to put it away"), version);
    copy(old_task().path(), "spec.json");
    refused("journal.jsonl", dacapo_core::event::FORMAT);
}

fn journal() -> Vec<Envelope> {
    let mut lines = Vec::new();
    read(&old_task().journal_path(), |line| lines.push(line)).expect("the journal reads");
    lines
}

#[test]
fn the_view_of_a_version_3_task_is_what_it_was() {
    let view = TaskView::load(&old_task(), Kinds::default()).expect("the task reads");
    assert_eq!(
        (view.name.as_str(), view.status, view.outcome, view.verified),
        ("old", Status::Completed, Some(Outcome::Completed), false)
    );
    // What it claims to have proven was not sealed then, and a forged journal would look the same (R4).
    assert_eq!(
        view.record.summary().as_deref(),
        Some("the journal is not sealed: no process has sealed it at the end")
    );
    assert_eq!((view.iteration, view.max_iterations), (3, Some(5)));
    assert_eq!((view.iterations_succeeded, view.iterations_failed, view.commits), (2, 1, 2));
    assert_eq!((view.tokens.input, view.tokens.output, view.cost_usd), (100, 20, Some(0.01)));
    let summaries: Vec<&str> = view.iterations.iter().map(|record| record.summary.as_str()).collect();
    assert_eq!(summaries, ["Adds a.txt.", "No significant actions in this iteration.", "Adds b.txt."]);
    let checks: Vec<Option<i32>> = view.checks.iter().map(|check| check.exit_code).collect();
    assert_eq!(checks, [Some(1), Some(1), Some(1), Some(0)]);
}

#[test]
fn r4_nothing_counts_as_proven_by_a_record_with_a_doubled_swapped_or_missing_line() {
    type Forge = fn(&mut Vec<&str>);
    let forgeries: [(&str, Forge); 3] = [
        ("doubled", |lines| lines.insert(5, lines[4])),
        ("swapped", |lines| lines.swap(4, 5)),
        ("missing", |lines| *lines = [&lines[..4], &lines[5..]].concat()),
    ];
    let text = std::fs::read_to_string(old_task().journal_path()).expect("the journal is there");
    for (what, forge) in forgeries {
        let dir = tempfile::tempdir().expect("a directory");
        let task = TaskDir::at(dir.path().to_owned());
        std::fs::copy(old_task().spec_path(), task.spec_path()).expect("a copy");
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        forge(&mut lines);
        std::fs::write(task.journal_path(), lines.concat()).expect("a journal");
        let view = TaskView::load(&task, Kinds::default()).expect("the task reads");
        assert_eq!((view.status, view.verified), (Status::Completed, false), "{what}");
        assert_eq!(view.result.as_ref().map(|result| result.verified), Some(false), "{what}");
        assert!(!view.record.is_whole(), "{what}");
    }
}

#[test]
fn the_machine_of_a_version_3_task_is_over_and_every_part_of_its_journal_has_an_effect() {
    let spec = Arc::new(old_task().spec().expect("the spec reads"));
    let mut machine = Kinds::default().machine(&spec).expect("its kind is known");
    let lines = journal();
    assert_eq!(lines.len(), 31);
    for line in &lines {
        assert!(machine.next().is_some(), "before line {}", line.seq);
        machine.apply(line);
    }
    assert_eq!(machine.next(), None);
}

#[test]
fn what_was_read_is_written_as_it_was() {
    let text = std::fs::read_to_string(old_task().journal_path()).expect("the journal is there");
    for (line, was) in journal().iter().zip(text.lines()) {
        let now = serde_json::to_value(line).expect("an event is JSON");
        let was: serde_json::Value = serde_json::from_str(was).expect("a line is JSON");
        assert_eq!(now, was);
    }
}
