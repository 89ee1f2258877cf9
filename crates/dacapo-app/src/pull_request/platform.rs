//! The platforms' own programs: how each is called, and where it says what came of it.
//!
//! Values that people wrote go in as `--flag=value`: they cannot be taken for flags, and no shell sees them.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::address::Address;
use crate::config::PlatformCli;
use crate::guarded_command::{CommandEnd, CommandOutput};
use crate::messages::Messages;
use crate::present::words::shell_word;

/// In the order in which they are tried for a host that nobody knows by its name.
pub(super) const ALL: [PlatformCli; 3] = [PlatformCli::Gh, PlatformCli::Glab, PlatformCli::Tea];

/// A pull request as it is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewPullRequest<'a> {
    pub(super) address: &'a Address,
    pub(super) remote: &'a str,
    pub(super) branch: &'a str,
    pub(super) base: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) body_file: &'a Path,
    pub(super) draft: bool,
}

pub fn program(cli: PlatformCli) -> &'static str {
    match cli {
        PlatformCli::Gh => "gh",
        PlatformCli::Glab => "glab",
        PlatformCli::Tea => "tea",
    }
}

/// The program for a host whose name says what runs there.
pub(super) fn of_host(host: &str) -> Option<PlatformCli> {
    let has = |words: &[&str]| words.iter().any(|word| host.contains(word));
    if has(&["github"]) {
        Some(PlatformCli::Gh)
    } else if has(&["gitlab"]) {
        Some(PlatformCli::Glab)
    } else if has(&["gitea", "forgejo", "codeberg"]) {
        Some(PlatformCli::Tea)
    } else {
        None
    }
}

/// Asks whether it is logged in at a host.
pub(super) fn knows_host(cli: PlatformCli, host: &str) -> Vec<OsString> {
    match cli {
        PlatformCli::Gh | PlatformCli::Glab => words(cli, &["auth", "status", "--hostname", host]),
        PlatformCli::Tea => words(cli, &["login", "list", "--output", "csv"]),
    }
}

/// Reads the answer to [`knows_host`].
pub(super) fn host_is_known(cli: PlatformCli, host: &str, done: &CommandOutput) -> bool {
    let knows = done.end == CommandEnd::Code(0);
    match cli {
        PlatformCli::Gh | PlatformCli::Glab => knows,
        PlatformCli::Tea => {
            let is_end =
                |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.' && c != '-');
            let there = |(at, _): (usize, &str)| {
                is_end(done.stdout[..at].chars().next_back())
                    && is_end(done.stdout[at + host.len()..].chars().next())
            };
            knows && done.stdout.match_indices(host).any(there)
        }
    }
}

/// Lists the open pull requests of the branch.
pub(super) fn find(cli: PlatformCli, wanted: &NewPullRequest<'_>) -> Vec<OsString> {
    let head = format!("--head={}", wanted.branch);
    let source = format!("--source-branch={}", wanted.branch);
    let mut argv = match cli {
        PlatformCli::Gh => {
            words(cli, &["pr", "list", "--state=open", &head, "--json=url,headRefName,isCrossRepository"])
        }
        PlatformCli::Glab => words(cli, &["mr", "list", &source, "--output=json"]),
        PlatformCli::Tea => words(
            cli,
            &[
                "pulls",
                "list",
                "--state=open",
                "--fields=index,url,head,base",
                "--output=json",
                "--limit=100",
            ],
        ),
    };
    argv.extend(project(cli, wanted));
    argv
}

/// The address of the one that is open, by the answer to [`find`].
pub(super) fn found(cli: PlatformCli, wanted: &NewPullRequest<'_>, stdout: &str) -> Option<String> {
    let Ok(Value::Array(all)) = serde_json::from_str::<Value>(stdout.trim()) else { return None };
    let field = |one: &Value, name: &str| one.get(name).and_then(Value::as_str).map(str::to_owned);
    all.iter().find_map(|one| {
        let (head, url) = match cli {
            // Somebody else's fork may have a branch of the same name.
            PlatformCli::Gh if one.get("isCrossRepository") == Some(&Value::Bool(true)) => return None,
            PlatformCli::Gh => ("headRefName", "url"),
            PlatformCli::Glab => ("source_branch", "web_url"),
            PlatformCli::Tea => ("head", "url"),
        };
        let same = field(one, head).as_deref() == Some(wanted.branch);
        let own = match (one.get("source_project_id"), one.get("target_project_id")) {
            (Some(source), Some(target)) => source == target,
            _ => true,
        };
        if same && own { field(one, url).filter(|url| is_address(url)) } else { None }
    })
}

/// Shows an issue as JSON.
pub(super) fn issue(cli: PlatformCli, number: u64, address: &Address, remote: &str) -> Vec<OsString> {
    let number = number.to_string();
    let mut argv = match cli {
        PlatformCli::Gh => words(cli, &["issue", "view", "--json=title,body,url,number"]),
        PlatformCli::Glab => words(cli, &["issue", "view", "--output=json"]),
        PlatformCli::Tea => words(cli, &["issues", "--output=json"]),
    };
    argv.extend(project_at(cli, address, remote));
    // Last: older versions of tea take flags behind it for further arguments, and then list all issues.
    argv.push(number.into());
    argv
}

/// Title, text and address of the issue, by the answer to [`issue`].
///
/// gh and tea say `body` and `url`, glab passes on what GitLab's API says (`description`, `web_url`). All of these are read
/// from any of them, also where notices stand around the JSON, or where it is a list. An answer without a text, or about
/// another issue, is none: an agent would work on half of what was asked.
pub(super) fn issue_in(number: u64, stdout: &str) -> Option<(String, String, Option<String>)> {
    let begins = |(at, _): &(usize, &str)| *at == 0 || stdout[..*at].ends_with('\n');
    let starts = stdout.match_indices(['{', '[']).filter(begins).map(|(at, _)| at);
    let values = starts
        .filter_map(|at| serde_json::Deserializer::from_str(&stdout[at..]).into_iter::<Value>().next()?.ok());
    let issues = values.flat_map(|value| match value {
        Value::Array(all) => all,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![value],
    });
    issues.into_iter().find_map(|issue| {
        let one_of = |names: &[&str]| names.iter().find_map(|name| issue.get(name));
        let is_it = match one_of(&["number", "iid", "index"]) {
            Some(Value::Number(said)) => said.as_u64() == Some(number),
            Some(Value::String(said)) => said.parse() == Ok(number),
            Some(_) | None => true,
        };
        let title = one_of(&["title"])?.as_str().filter(|title| is_it && !title.trim().is_empty())?;
        let text = match one_of(&["body", "description"])? {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let url = one_of(&["web_url", "html_url", "url"]).and_then(Value::as_str);
        Some((title.to_owned(), text, url.filter(|url| is_address(url)).map(str::to_owned)))
    })
}

/// Opens it: the command line and what it reads.
pub(super) fn create(cli: PlatformCli, wanted: &NewPullRequest<'_>) -> (Vec<OsString>, Vec<u8>) {
    match cli {
        PlatformCli::Gh => {
            (create_with(cli, wanted, "--body-file=-".into()), wanted.body.as_bytes().to_vec())
        }
        // Only newer ones read it from a file, and none of tea's does.
        PlatformCli::Glab | PlatformCli::Tea => {
            (create_with(cli, wanted, format!("--description={}", wanted.body)), Vec::new())
        }
    }
}

fn create_with(cli: PlatformCli, wanted: &NewPullRequest<'_>, body: String) -> Vec<OsString> {
    let NewPullRequest { branch, base, title, draft, .. } = *wanted;
    let mut argv = match cli {
        PlatformCli::Gh => {
            words(cli, &["pr", "create", &format!("--head={branch}"), &format!("--base={base}")])
        }
        PlatformCli::Glab => words(
            cli,
            &[
                "mr",
                "create",
                &format!("--source-branch={branch}"),
                &format!("--target-branch={base}"),
                "--yes",
            ],
        ),
        PlatformCli::Tea => {
            words(cli, &["pulls", "create", &format!("--head={branch}"), &format!("--base={base}")])
        }
    };
    // Gitea knows drafts by this word alone.
    let title = if draft && cli == PlatformCli::Tea { format!("WIP: {title}") } else { title.to_owned() };
    argv.push(format!("--title={title}").into());
    argv.push(body.into());
    if draft && cli != PlatformCli::Tea {
        argv.push("--draft".into());
    }
    argv.extend(project(cli, wanted));
    argv
}

/// Says which project is meant: with several remotes these programs would ask, or guess.
fn project(cli: PlatformCli, wanted: &NewPullRequest<'_>) -> Option<OsString> {
    project_at(cli, wanted.address, wanted.remote)
}

fn project_at(cli: PlatformCli, address: &Address, remote: &str) -> Option<OsString> {
    match cli {
        PlatformCli::Gh => address.full_name().map(|name| format!("--repo={name}").into()),
        PlatformCli::Glab => address.full_name().map(|name| format!("--repo=https://{name}").into()),
        PlatformCli::Tea => Some(format!("--remote={remote}").into()),
    }
}

/// The address that it printed last.
pub(super) fn created(stdout: &str) -> Option<String> {
    stdout.split_whitespace().rev().find(|word| is_address(word)).map(str::to_owned)
}

fn is_address(text: &str) -> bool {
    (text.starts_with("https://") || text.starts_with("http://"))
        && text.len() < 2000
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Where the host itself offers to open one: servers say so when a branch is pushed.
pub(super) fn offered_address(push_said: &str) -> Option<String> {
    let lines = push_said.lines().filter_map(|line| line.strip_prefix("remote:"));
    lines.flat_map(str::split_whitespace).find(|word| is_address(word)).map(str::to_owned)
}

/// The command for a person, to be pasted into a shell.
pub(super) fn by_hand(cli: PlatformCli, wanted: &NewPullRequest<'_>) -> String {
    let file = shell_word(&wanted.body_file.to_string_lossy());
    let (body, after) = match cli {
        PlatformCli::Gh => (format!("--body-file={}", wanted.body_file.display()), None),
        PlatformCli::Glab | PlatformCli::Tea => {
            ("\0".to_owned(), Some(format!("--description=\"$(cat {file})\"")))
        }
    };
    let argv = create_with(cli, wanted, body);
    let words = argv.iter().map(|word| {
        let word = word.to_string_lossy();
        match &after {
            Some(after) if word == "\0" => after.clone(),
            _ => shell_word(&word),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// As the beginning of a sentence.
pub(super) fn how_to_log_in(cli: PlatformCli, messages: Messages) -> String {
    match cli {
        PlatformCli::Gh => messages.pr_log_in("gh auth status", "gh auth login"),
        PlatformCli::Glab => messages.pr_log_in("glab auth status", "glab auth login"),
        PlatformCli::Tea => messages.pr_log_in("tea login list", "tea login add"),
    }
}

fn words(cli: PlatformCli, words: &[&str]) -> Vec<OsString> {
    std::iter::once(program(cli)).chain(words.iter().copied()).map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(address: &Address) -> NewPullRequest<'_> {
        NewPullRequest {
            address,
            remote: "origin",
            branch: "dacapo/x",
            base: "main",
            title: "it's --draft; $(rm)",
            body: "line\n",
            body_file: Path::new("/d a/pull-request.md"),
            draft: true,
        }
    }

    #[test]
    fn s12_what_is_pasted_into_a_shell_is_what_we_would_have_run() {
        let address = Address::parse("git@github.com:o/r.git");
        let title = "--title='it'\\''s --draft; $(rm)'";
        assert_eq!(
            by_hand(PlatformCli::Gh, &wanted(&address)),
            format!(
                "gh pr create --head=dacapo/x --base=main {title} '--body-file=/d a/pull-request.md' --draft --repo=github.com/o/r"
            )
            .replace(title, "'--title=it'\\''s --draft; $(rm)'")
        );
        let glab = by_hand(PlatformCli::Glab, &wanted(&address));
        assert!(glab.contains(" --description=\"$(cat '/d a/pull-request.md')\" --draft"), "{glab}");
        let tea = by_hand(PlatformCli::Tea, &wanted(&address));
        assert!(tea.contains("'--title=WIP: it") && tea.ends_with(" --remote=origin"), "{tea}");
    }

    #[test]
    fn s12_only_the_own_open_one_is_taken_for_it() {
        let address = Address::parse("/srv/r");
        let wanted = wanted(&address);
        let theirs = r#"[{"url":"https://h/1","headRefName":"dacapo/x","isCrossRepository":true}]"#;
        assert_eq!(found(PlatformCli::Gh, &wanted, theirs), None);
        let ours = theirs.replace("true", "false");
        assert_eq!(found(PlatformCli::Gh, &wanted, &ours).as_deref(), Some("https://h/1"));
        let glab = r#"[{"web_url":"https://h/2","source_branch":"dacapo/x","source_project_id":1,"target_project_id":1}]"#;
        assert_eq!(found(PlatformCli::Glab, &wanted, glab).as_deref(), Some("https://h/2"));
        assert_eq!(found(PlatformCli::Glab, &wanted, &glab.replace("_id\":1,", "_id\":9,")), None);
        let tea = r#"[{"index":"1","url":"https://h/3","head":"other:dacapo/x"},{"url":"https://h/4","head":"dacapo/x"}]"#;
        assert_eq!(found(PlatformCli::Tea, &wanted, tea).as_deref(), Some("https://h/4"));
        for nonsense in ["", "{}", "[1]", "[{\"url\":\"javascript:x\",\"headRefName\":\"dacapo/x\"}]"] {
            assert_eq!(found(PlatformCli::Gh, &wanted, nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn s12_the_address_is_read_from_what_each_prints() {
        for (said, url) in [
            ("https://github.com/o/r/pull/7\n", Some("https://github.com/o/r/pull/7")),
            (
                "!3 t (dacapo/x)\n https://gitlab.com/o/r/-/merge_requests/3\n\n",
                Some("https://gitlab.com/o/r/-/merge_requests/3"),
            ),
            (
                "  #1 t\n\n@me wants to merge\n\nhttps://codeberg.org/o/r/pulls/1\n",
                Some("https://codeberg.org/o/r/pulls/1"),
            ),
            ("done", None),
        ] {
            assert_eq!(created(said).as_deref(), url);
        }
        let said = "remote: \nremote: Create a pull request for 'x' by visiting:\nremote:   https://h/o/r/pull/new/x\n";
        assert_eq!(offered_address(said).as_deref(), Some("https://h/o/r/pull/new/x"));
    }

    #[test]
    fn s17_an_issue_is_read_as_each_prints_it_and_nothing_else_is() {
        let read =
            |said: &str| issue_in(7, said).map(|(title, text, url)| (title, text, url.unwrap_or_default()));
        let issue = |text: &str, url: &str| Some(("Login fails".to_owned(), text.to_owned(), url.to_owned()));
        for (said, expected) in [
            // gh, glab, tea.
            (
                r#"{"body":"Steps","number":7,"title":"Login fails","url":"https://h/7"}"#,
                issue("Steps", "https://h/7"),
            ),
            (
                r#"{"id":991,"iid":7,"title":"Login fails","description":"Steps","web_url":"https://h/7","_links":{"self":"https://h/api"}}"#,
                issue("Steps", "https://h/7"),
            ),
            (
                "{\n\t\"id\": 991,\n\t\"index\": 7,\n\t\"title\": \"Login fails\",\n\t\"body\": \"\",\n\t\"url\": \"https://h/7\"\n}\n",
                issue("", "https://h/7"),
            ),
            // Notices around it, an API's null, a list of strings.
            ("NOTE: [a] newer {x}\n{\"title\":\"Login fails\",\"body\":null}\nbye\n", issue("", "")),
            (
                r#"[{"index":"6","title":"no","body":"x"},{"index":"7","title":"Login fails","body":"Steps","url":"javascript:x"}]"#,
                issue("Steps", ""),
            ),
        ] {
            assert_eq!(read(said), expected, "{said}");
        }
        for said in [
            "",
            "{}",
            "7",
            "# #7 Login fails (open)\n@me created\n\nSteps\n",
            "Error: invalid field 'description'",
            r#"{"title":"Login fails","url":"https://h/7"}"#,
            r#"{"title":"Login fails","body":["Steps"]}"#,
            r#"{"title":" ","body":"Steps"}"#,
            r#"{"number":8,"title":"Login fails","body":"Steps"}"#,
            r#"[{"index":"7","title":"Login fails","state":"open"}]"#,
            r#"{"title":"Login fails","body":"cut o"#,
        ] {
            assert_eq!(read(said), None, "{said}");
        }
    }

    #[test]
    fn s12_a_host_is_known_whole() {
        let done = |text: &str| CommandOutput {
            end: CommandEnd::Code(0),
            stdout: text.into(),
            stderr: String::new(),
        };
        for (list, known) in [
            ("\"n\",\"https://git.example.org\",\"git.example.org\"\n", true),
            ("\"n\",\"https://git.example.org:3000/\"", true),
            ("\"n\",\"https://my-git.example.org\"", false),
            ("\"n\",\"https://git.example.org.evil\"", false),
        ] {
            assert_eq!(host_is_known(PlatformCli::Tea, "git.example.org", &done(list)), known, "{list}");
        }
    }
}
