use super::*;

fn line(seq: u64) -> Envelope {
    Envelope {
        v: FORMAT,
        seq,
        at: "2026-11-15T10:00:00Z".parse().unwrap(),
        elapsed_ms: 7,
        task: "t".into(),
        event: Event::Notice { message: format!("n\n{seq} 繼") },
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
    let newer = b"{\"v\":2,\"seq\":1,\"type\":\"unheard_of\"}\n";
    std::fs::write(&path, [&bytes[..], newer].concat()).unwrap();
    assert!(matches!(Journal::open(&path, |_| ()), Err(JournalError::Newer { found: 2, .. })));
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
        "{{\"v\":1,\"seq\":{seq},\"at\":\"2026-11-15T10:00:00Z\",\"task\":\"t\",\"type\":\"unheard_of\",\"x\":[1]}}\n"
    )
}

#[test]
fn r4_events_of_unknown_types_are_kept_and_skipped_wherever_they_are() {
    let (_dir, path, _) = written(0);
    let step = "{\"v\":1,\"seq\":3,\"at\":\"2026-11-15T10:00:00Z\",\"elapsed_ms\":1,\"task\":\"t\",\"type\":\"milestone\",\"step\":\"unheard_of\"}\n";
    let known = |seq| format!("{}\n", serde_json::to_string(&line(seq)).unwrap());
    let text = [unknown(0), known(1), unknown(2), step.to_owned(), known(4), unknown(5)].concat();
    std::fs::write(&path, &text).unwrap();
    let mut seen = Vec::new();
    let mut journal = Journal::open(&path, |line| seen.push(line.seq)).unwrap();
    assert_eq!(seen, [1, 4]);
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
        "{\"v\":1,\"seq\":2}",
        "{\"v\":1,\"type\":\"unheard_of\"}",
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
