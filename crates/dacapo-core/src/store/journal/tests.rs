use super::*;
use crate::event::Notice;

fn line(seq: u64) -> Envelope {
    Envelope {
        v: FORMAT,
        seq,
        at: "2026-11-15T10:00:00Z".parse().unwrap(),
        elapsed_ms: 7,
        task: "t".into(),
        came_at: None,
        event: Event::Notice(Notice::Said { message: format!("n\n{seq} 繼") }),
    }
}

fn written(lines: u64) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    std::fs::write(&path, "").unwrap();
    let mut journal = Journal::open(&path, |_| panic!("empty")).unwrap();
    for seq in 0..lines {
        journal.append(&line(seq)).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    (dir, path, bytes)
}

fn reopened(path: &Path) -> Result<Vec<u64>, JournalError> {
    let mut seen = Vec::new();
    let mut journal = Journal::open(path, |line| seen.push(line.seq))?;
    let next = seen.last().map_or(0, |seq| seq + 1);
    assert_eq!(journal.next_seq(), next);
    journal.append(&line(next))?;
    let mut all = Vec::new();
    read(path, |line| all.push(line.seq)).unwrap();
    assert_eq!(all, (0..=next).collect::<Vec<_>>(), "whatever was cut, the journal goes on without a gap");
    Ok(seen)
}

#[test]
fn r1_a_journal_cut_at_every_byte_is_read_up_to_its_last_whole_line() {
    let (_dir, path, bytes) = written(4);
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let whole = bytes[..cut].iter().filter(|&&b| b == b'\n').count() as u64;
        assert_eq!(reopened(&path).unwrap(), (0..whole).collect::<Vec<_>>(), "cut at {cut}");
    }
}

#[test]
fn r2_zeros_at_the_end_are_a_torn_line() {
    let (_dir, path, bytes) = written(2);
    for tail in [&[0_u8; 500][..], &[0, 0, 0, b'\n'][..]] {
        std::fs::write(&path, [&bytes[..], tail].concat()).unwrap();
        assert_eq!(reopened(&path).unwrap(), [0, 1]);
    }
}

#[test]
fn r2_damage_in_the_middle_is_named_and_nothing_is_overwritten() {
    let (_dir, path, bytes) = written(3);
    let mut broken = bytes;
    broken[10] = 0;
    std::fs::write(&path, &broken).unwrap();
    let error = Journal::open(&path, |_| ()).unwrap_err();
    assert!(error.to_string().contains("damaged at line 1"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), broken);
}

#[test]
fn a_newer_format_is_refused_even_where_its_events_are_unknown() {
    let (_dir, path, bytes) = written(1);
    let newer = b"{\"v\":99,\"seq\":1,\"type\":\"unheard_of\"}\n";
    std::fs::write(&path, [&bytes[..], newer].concat()).unwrap();
    assert!(matches!(Journal::open(&path, |_| ()), Err(JournalError::Newer { found: 99, .. })));
}

#[test]
fn an_older_format_is_refused_and_left_as_it_is() {
    let (_dir, path, _) = written(0);
    let lines = [
        (1, r#"{"v":1,"seq":0,"at":"2026-11-15T10:00:00Z","elapsed_ms":0,"task":"t","type":"queued"}"#),
        (
            1,
            r#"{"v":1,"seq":0,"at":"2026-11-15T10:00:00Z","elapsed_ms":0,"task":"t","type":"notice","message":"a"}"#,
        ),
        (
            2,
            r#"{"v":2,"seq":0,"at":"2026-11-15T10:00:00Z","elapsed_ms":0,"task":"t","type":"no_commit","iteration":0,"commit":"a"}"#,
        ),
    ];
    for (version, line) in lines {
        // Torn behind it, which is nothing that a writer would mend here.
        let text = format!("{line}\n{{\"v\":1,");
        std::fs::write(&path, &text).unwrap();
        let refused = Journal::open(&path, |_| ());
        assert!(matches!(refused, Err(JournalError::Older { found, .. }) if found == version), "{line}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_reader_at_the_end_goes_on_when_more_comes() {
    let (_dir, path, bytes) = written(2);
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(reader.next_line().unwrap().unwrap().seq, 0);
    assert!(reader.next_line().unwrap().is_none());
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(&bytes[bytes.len() - 3..])
        .unwrap();
    assert_eq!(reader.next_line().unwrap().unwrap().seq, 1);
    assert!(reader.next_line().unwrap().is_none());
}

/// The record as it is after one of its lines was moved, doubled or removed.
fn numbered(seqs: &[u64]) -> Record {
    let (_dir, path, _) = written(0);
    let text: String =
        seqs.iter().map(|seq| format!("{}\n", serde_json::to_string(&line(*seq)).unwrap())).collect();
    std::fs::write(&path, text).unwrap();
    let mut seen = Vec::new();
    let record = read(&path, |line| seen.push(line.seq)).unwrap();
    assert_eq!(seen, seqs, "nothing is left out");
    let journal = Journal::open(&path, |_| ()).unwrap();
    assert_eq!(*journal.record(), record);
    assert_eq!(journal.next_seq(), seqs.iter().max().map_or(0, |last| last + 1), "no number is given twice");
    record
}

#[test]
fn r4_doubled_swapped_and_missing_lines_are_named() {
    assert_eq!(numbered(&[]), Record::Whole);
    assert_eq!(numbered(&[0, 1, 2]), Record::Whole);
    let faults = |seqs: &[u64]| numbered(seqs).faults().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        faults(&[0, 1, 1, 2]),
        ["line 3 of the journal: event 1 is doubled or out of order (expected 2)"]
    );
    assert_eq!(
        faults(&[0, 2, 1, 3]),
        [
            "line 2 of the journal: event 1 is missing",
            "line 3 of the journal: event 1 is doubled or out of order (expected 3)",
            "line 4 of the journal: event 2 is missing",
        ]
    );
    assert_eq!(faults(&[0, 4]), ["line 2 of the journal: events 1 to 3 are missing"]);
    assert_eq!(faults(&[1]), ["line 1 of the journal: event 0 is missing"]);
    let many = numbered(&[7; 50]);
    assert_eq!(many.faults().len() as u64 + many.unlisted(), 50);
    assert_eq!(many.summary().unwrap(), "line 1 of the journal: events 0 to 6 are missing (and 49 more)");
}

fn unknown(seq: u64) -> String {
    format!(
        "{{\"v\":3,\"seq\":{seq},\"at\":\"2026-11-15T10:00:00Z\",\"task\":\"t\",\"type\":\"unheard_of\",\"x\":[1]}}\n"
    )
}

#[test]
fn r4_events_of_unknown_types_are_kept_and_skipped_wherever_they_are() {
    let (_dir, path, _) = written(0);
    // Whether a step is known is for its kind to say.
    let step = "{\"v\":3,\"seq\":3,\"at\":\"2026-11-15T10:00:00Z\",\"elapsed_seconds\":0.001,\"task\":\"t\",\"type\":\"milestone\",\"step\":\"unheard_of\"}\n";
    let known = |seq| format!("{}\n", serde_json::to_string(&line(seq)).unwrap());
    let text = [unknown(0), known(1), unknown(2), step.to_owned(), known(4), unknown(5)].concat();
    std::fs::write(&path, &text).unwrap();
    let mut seen = Vec::new();
    let mut journal = Journal::open(&path, |line| seen.push(line.seq)).unwrap();
    assert_eq!(seen, [1, 3, 4]);
    assert_eq!(*journal.record(), Record::Whole);
    journal.append(&line(6)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text + &known(6), "nothing is cut off");
}

#[test]
fn r2_a_last_line_that_is_json_and_no_event_is_damage_and_not_cut_off() {
    let known = serde_json::to_string(&line(2)).unwrap();
    for bad in [
        "{}",
        "[]",
        "3",
        "{\"v\":3,\"seq\":2}",
        "{\"v\":3,\"type\":\"unheard_of\"}",
        &known.replace("\"message\"", "\"massage\""),
        &known.replace("\"at\"", "\"ta\""),
    ] {
        let (_dir, path, bytes) = written(2);
        let text = [&bytes[..], bad.as_bytes(), b"\n"].concat();
        std::fs::write(&path, &text).unwrap();
        let error = Journal::open(&path, |_| ()).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 3, .. }), "{bad}: {error}");
        assert_eq!(std::fs::read(&path).unwrap(), text, "{bad}");
    }
}

#[test]
fn r4_what_somebody_else_writes_behind_the_last_line_is_put_aside_and_said() {
    let (dir, path, _) = written(0);
    let mut journal = Journal::open(&path, |_| ()).unwrap();
    journal.append(&line(0)).unwrap();
    let foreign = format!("{}\nhalf a li", serde_json::to_string(&line(1)).unwrap());
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(foreign.as_bytes()).unwrap();
    let error = journal.append(&line(1)).unwrap_err();
    let JournalError::Foreign { kept, .. } = &error else { panic!("{error}") };
    assert_eq!(std::fs::read_to_string(kept).unwrap(), foreign);
    assert!(kept.starts_with(dir.path()));
    assert!(!journal.record().is_whole());
    journal.append(&line(1)).unwrap();
    journal.append(&line(2)).unwrap();
    let mut seen = Vec::new();
    read(&path, |line| seen.push(line)).unwrap();
    assert_eq!(seen, [line(0), line(1), line(2)]);
}

#[test]
fn r4_a_journal_that_is_changed_or_cut_in_place_stops_its_writer_and_says_so_for_good() {
    type Act = fn(&mut Vec<u8>);
    let acts: [(&str, Act); 3] = [
        ("changed", |bytes| bytes[60] ^= 1),
        ("cut", |bytes| drop(bytes.split_off(bytes.len() / 2 + 1))),
        ("longer", |bytes| bytes.splice(0..0, *b"{}\n").for_each(drop)),
    ];
    for (what, act) in acts {
        let (_dir, path, _) = written(0);
        let mut journal = Journal::open(&path, |_| ()).unwrap();
        journal.append(&line(0)).unwrap();
        journal.append(&line(1)).unwrap();
        // Within a tick of the kernel's clock the times alone would not tell.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut bytes = std::fs::read(&path).unwrap();
        act(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let error = journal.append(&line(2)).unwrap_err();
        assert!(matches!(error, JournalError::Altered { .. }), "{what}: {error}");
        let now = std::fs::read(&path).unwrap();
        assert!(now.starts_with(&bytes) && now.len() > bytes.len(), "{what}: nothing is overwritten");
        assert!(now.ends_with(b"}\n") && String::from_utf8_lossy(&now).contains("record_altered"), "{what}");
    }
}

#[test]
fn r4_a_hard_link_or_a_touch_is_no_change() {
    let (dir, path, _) = written(0);
    let mut journal = Journal::open(&path, |_| ()).unwrap();
    journal.append(&line(0)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::hard_link(&path, dir.path().join("backup")).unwrap();
    File::open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    journal.append(&line(1)).unwrap();
    assert!(journal.record().is_whole());
}

fn task_with_journal() -> (tempfile::TempDir, TaskDir) {
    let dir = tempfile::tempdir().unwrap();
    let task = TaskDir::at(dir.path().to_owned());
    std::fs::write(task.journal_path(), "").unwrap();
    (dir, task)
}

fn started(seq: u64) -> Envelope {
    let event = Event::TaskStarted { pid: 1, version: "0".into() };
    Envelope { at: Timestamp::now(), event, ..line(seq) }
}

/// The end of a real task that was proven.
fn proven(seq: u64) -> Envelope {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/v3/journal.jsonl");
    let mut last = None;
    read(Path::new(real), |line| last = Some(line)).unwrap();
    let event = last.unwrap().event;
    assert!(matches!(&event, Event::TaskFinished(result) if result.verified));
    Envelope { event, ..line(seq) }
}

#[test]
fn r4_only_an_end_that_its_own_process_sealed_counts_as_proven() {
    let (_dir, task) = task_with_journal();
    let mut journal = Journal::open(&task.journal_path(), |_| ()).unwrap();
    journal.begin_seal().unwrap();
    journal.append(&started(0)).unwrap();
    journal.seal(&proven(1)).unwrap();
    assert!(read_sealed(&task, |_| ()).unwrap().is_whole(), "nothing is claimed yet");
    journal.append(&proven(1)).unwrap();
    journal.append(&line(2)).unwrap();
    assert_eq!(read_sealed(&task, |_| ()).unwrap(), Record::Whole);
    // Taken up again, and ended by a forger.
    journal.append(&started(3)).unwrap();
    assert!(read_sealed(&task, |_| ()).unwrap().is_whole());
    journal.append(&proven(4)).unwrap();
    let record = read_sealed(&task, |_| ()).unwrap();
    assert!(record.summary().unwrap().starts_with("the journal is not sealed"), "{record:?}");
}

#[test]
fn r4_a_forged_journal_of_a_process_that_was_killed_is_not_believed() {
    let (_dir, task) = task_with_journal();
    let mut journal = Journal::open(&task.journal_path(), |_| ()).unwrap();
    journal.begin_seal().unwrap();
    journal.append(&started(0)).unwrap();
    drop(journal);
    let forged: String = [started(0), proven(1)]
        .iter()
        .map(|line| format!("{}\n", serde_json::to_string(line).unwrap()))
        .collect();
    std::fs::write(task.journal_path(), forged).unwrap();
    assert!(!read_sealed(&task, |_| ()).unwrap().is_whole());
}

#[test]
fn r4_only_the_spec_of_the_first_line_is_vouched_for() {
    let (_dir, task) = task_with_journal();
    std::fs::write(task.spec_path(), "asked").unwrap();
    let asked = crate::store::sha256(b"asked");
    let faults = || read_sealed(&task, |_| ()).unwrap();
    assert!(task.vouch_for(&asked).is_ok(), "nothing is on record yet");
    let created = |seq, spec_sha256: Option<&str>| Envelope {
        event: Event::TaskCreated {
            kind: "loop".into(),
            agent: "sh".into(),
            prompt: "go".into(),
            max_iterations: None,
            completion_promise: None,
            looping: true,
            spec_sha256: spec_sha256.map(str::to_owned),
        },
        ..line(seq)
    };
    let mut journal = Journal::open(&task.journal_path(), |_| ()).unwrap();
    journal.append(&created(0, Some(&asked))).unwrap();
    assert!(task.vouch_for(&asked).is_ok() && faults().is_whole());
    // A second such line changes nothing.
    let edited = crate::store::sha256(b"edited");
    journal.append(&created(1, Some(&edited))).unwrap();
    std::fs::write(task.spec_path(), "edited").unwrap();
    assert_eq!(faults().faults(), [Fault::Spec(SpecDoubt::Changed)]);
    let error = task.vouch_for(&edited).unwrap_err().to_string();
    assert!(error.starts_with("spec.json was changed after the task was created"), "{error}");
    // A first line that says nothing, or is gone, vouches for nothing.
    for first in [created(0, None), line(0)] {
        std::fs::write(task.journal_path(), "").unwrap();
        Journal::open(&task.journal_path(), |_| ()).unwrap().append(&first).unwrap();
        assert!(task.vouch_for(&asked).unwrap_err().to_string().starts_with("the journal does not say"));
    }
}
