//! An issue as the prompt, by each platform's own program (S17).

use crate::bad_input::refused;
use crate::requests::spec;
use crate::support::World;

const AGENT: &str = "cat > /dev/null; date >> log; echo did it";

#[test]
fn s17_an_issue_is_the_prompt() {
    let world = World::with_remote("https://github.com/owner/name.git");
    world.platform(
        "gh",
        "for n; do :; done; case \"$1 $2 $n\" in 'issue view 12') printf '%s' '{\"title\":\"Login fails\",\"body\":\"Steps:\\r\\n1. open\",\"url\":\"https://github.com/owner/name/issues/12\"}';; *) echo 'could not resolve to an issue' >&2; exit 1;; esac",
    );
    let words = ["spawn", "--issue", "12", "--iter", "1", "--agent-cmd", AGENT];
    let ran = world.run(&words).expect(0);
    assert!(
        ran.stdout.contains("the prompt is issue 12: Login fails (https://github.com/"),
        "{}",
        ran.stdout
    );
    let _ = world.run(&["wait"]).expect(0);
    assert_eq!(world.tasks(), ["login-fails"]);
    assert_eq!(spec(&world, "login-fails")["prompt"], "Login fails\n\nSteps:\r\n1. open");
    assert!(world.platform_calls("gh")[0].argv.contains(&"--repo=github.com/owner/name".to_owned()));
    let ran = world.run(&["spawn", "--issue", "13", "--agent-cmd", AGENT]).expect(2);
    assert!(ran.stderr.contains("could not resolve to an issue"), "{}", ran.stderr);
    let _ = world.run(&["spawn", "--issue", "12", "--agent-cmd", AGENT, "and a prompt"]).expect(2);

    let world = World::with_remote("https://github.com/owner/name.git");
    refused(&world, &["spawn", "--issue", "12", "--agent-cmd", "cat"], "needs gh for github.com/owner/name");
    let world = World::new();
    refused(&world, &["spawn", "--issue", "12", "--agent-cmd", "cat"], "this repository has no remote");
}

/// What `glab issue view N --output=json` prints: the issue as GitLab's API has it, on one line.
const GLAB: &str = r##"{"id":84061,"iid":12,"external_id":"","state":"opened","description":"Steps:\n\n1. open `/login`\n2. it's \"broken\" — 登錄","health_status":"","author":{"id":1,"state":"active","web_url":"https://gitlab.com/me","name":"Me","avatar_url":"","username":"me"},"milestone":null,"project_id":3,"assignees":[],"updated_at":"2026-01-05T09:11:02.101Z","closed_at":null,"closed_by":null,"title":"Login fails","created_at":"2026-01-05T09:10:00.001Z","moved_to_id":0,"labels":["bug"],"upvotes":0,"downvotes":0,"due_date":null,"web_url":"https://gitlab.com/group/sub/name/-/issues/12","references":{"short":"#12","relative":"#12","full":"group/sub/name#12"},"confidential":false,"weight":0,"discussion_locked":false,"issue_type":"issue","user_notes_count":0,"_links":{"self":"https://gitlab.com/api/v4/projects/3/issues/12"}}"##;

/// What `tea issues --output=json N` prints: an object of its own, indented by tabs.
const TEA: &str = "{
\t\"id\": 981,
\t\"index\": 12,
\t\"title\": \"Login fails\",
\t\"state\": \"open\",
\t\"created\": \"2025-10-31T23:59:59Z\",
\t\"labels\": [
\t\t{
\t\t\t\"name\": \"bug\",
\t\t\t\"color\": \"ee0701\",
\t\t\t\"description\": \"Something is broken\"
\t\t}
\t],
\t\"user\": \"me\",
\t\"body\": \"Steps:\\n\\n1. open `/login`\\n2. it's \\\"broken\\\" — 登錄\",
\t\"assignees\": [],
\t\"url\": \"https://codeberg.org/owner/name/issues/12\",
\t\"closedAt\": null,
\t\"comments\": []
}";

const PROMPT: &str = "Login fails\n\nSteps:\n\n1. open `/login`\n2. it's \"broken\" — 登錄";

/// A program that prints exactly this.
fn prints(text: &str) -> String {
    format!("cat <<'END'\n{text}\nEND")
}

#[test]
fn s17_glab_and_tea_are_asked_for_an_issue_in_their_own_words() {
    for (url, program, said, asked) in [
        (
            "git@gitlab.com:group/sub/name.git",
            "glab",
            GLAB,
            &["issue", "view", "--output=json", "--repo=https://gitlab.com/group/sub/name", "12"][..],
        ),
        (
            "https://codeberg.org/owner/name.git",
            "tea",
            TEA,
            &["issues", "--output=json", "--remote=origin", "12"],
        ),
    ] {
        let world = World::with_remote(url);
        world.platform(program, &prints(said));
        let ran = world.run(&["exec", "--issue", "12", "--worktree", "--agent-cmd", AGENT]).expect(0);
        assert!(ran.stdout.contains("the prompt is issue 12: Login fails (https://"), "{}", ran.stdout);
        assert_eq!(spec(&world, "login-fails")["prompt"], PROMPT);
        let calls = world.platform_calls(program);
        assert_eq!(calls.iter().map(|call| &call.argv).collect::<Vec<_>>(), [asked]);
    }
}

#[test]
fn s17_an_answer_that_is_no_issue_starts_nothing() {
    let lists =
        r#"[{"index":"12","state":"open","title":"Login fails"},{"index":"11","state":"open","title":"no"}]"#;
    for (url, program, answers, says) in [
        (
            "https://gitlab.com/o/n.git",
            "glab",
            "echo '404 Not Found' >&2; exit 1",
            "glab failed (exit 1): 404 Not Found",
        ),
        // An incident is not an issue: glab says so and succeeds.
        (
            "https://gitlab.com/o/n.git",
            "glab",
            "echo 'Incident found.' >&2",
            "unexpected answer from glab: Incident found.",
        ),
        (
            "https://codeberg.org/o/n.git",
            "tea",
            "echo 'Error: issue does not exist'",
            "unexpected answer from tea: Error: issue",
        ),
        (
            "https://codeberg.org/o/n.git",
            "tea",
            "echo '  # #12 Login fails (open)'",
            "a newer tea may answer in JSON",
        ),
        ("https://codeberg.org/o/n.git", "tea", &prints(lists), "unexpected answer from tea"),
        (
            "https://codeberg.org/o/n.git",
            "tea",
            "echo 'No gitea login configured.' >&2; exit 1",
            "tea login list says whether",
        ),
    ] {
        let world = World::with_remote(url);
        world.platform(program, answers);
        let ran = world.run(&["spawn", "--issue", "12", "--agent-cmd", AGENT]).expect(2);
        assert!(ran.stderr.contains(says), "{answers}\n{}", ran.stderr);
        assert!(
            ran.stderr.contains("nothing was started") && ran.stderr.contains("--prompt-file"),
            "{}",
            ran.stderr
        );
        assert_eq!(world.tasks(), [""; 0]);
    }
}

#[test]
fn s17_at_an_unknown_host_the_program_that_is_logged_in_there_reads_the_issue() {
    let world = World::with_remote("https://git.example.org/owner/name.git");
    world.platform("gh", "echo 'not logged in to git.example.org' >&2; exit 1");
    world.platform(
        "tea",
        &format!(
            "if test \"$1\" = login; then echo '\"x\",\"https://git.example.org\"'; else {}\nfi",
            prints(TEA)
        ),
    );
    let _ = world.run(&["exec", "--issue", "12", "--worktree", "--agent-cmd", AGENT]).expect(0);
    assert_eq!(spec(&world, "login-fails")["prompt"], PROMPT);
    world.platform("tea", "echo");
    let ran = world.run(&["spawn", "--issue", "12", "--agent-cmd", AGENT]).expect(2);
    assert!(
        ran.stderr.contains("none of gh, tea is logged in at git.example.org/owner/name"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.tasks(), ["login-fails"]);
}
