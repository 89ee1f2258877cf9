use dacapo_core::event::{NeedKind, Outcome, StopDetail, StopReason};
use dacapo_core::git::Oid;
use dacapo_core::view::CurrentStep;
use unicode_width::UnicodeWidthStr as _;

use self::milestones::milestone;
use super::*;
use crate::present::words::GOOD;

mod chinese;
mod columns;
mod data;
mod milestones;

fn oid(digit: char) -> Option<Oid> {
    Some(Oid::parse(&digit.to_string().repeat(40)).unwrap())
}

/// A task that has ended in a worktree of its own, with commits.
fn brief(name: &str, status: Status) -> Brief {
    let ended = |outcome| (Some(outcome), Some(StopReason::Iterations));
    let (outcome, stop_reason) = match status {
        Status::Completed => ended(Outcome::Completed),
        Status::Stopped => ended(Outcome::MaxReached),
        Status::Failed => ended(Outcome::Failed),
        Status::Cancelled => ended(Outcome::Cancelled),
        Status::Queued | Status::Running | Status::Waiting | Status::Paused | Status::Interrupted => {
            (None, None)
        }
    };
    Brief {
        name: name.into(),
        repo: "/home/ada/app".into(),
        status,
        outcome,
        stop_reason,
        verified: false,
        tests: None,
        broken_record: None,
        red: false,
        left_by_hand: 0,
        elapsed_seconds: 0.0,
        last_at: None,
        doing: None,
        prompt: String::new(),
        needs: None,
        detail: None,
        iteration: 4,
        max_iterations: Some(10),
        cost_usd: None,
        agent: "claude".into(),
        waiting_until: None,
        created_at: "2026-11-15T10:00:00Z".parse().unwrap(),
        queued_at: None,
        finished_at: None,
        own_branch: Some(format!("refs/heads/dacapo/{name}")),
        merged_into: None,
        pull_request: None,
        base_commit: oid('a'),
        last_commit: oid('b'),
        kind: "loop".into(),
        own: None,
    }
}

fn entry(brief: Brief) -> Entry {
    Entry { brief, radar: None, occupies: None }
}

fn frame(width: Option<usize>) -> Frame {
    Frame {
        width,
        now: "2026-11-16T02:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
        done: DoneTasks::Counted,
        sizes: Sizes::Large,
        scope: Scope::Here { everywhere: 0 },
        messages: Messages::ENGLISH,
    }
}

fn shown(entries: &[Entry], frame: &Frame) -> String {
    anstream::adapter::strip_str(&list(entries, frame)).to_string()
}

#[test]
fn s4_who_waits_is_shown_in_the_order_of_the_row() {
    let queued = |name: &str, at: &str| {
        entry(Brief { queued_at: Some(at.parse().unwrap()), ..brief(name, Status::Queued) })
    };
    let entries = [
        queued("resumed-later", "2026-11-15T12:00:02Z"),
        queued("first", "2026-11-15T12:00:00Z"),
        queued("second", "2026-11-15T12:00:01Z"),
    ];
    let list = shown(&entries, &frame(None));
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names[..3], ["first", "second", "resumed-later"], "{list}");
}

fn sketch() -> Vec<Entry> {
    vec![
        entry(Brief {
            waiting_until: Some("2026-11-16T07:40:00Z".parse().unwrap()),
            cost_usd: Some(0.4),
            ..brief("deps", Status::Waiting)
        }),
        entry(Brief { iteration: 10, red: true, cost_usd: Some(4.5), ..brief("docs", Status::Stopped) }),
        Entry {
            radar: Some(Radar::Clean),
            ..entry(Brief { verified: true, cost_usd: Some(1.2), ..brief("tests", Status::Completed) })
        },
        entry(Brief {
            needs: Some(NeedKind::Rejections { times: 3, reason: "no rate limit".into() }),
            ..brief("auth", Status::Paused)
        }),
    ]
}

#[test]
fn s14_as_sketched() {
    let here = Frame { scope: Scope::Here { everywhere: 9 }, ..frame(Some(80)) };
    insta::assert_snapshot!(shown(&sketch(), &here), @r#"
    NEEDS YOU  auth   rejected 3×: no rate limit         dacapo status auth
    READY      tests  ✓ proven $1.20, merges cleanly     dacapo merge tests
    STOPPED    docs   10 of 10, still red, $4.50         dacapo resume docs --iter 5
    RUNNING    deps   4/10, waiting until 07:40 (claude limit),…  dacapo attach deps
    4 tasks · 22 iterations · $6.10 · this repository (--all: 9)
    "#);
    let piped = Frame { width: None, ..here };
    insta::assert_snapshot!(shown(&sketch(), &piped), @r#"
    NEEDS YOU  auth   rejected 3×: no rate limit                       dacapo status auth
    READY      tests  ✓ proven $1.20, merges cleanly                   dacapo merge tests
    STOPPED    docs   10 of 10, still red, $4.50                       dacapo resume docs --iter 5
    RUNNING    deps   4/10, waiting until 07:40 (claude limit), $0.40  dacapo attach deps
    4 tasks · 22 iterations · $6.10 · this repository (--all: 9)
    "#);
}

#[test]
fn l18_a_question_of_an_agent_is_shown_whole_with_how_to_answer_it() {
    let asks = |name: &str, question: &str| {
        entry(Brief {
            needs: Some(NeedKind::Blocked { question: question.into() }),
            ..brief(name, Status::Paused)
        })
    };
    let long = "Which key: the blue one or the red one? It must be known before the tests can be run at all.";
    let mut entries = sketch();
    entries.extend([asks("key", "Which key?"), asks("long", long), asks(&"n".repeat(60), long)]);
    insta::assert_snapshot!(shown(&entries, &frame(Some(80))), @r#"
    NEEDS YOU  auth   rejected 3×: no rate limit    dacapo status auth
    NEEDS YOU  key    Which key?                    dacapo resume key "your answer"
    NEEDS YOU  long   Which key: the blue one or the red one? It must be known
                      before the tests can be run at all.
               dacapo resume long "your answer"
    NEEDS YOU  nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                      Which key: the blue one or the red one? It must be known
                      before the tests can be run at all.
               dacapo resume \
               nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn \
               "your answer"
    READY      tests  ✓ proven $1.20, merges cleanly  dacapo merge tests
    STOPPED    docs   10 of 10, still red, $4.50    dacapo resume docs --iter 5
    RUNNING    deps   4/10, waiting until 07:40 (claude limit),…  dacapo attach deps
    7 tasks · 34 iterations · $6.10 · this repository
    "#);
    insta::assert_snapshot!(shown(&entries[4..], &frame(None)), @r#"
    NEEDS YOU  key                                                           Which key?  dacapo resume key "your answer"
    NEEDS YOU  long                                                          Which key: the blue one or the red one? It must be known before the tests can be run at all.  dacapo resume long "your answer"
    NEEDS YOU  nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn  Which key: the blue one or the red one? It must be known before the tests can be run at all.  dacapo resume nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn "your answer"
    3 tasks · 12 iterations · this repository
    "#);
    insta::assert_snapshot!(shown(&entries[5..], &frame(Some(40))), @r#"
    NEEDS YOU  long  Which key: the blue one
                     or the red one? It must
                     be known before the
                     tests can be run at
                     all.
               dacapo resume \
               long "your answer"
    NEEDS YOU  nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                     Which key: the blue one
                     or the red one? It must
                     be known before the
                     tests can be run at
                     all.
               dacapo resume \
               nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn \
               "your answer"
    2 tasks · 8 iterations · this repository
    "#);
}

#[test]
fn s14_every_way_to_stand_has_its_group_and_its_command() {
    let stopped = |name: &str, outcome| Brief { outcome: Some(outcome), ..brief(name, Status::Stopped) };
    let mut second = brief("second", Status::Queued);
    second.created_at = "2026-11-15T11:00:00Z".parse().unwrap();
    let entries = [
        entry(second),
        entry(brief("first", Status::Queued)),
        entry(Brief { max_iterations: None, ..brief("runs", Status::Running) }),
        entry(Brief { waiting_until: None, ..brief("probes", Status::Waiting) }),
        entry(Brief {
            waiting_until: Some("2026-11-18T07:40:00Z".parse().unwrap()),
            ..brief("waits", Status::Waiting)
        }),
        entry(brief("cut", Status::Interrupted)),
        entry(brief("held", Status::Paused)),
        entry(brief("ended", Status::Cancelled)),
        entry(stopped("late", Outcome::TimeElapsed)),
        entry(Brief { stop_reason: Some(StopReason::LimitWait), ..stopped("limit", Outcome::TimeElapsed) }),
        entry(stopped("poor", Outcome::BudgetExhausted)),
        entry(stopped("circles", Outcome::Stalled)),
        entry(brief("capped", Status::Stopped)),
        entry(brief("broken", Status::Failed)),
        entry(Brief {
            detail: Some(StopDetail::said("not logged in: run claude /login\nmore")),
            ..brief("login", Status::Failed)
        }),
        Entry { radar: Some(Radar::Task("proven".into())), ..entry(brief("claimed", Status::Completed)) },
        Entry {
            radar: Some(Radar::Branch("refs/heads/main".into())),
            occupies: Some(1_234_000_000),
            ..entry(Brief { verified: true, ..brief("proven", Status::Completed) })
        },
    ];
    insta::assert_snapshot!(shown(&entries, &frame(None)), @r"
    READY      claimed  finished, unverified, conflicts with proven       dacapo merge claimed
    READY      proven   ✓ proven, conflicts with main, 1.2 GB             dacapo merge proven
    STOPPED    cut      4 of 10, interrupted                              dacapo resume cut
    STOPPED    held     4 of 10, paused                                   dacapo resume held
    STOPPED    ended    4 of 10, cancelled                                dacapo resume ended
    STOPPED    late     4 of 10, time is up                               dacapo resume late
    STOPPED    limit    4 of 10, usage limit lasts too long               dacapo resume limit
    STOPPED    poor     4 of 10, budget used up                           dacapo resume poor
    STOPPED    circles  4 of 10, no progress                              dacapo resume circles --iter 5
    STOPPED    capped   4 of 10, not done                                 dacapo resume capped --iter 5
    STOPPED    broken   4 of 10, failed                                   dacapo status broken
    STOPPED    login    failed: not logged in: run claude /login          dacapo status login
    RUNNING    runs     4 iterations                                      dacapo attach runs
    RUNNING    probes   4/10, waiting (claude limit)                      dacapo attach probes
    RUNNING    waits    4/10, waiting until 2026-11-18 07:40 (claude limit)  dacapo attach waits
    QUEUED     first    waiting for a slot                                dacapo attach first
    QUEUED     second   waiting for a slot                                dacapo attach second
    17 tasks · 68 iterations · 1.2 GB on disk · this repository
    ");
}

#[test]
fn s14_a_running_task_says_for_how_long_what_it_does_and_what_was_asked() {
    let works = Brief {
        elapsed_seconds: 72.0,
        last_at: Some("2026-11-16T01:58:00Z".parse().unwrap()),
        doing: Some(CurrentStep::Agent { agent: "claude".into() }),
        prompt: "Fix the failing tests\nof the parser".into(),
        ..brief("fix", Status::Running)
    };
    let entries = [
        entry(Brief {
            prompt: "修复登录页面的所有测试，并且不要改变接口".into(),
            ..brief("task", Status::Running)
        }),
        entry(works),
        entry(brief("a-name-that-was-made-from-a-long-prompt", Status::Running)),
        entry(Brief {
            needs: Some(NeedKind::Resume { by: Some("dacapo pause".into()) }),
            ..brief("held", Status::Paused)
        }),
        entry(Brief { left_by_hand: 2, verified: true, ..brief("touched", Status::Completed) }),
    ];
    insta::assert_snapshot!(shown(&entries, &frame(Some(80))), @r#"
    STOPPED    held     4 of 10, paused by you        dacapo resume held
    STOPPED    touched  2 uncommitted files left by…  dacapo resume touched --iter 1
    RUNNING    task     4/10: 修复登录页面的所有测…   dacapo attach task
    RUNNING    fix      4/10, 3m12s, claude working…  dacapo attach fix
    RUNNING    a-name-that-was-made-from-a-long-prompt
                        4/10   dacapo attach a-name-that-was-made-from-a-long-prompt
    5 tasks · 20 iterations · this repository
    "#);
    let piped = shown(&entries, &frame(None));
    assert!(piped.contains("4/10, 3m12s, claude working: Fix the failing tests  "), "{piped}");
}

#[test]
fn s14_sizes_that_were_asked_for_are_shown_however_small() {
    let small = Entry { occupies: Some(20_000_000), ..entry(brief("small", Status::Stopped)) };
    assert!(!shown(std::slice::from_ref(&small), &frame(None)).contains("MB"));
    let asked = Frame { sizes: Sizes::All, ..frame(None) };
    let text = shown(&[small], &asked);
    assert!(text.contains("not done, 20.0 MB") && text.contains("20.0 MB on disk"), "{text}");
}

#[test]
fn s14_what_needs_nothing_any_more_is_one_line() {
    let done = |name: &str| Brief { verified: true, ..brief(name, Status::Completed) };
    let entries = [
        entry(Brief { merged_into: Some("refs/heads/main".into()), ..done("merged") }),
        // Stopped, and merged all the same.
        entry(Brief { merged_into: Some("refs/heads/main".into()), ..brief("halfway", Status::Stopped) }),
        entry(Brief { own_branch: None, ..done("here") }),
        entry(Brief { last_commit: oid('a'), verified: false, ..done("idle") }),
    ];
    insta::assert_snapshot!(shown(&entries, &frame(Some(80))), @r#"
    DONE       merged and 3 more  2 merged, 1 in your checkout, 1 wit…  dacapo prune
    4 tasks · 16 iterations · this repository
    "#);
    insta::assert_snapshot!(shown(&entries[2..3], &frame(Some(80))), @r#"
    DONE       here  ✓ proven, in your checkout  dacapo list --done
    1 task · 4 iterations · this repository
    "#);
    let each = Frame { done: DoneTasks::Shown, ..frame(Some(80)) };
    insta::assert_snapshot!(shown(&entries, &each), @r#"
    DONE       merged   merged into main, ✓ proven        dacapo status merged
    DONE       halfway  merged into main, stopped         dacapo status halfway
    DONE       here     ✓ proven, in your checkout        dacapo status here
    DONE       idle     finished, unverified, no changes  dacapo status idle
    4 tasks · 16 iterations · this repository
    "#);
}

#[test]
fn s14_only_proof_is_green() {
    let green = format!("{GOOD}");
    let coloured = list(&[entry(brief("claimed", Status::Completed))], &frame(Some(80)));
    assert!(!coloured.contains(&green), "{coloured:?}");
    let proven = Brief { verified: true, ..brief("proven", Status::Completed) };
    assert!(list(&[entry(proven)], &frame(Some(80))).contains(&format!("{green}✓ proven")));
}

#[test]
fn s14_of_all_repositories_each_has_its_own_part() {
    let entries = [
        entry(brief("a", Status::Running)),
        entry(Brief { repo: "/srv/ot\u{1b}[2Jher".into(), ..brief("a", Status::Completed) }),
        entry(brief("b", Status::Completed)),
    ];
    let all = Frame { scope: Scope::Everywhere, ..frame(Some(80)) };
    insta::assert_snapshot!(shown(&entries, &all), @r#"
    /home/ada/app
    READY      b  finished, unverified  dacapo merge b
    RUNNING    a  4/10                  dacapo attach a
    /srv/ot [2Jher
    READY      a  finished, unverified  dacapo merge a
    3 tasks · 12 iterations · all repositories
    "#);
}

#[test]
fn s14_a_terminal_is_never_too_narrow_and_no_command_is_cut() {
    let long = "a".repeat(64);
    let question =
        "為什麼這個測試失敗？\u{1b}[2J\u{7}請決定要不要繼續，或者放棄這個任務並重新開始。".repeat(3);
    let entries = [
        entry(Brief { iteration: 10, red: true, ..brief(&long, Status::Stopped) }),
        entry(Brief {
            needs: Some(NeedKind::Permission { question: question.clone() }),
            ..brief("auth", Status::Paused)
        }),
        entry(Brief {
            needs: Some(NeedKind::Permission { question }),
            ..brief(&format!("b{}", &long[..40]), Status::Paused)
        }),
        Entry {
            radar: Some(Radar::Branch("very/".repeat(30))),
            occupies: Some(3_000_000_000),
            ..entry(Brief { verified: true, cost_usd: Some(1234.5), ..brief("ready", Status::Completed) })
        },
        entry(Brief {
            merged_into: Some("main".into()),
            ..brief(&format!("c{}", &long[..60]), Status::Completed)
        }),
    ];
    for width in 60..200 {
        let text = shown(&entries, &Frame { scope: Scope::Here { everywhere: 1009 }, ..frame(Some(width)) });
        // A name of 64 behind the indent needs 75.
        let most = text.lines().map(|line| line.width()).max().unwrap();
        assert!(most <= width.max(75), "{most} columns at {width}:\n{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        let joined = text.replace(" \\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for command in [
            format!("dacapo resume --iter 5 {long}"),
            "dacapo status auth".into(),
            format!("dacapo status b{}", &long[..40]),
            "dacapo merge ready".into(),
            "dacapo list --done".into(),
        ] {
            let other = format!("dacapo resume {long} --iter 5");
            assert!(
                joined.contains(&command) || (command.contains("resume") && joined.contains(&other)),
                "{command}\n{text}"
            );
        }
    }
    insta::assert_snapshot!(shown(&entries, &frame(Some(80))), @r#"
    NEEDS YOU  auth   為什麼這個測試失敗？ [2J 請決定要不要繼續…  dacapo status auth
    NEEDS YOU  baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
                      為什麼這個測試失敗？ [2J 請決定要不要繼續，或者放棄這個任務並…
               dacapo status baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    READY      ready  ✓ proven $1234.50, conflicts with very/ve…  dacapo merge ready
    STOPPED    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
                      10 of 10, still red
               dacapo resume --iter 5 \
               aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    DONE       caaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
                      merged into main, finished, unverified      dacapo list --done
    5 tasks · 26 iterations · $1234.50 · 3.0 GB on disk · this repository
    "#);
}

#[test]
fn r4_a_broken_record_is_marked() {
    let broken = Some("line 3 of the journal: event 1 is missing".to_owned());
    let entries = [entry(Brief { broken_record: broken, ..brief("auth", Status::Completed) })];
    let text = list(&entries, &frame(None));
    assert!(text.contains("finished, unverified, record broken"), "{text}");
}

#[test]
fn s14_what_a_task_does_is_cut_to_its_column() {
    let works = Brief {
        prompt: "Make every test of the parser pass without changing what it accepts".into(),
        ..brief("fix", Status::Running)
    };
    let stopped = brief("docs", Status::Stopped);
    let text = shown(&[entry(works), entry(stopped)], &frame(Some(80)));
    let columns: Vec<usize> = text.lines().filter_map(|line| line.find("dacapo")).collect();
    assert_eq!(columns.len(), 2, "{text}");
    let widths: Vec<usize> =
        text.lines().filter_map(|line| line.split_once("dacapo")).map(|(before, _)| before.width()).collect();
    assert_eq!(widths[0], widths[1], "{text}");
}
