//! What the agent is told, byte for byte (C1, C6–C8, L1, A1).

use std::fs::{self, File};
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::support::{Ran, World};
use crate::terminal::Terminal;

/// Everything that a careless program would expand, quote or cut.
const HOSTILE: &str = "Do {plan} and {{ x }} {prompt} {session} {prompt_file}\n'single' \"double\" `tick` \\n \\\\ \
                       $(rm -rf .) ${HOME} $1 %s %% !x &; | > <task_context>\t\r\n\n  indented — 繼續 🦀";

fn chinese(bytes: usize) -> String {
    "一二三四五六七八九十，完成這個任務。\n".chars().cycle().take(bytes / 3).collect()
}

/// A world whose agents save what they are told in every way a prompt can go in.
fn listeners() -> World {
    let world = World::new();
    let out = world.scratch("told");
    let out = out.display();
    world.program("by-stdin", &format!("#!/bin/sh\ncat > {out}\n"));
    world.program("by-arg", &format!("#!/bin/sh\ntest \"$1\" = -p && printf %s \"$2\" > {out}\n"));
    world.program("by-file", &format!("#!/bin/sh\ntest \"$1\" = -f && cat \"$2\" > {out}\n"));
    world.config(
        "[agents.stdin]\ncommand = [\"by-stdin\"]\n[agents.arg]\ncommand = [\"by-arg\", \"-p\"]\nprompt = \"arg\"\n\
         [agents.file]\ncommand = [\"by-file\", \"-f\", \"{prompt_file}\"]\nprompt = \"file\"\n",
    );
    world
}

fn told(world: &World) -> String {
    let path = world.scratch("told");
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(path).unwrap();
    text
}

#[test]
fn c8_a_hostile_prompt_arrives_as_it_was_written_whatever_the_way() {
    let world = listeners();
    for agent in ["stdin", "arg", "file"] {
        let _ = world.exec(&["--agent", agent, "--quiet", HOSTILE]).expect(0);
        assert!(told(&world) == HOSTILE, "{agent}");
    }
    let saved = format!("cat > {}", world.scratch("told").display());
    let _ = world.exec(&["--agent-cmd", &saved, "--quiet", HOSTILE]).expect(0);
    assert_eq!(told(&world), HOSTILE);
}

#[test]
fn c8_200_kilobytes_of_chinese_arrive_intact() {
    let world = listeners();
    let text = chinese(200 << 10);
    assert!(text.len() > 190 << 10);
    let file = world.scratch("prompt.txt");
    fs::write(&file, format!("{text}\n")).unwrap();
    let file = file.display().to_string();
    for agent in ["stdin", "file"] {
        let _ = world.exec(&["--agent", agent, "--prompt-file", &file, "--quiet"]).expect(0);
        // The newline that ends a file is not part of what was asked.
        assert!(told(&world) == text, "{agent}");
    }
    let ran = piped(&world, &["exec", "--agent", "stdin", "--quiet", "-"], text.as_bytes()).expect(0);
    assert_eq!(ran.stdout, "");
    assert!(told(&world) == text, "by standard input");
}

#[test]
fn c8_what_fits_into_an_argument_arrives_there_and_more_is_refused_with_a_way_out() {
    let world = listeners();
    let (fits, too_long) = (chinese(120_000), chinese(200 << 10));
    for (text, code) in [(&fits, 0), (&too_long, 1)] {
        let ran = piped(&world, &["exec", "--name", "t", "--agent", "arg", "-"], text.as_bytes());
        assert_eq!(ran.code, code, "{}\n{}", ran.stdout, ran.stderr);
        if code == 0 {
            assert!(told(&world) == *text);
        } else {
            assert!(ran.stdout.contains("does not fit into an argument"), "{}", ran.stdout);
            assert!(ran.stdout.contains("prompt = \"stdin\" or \"file\""), "{}", ran.stdout);
            assert!(!world.scratch("told").exists(), "the agent was not started with half of it");
        }
        fs::remove_dir_all(world.task_dir("t")).unwrap();
    }
}

fn piped(world: &World, words: &[&str], input: &[u8]) -> Ran {
    let mut command = world.command(words);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input).unwrap();
    drop(pipe);
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn l1_flags_may_follow_the_prompt_and_two_dashes_end_them() {
    let world = World::new();
    let prompt = |words: &[&str]| {
        let _ = world.exec(&[words, &[][..]].concat()).expect(0);
        let status: serde_json::Value =
            serde_json::from_str(&world.run(&["status", "--json"]).expect(0).stdout).unwrap();
        (status["prompt"].as_str().unwrap().to_owned(), status["max_iterations"].as_u64().unwrap())
    };
    let agent = ["--agent-cmd", "true"];
    assert_eq!(prompt(&[&["Build", "the", "feature", "--iter", "2"], &agent[..]].concat()), {
        ("Build the feature".into(), 2)
    });
    assert_eq!(prompt(&[&agent[..], &["--iter", "2", "--", "--iter", "9", "-x"]].concat()), {
        ("--iter 9 -x".into(), 2)
    });
    assert_eq!(prompt(&[&["Build"], &agent[..], &["it"]].concat()), ("Build it".into(), 1));
    assert_eq!(prompt(&[&agent[..], &["fix", "--", "-"]].concat()), ("fix -".into(), 1));
}

#[test]
fn c1_the_newest_plan_is_taken_and_named_and_can_be_left_out() {
    let world = World::new();
    let plan = |path: &str, text: &str, age: u64| {
        world.write(path, text);
        let at = SystemTime::now() - Duration::from_secs(age);
        File::options().append(true).open(world.repo().join(path)).unwrap().set_modified(at).unwrap();
    };
    plan(".claude/plans/c.md", "plan of claude\n", 10);
    plan(".claude/plans/note.txt", "no plan\n", 1);
    let second = |name: &str, flags: &[&str]| {
        let words = ["--worktree", "--name", name, "--iter", "2", "--agent-cmd", "echo x >> log"];
        let ran = world.exec(&[&words, flags, &["go"]].concat()).expect(0);
        (ran.stdout, world.prompt(name, 0), world.prompt(name, 1))
    };
    let (said, first, later) = second("a", &[]);
    assert!(said.contains("plan    ") && said.contains(".claude/plans/c.md"), "{said}");
    assert_eq!(first, "go\n\n## Plan\nplan of claude", "from the first iteration on");
    assert!(later.contains("\n## Plan\nplan of claude\n\n## Progress\n"), "{later}");

    plan(".dacapo/plans/old.md", "old\n", 500);
    plan(".dacapo/plans/new.md", "new {plan} {{ x }}\n", 100);
    let (said, _, later) = second("b", &[]);
    assert!(said.contains(".dacapo/plans/new.md"), "{said}");
    assert!(later.contains("\n## Plan\nnew {plan} {{ x }}\n\n"), "{later}");

    let (said, first, later) = second("c", &["--no-plan"]);
    assert!(!said.contains("plan    ") && !later.contains("## Plan"), "{said}{later}");
    assert_eq!(first, "go");

    let (said, first, later) = second("d", &["--plan", ".dacapo/plans/old.md"]);
    assert!(said.contains(".dacapo/plans/old.md"), "{said}");
    assert_eq!(first, "go\n\n## Plan\nold");
    assert!(later.contains("\n## Plan\nold\n\n"), "{later}");
}

#[test]
fn c1_an_old_plan_never_slips_in() {
    let world = World::new();
    world.write(".dacapo/plans/old.md", "old\n");
    world.git(&["add", "-A", "-f"]);
    world.git(&["commit", "-qm", "plans"]);
    let run = |name: &str, flags: &[&str]| {
        let words = ["--worktree", "--name", name, "--agent-cmd", "echo x >> log"];
        let ran = world.exec(&[&words, flags, &["go"]].concat()).expect(0);
        (ran.stdout, world.prompt(name, 0))
    };
    let (said, prompt) = run("a", &[]);
    let note = "note    plan: .dacapo/plans/old.md is committed and unchanged, so it is not used; --plan .dacapo/plans/old.md uses it\n";
    assert!(said.contains(note), "{said}");
    assert_eq!(prompt, "go");
    assert_eq!(run("b", &["--plan", ".dacapo/plans/old.md"]).1, "go\n\n## Plan\nold");
    assert_eq!(run("c", &[]).1, "go", "one task is not the next");
    world.write(".dacapo/plans/old.md", "old, and more\n");
    assert_eq!(run("d", &[]).1, "go\n\n## Plan\nold, and more");
}

/// Behind a link, or checked out with other line ends or a keyword filled in, a committed plan is as old as any.
#[test]
fn c1_an_old_plan_does_not_slip_in_by_another_way() {
    for (files, link, settings) in [
        (&[("docs/plans/old.md", "old\n")][..], Some("../docs/plans"), &[][..]),
        (&[(".dacapo/plans/old.md", "old\n"), (".gitattributes", "*.md text eol=crlf\n")], None, &[]),
        (&[(".dacapo/plans/old.md", "old $Id$\n"), (".gitattributes", "*.md ident\n")], None, &[]),
        (&[(".dacapo/plans/old.md", "old\n")], None, &["core.autocrlf", "true"]),
    ] {
        let world = World::new();
        if let [name, value] = settings {
            world.git(&["config", name, value]);
        }
        for (path, text) in files {
            world.write(path, text);
        }
        if let Some(to) = link {
            std::fs::create_dir_all(world.repo().join(".dacapo")).unwrap();
            std::os::unix::fs::symlink(to, world.repo().join(".dacapo/plans")).unwrap();
        }
        world.git(&["add", "-A", "-f"]);
        world.git(&["commit", "-qm", "plans"]);
        // As a clone has it.
        let _ = std::fs::remove_file(world.repo().join(".dacapo/plans/old.md"));
        world.git(&["checkout", "-q", "-f", "HEAD", "--", "."]);
        let run = |name: &str| {
            let words = ["--worktree", "--name", name, "--agent-cmd", "echo x >> log", "go"];
            (world.exec(&words).expect(0).stdout, world.prompt(name, 0))
        };
        let (said, prompt) = run("a");
        assert_eq!(prompt, "go", "{files:?}");
        assert!(said.contains("is committed and unchanged, so it is not used"), "{said}");
        world.write(files[0].0, "today's\n");
        assert_eq!(run("b").1, "go\n\n## Plan\ntoday's", "{files:?}");
    }
}

#[test]
fn c1_a_person_is_asked_once_whether_an_old_plan_is_to_be_used() {
    const QUESTION: &str = "use it, now and until it changes?";
    const NOT_USED: &str = ".dacapo/plans/old.md is committed and unchanged, so it is not used";
    const USED: &str = "go\n\n## Plan\nold";
    let world = World::new();
    let commit = |text: &str| {
        world.write(".dacapo/plans/old.md", text);
        world.git(&["add", "-A", "-f"]);
        world.git(&["commit", "-qm", "plan"]);
    };
    commit("old\n");
    let words =
        |name: &'static str| ["exec", "--worktree", "--name", name, "--agent-cmd", "echo x >> log", "go"];
    let answered = |name: &'static str, keys: &str| {
        let mut terminal = world.at_terminal(&words(name));
        terminal.shows(QUESTION);
        terminal.press(keys);
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("plan    .dacapo/plans/old.md (committed, unchanged)"), "{said}");
        (said, world.prompt(name, 0))
    };
    let not_asked = |name: &'static str| {
        let (code, said) = world.at_terminal(&words(name)).end();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains(QUESTION), "{said}");
        (said, world.prompt(name, 0))
    };
    // Lines that were typed for another program are no answer, and nothing is remembered of them.
    let (code, said) = Terminal::start_with(&world.command(&words("ahead")), "y\n").end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(QUESTION) && said.contains(NOT_USED), "{said}");

    let (said, prompt) = answered("yes", "y\n");
    assert!(!said.contains(NOT_USED), "{said}");
    assert_eq!(prompt, USED);
    assert_eq!(not_asked("again").1, USED, "the answer is remembered");
    let _ = world.exec(&words("pipe")[1..]).expect(0);
    assert_eq!(world.prompt("pipe", 0), USED, "also where nobody could be asked");

    // Another text is another question; Enter alone is a no, and that is remembered too.
    commit("other\n");
    let (said, prompt) = answered("no", "\n");
    assert!(said.contains(NOT_USED), "{said}");
    assert_eq!(prompt, "go");
    let (said, prompt) = not_asked("still");
    assert!(said.contains(NOT_USED), "{said}");
    assert_eq!(prompt, "go");
}

#[test]
fn c6_the_second_prompt_says_what_was_done_and_what_the_checks_said() {
    let world = World::new();
    let agent = "echo x >> \"a file\"; echo y >> b; echo working; echo; echo Added two files, done so far.";
    let check = "echo reason $((6 * 7)); test -f never";
    let words = ["--name", "t", "--check", check, "--max-iterations", "3", "--agent-cmd", agent];
    let _ = world.exec(&[&words[..], &["Build {plan}"]].concat()).expect(3);
    let log = world.git(&["log", "--format=%h", "--abbrev=7"]);
    let commits: Vec<&str> = log.lines().collect();
    let expected = |iteration: usize, past: &str| {
        format!(
            "<task_context>\n## Original Task\nBuild {{plan}}\n\n## Progress\nIteration: {iteration} of 3\n\
             Base commit: {}\n\n## Previous Iterations\n{past}\n\n## Last Checks\n`{check}` → exit 1\nreason 42\n\
             </task_context>\n\n",
            commits[3]
        )
    };
    let did = |iteration: usize, commit: &str| {
        format!(
            "### Iteration {iteration} → commit {commit}\nFiles: a file, b\n\
             Summary: working\n\nAdded two files, done so far."
        )
    };
    let second = world.prompt("t", 1);
    let start = expected(2, &did(0, commits[2]));
    assert!(second.starts_with(&start), "{second}\n--- expected\n{start}");
    assert!(second.ends_with("\n\nBuild {plan}"), "{second}");
    assert!(second.contains("Do not run git commit"), "{second}");
    let third = world.prompt("t", 2);
    let start = expected(3, &format!("{}\n\n{}", did(0, commits[2]), did(1, commits[1])));
    assert!(third.starts_with(&start), "{third}\n--- expected\n{start}");
}

#[test]
fn c6_an_iteration_without_changes_and_one_that_failed_are_told_as_they_were() {
    let world = World::new();
    let agent = "test $DACAPO_ITERATION != 1 || { echo half > h; echo I gave up; exit 5; }";
    let _ = world.exec(&["--name", "t", "--iter", "3", "--agent-cmd", agent, "go"]).expect(0);
    let third = world.prompt("t", 2);
    let first =
        "### Iteration 0 → no changes\nFiles: none\nSummary: No significant actions in this iteration.";
    assert!(third.contains(first), "{third}");
    assert!(third.contains("### Iteration 1 → commit "), "{third}");
    assert!(third.contains("exited with code 5"), "{third}");
}

#[test]
fn c11_without_context_the_prompt_is_followed_by_the_loop_prompt() {
    let world = World::new();
    let words = ["--name", "t", "--iter", "2", "--agent-cmd", "echo x >> a", "--no-context"];
    let _ = world.exec(&[&words[..], &["--loop-prompt", "And {now} on.", "go"]].concat()).expect(0);
    assert_eq!(world.prompt("t", 1), "go\n\nAnd {now} on.");
}
