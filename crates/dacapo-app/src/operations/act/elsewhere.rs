//! An operation in a process of its own: `dacapo __do` reads a [`Call`] on standard input and writes JSON lines: what happens
//! beside it as it happens, and last what came of it ([`Line`]).

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdout, Command, Stdio};

use dacapo_core::merge::Halt;
use serde::{Deserialize, Serialize};

use super::{Operation, OperationCanceller, OperationResult};
use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::note::{Note, Notes};
use crate::question::{Answers, NotYet, Question};

/// What makes our program do one operation.
pub const ARGUMENT: &str = "__do";

/// No line is longer: the longest ones hold texts of a repository that a user is asked about.
const LONGEST_LINE: u64 = 16 << 20;

/// How much of what is no line of ours is quoted.
const QUOTED: usize = 200;

/// What the process is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    #[serde(flatten)]
    pub operation: Operation,
    /// What the user has decided so far.
    #[serde(default)]
    pub answers: Answers,
}

/// What it says, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// Something happened meanwhile.
    Note(Note),
    /// It is done; nothing follows.
    Done(OperationResult),
    /// The user must decide something first; nothing has changed, and nothing follows.
    Ask(Question),
    /// It was refused, or failed; nothing follows.
    Failed(Failure),
}

impl App {
    /// The work of the process: carries a call out, and says what happens to `say` as it happens. What can be ended in good order
    /// is given to `heed` when it begins. The exit code.
    pub fn answer_call(
        self,
        call: &[u8],
        say: impl Fn(&Line) + Clone + Send + Sync + 'static,
        heed: &dyn Fn(&Halt) -> Result<(), Failure>,
    ) -> u8 {
        let listener = say.clone();
        let app = App { notes: Notes::new(move |note| listener(&Line::Note(note.clone()))), ..self };
        let came = serde_json::from_slice::<Call>(call)
            .map_err(|error| {
                NotYet::Refused(Failure::usage(crate::messages::say(|m| {
                    m.act_call_unreadable(&error.to_string())
                })))
            })
            .and_then(|call| app.act_heeding(&call.operation, &call.answers, heed));
        let (last, code) = match came {
            Ok(done) => (Line::Done(done), 0),
            Err(NotYet::Ask(question)) => (Line::Ask(*question), 0),
            Err(NotYet::Refused(error)) => {
                let code = error.exit_code();
                (Line::Failed(error), code)
            }
        };
        say(&last);
        code
    }

    /// Does it in a short process of its own, with this user's environment and directory, and waits for that; what happens
    /// meanwhile is passed on as it happens. This process takes no lock, and keeps nothing: it may live long, and start whatever
    /// else it likes meanwhile.
    pub fn act_elsewhere(&self, operation: &Operation, answers: &Answers) -> Result<OperationResult, NotYet> {
        self.act_elsewhere_until(operation, answers, &OperationCanceller::default())
    }

    /// The same, until `canceller` ends it. What happens until then is passed on, and so is what came of it where the process
    /// still says it: a merge that was ended tells what has come home.
    pub fn act_elsewhere_until(
        &self,
        operation: &Operation,
        answers: &Answers,
        canceller: &OperationCanceller,
    ) -> Result<OperationResult, NotYet> {
        let unable = |message: &dyn Fn(Messages) -> String| {
            Failure::failed(say(message)).kept(say(|m| m.act_kept_on_record()))
        };
        let call = Call { operation: operation.clone(), answers: answers.clone() };
        let call =
            serde_json::to_vec(&call).map_err(|error| unable(&|m| m.act_not_written(&error.to_string())))?;
        let cancelled = || unable(&|m| m.act_cancelled());
        if canceller.is_cancelled() {
            return Err(cancelled().into());
        }
        let mut command = Command::new(&self.program);
        command.arg0("dacapo").arg(ARGUMENT).current_dir(self.here()?);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        // Standard error would be written over the screen of the surface.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|error| unable(&|m| m.act_not_started(&error.to_string())))?;
        // Registered before anything is read, and dropped before `wait`: in between the child's id cannot be reused,
        // so a cancel never signals a stranger.
        let ends = canceller.ends(&child);
        // One that is gone already has said why, or nothing; the pipe closes with this.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&call));
        let heard = child.stdout.take().map(|output| self.hear(output)).unwrap_or_default();
        // From here on its number may become somebody else's.
        drop(ends);
        let status = child.wait().map_err(|error| unable(&|m| m.act_not_waited(&error.to_string())))?;
        match heard.last {
            Some(came) => came,
            None if canceller.is_cancelled() => Err(cancelled().into()),
            None => {
                let status = status.to_string();
                Err(match heard.strange {
                    Some(strange) => unable(&|m| m.act_strange_reply(&status, &strange)),
                    None => unable(&|m| m.act_no_reply(&status)),
                }
                .into())
            }
        }
    }

    /// Reads until nobody has the pipe any more. Whatever is printed, no more than one line is held.
    fn hear(&self, output: ChildStdout) -> Heard {
        let mut heard = Heard::default();
        let mut output = BufReader::new(output);
        while let Ok(Some(line)) = next_line(&mut output, LONGEST_LINE) {
            match serde_json::from_slice(&line) {
                Ok(Line::Note(note)) => self.note(&note),
                Ok(Line::Done(done)) => heard.last = Some(Ok(done)),
                Ok(Line::Ask(question)) => heard.last = Some(Err(NotYet::Ask(Box::new(question)))),
                Ok(Line::Failed(error)) => heard.last = Some(Err(NotYet::Refused(error))),
                Err(_) if heard.strange.is_some() => {}
                Err(_) => {
                    let text = String::from_utf8_lossy(&line[..line.len().min(4 * QUOTED)]);
                    heard.strange = Some(text.trim().chars().take(QUOTED).collect());
                }
            }
        }
        heard
    }
}

/// What a process said.
#[derive(Default)]
struct Heard {
    /// What came of the operation.
    last: Option<Result<OperationResult, NotYet>>,
    /// The first line that is none of ours.
    strange: Option<String>,
}

/// The next line, without what it has beyond `most` bytes; none at the end.
fn next_line(input: &mut impl BufRead, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == most {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A program that is called in place of ours, and what is heard of it.
    fn heard_of(script: &str) -> (Result<OperationResult, NotYet>, Vec<Note>) {
        heard_until(script, &OperationCanceller::default(), |_| {})
    }

    /// The same with somebody who may cancel it when something is heard.
    fn heard_until(
        script: &str,
        canceller: &OperationCanceller,
        hear: fn(&OperationCanceller),
    ) -> (Result<OperationResult, NotYet>, Vec<Note>) {
        let dir = tempfile::tempdir().unwrap();
        // What is called is `sh __do`.
        std::fs::write(dir.path().join(ARGUMENT), format!("cat > /dev/null\n{script}\n")).unwrap();
        let kept = Arc::<Mutex<Vec<Note>>>::default();
        let keep = Arc::clone(&kept);
        let app = App {
            env: [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into_iter().collect(),
            cwd: Ok(dir.path().to_owned()),
            user_dir: None,
            program: "/bin/sh".into(),
            supervision: dacapo_core::process::Supervision::default(),
            kinds: dacapo_core::engine::Kinds::default(),
            messages: crate::messages::Messages::ENGLISH,
            notes: {
                let canceller = canceller.clone();
                Notes::new(move |note| {
                    keep.lock().unwrap().push(note.clone());
                    hear(&canceller);
                })
            },
        };
        let operation = Operation::Untell { task: "t".into() };
        let came = app.act_elsewhere_until(&operation, &Answers::default(), canceller);
        let notes = kept.lock().unwrap().clone();
        (came, notes)
    }

    fn failure_of(script: &str) -> String {
        let Err(NotYet::Refused(failure)) = heard_of(script).0 else { panic!("{script}") };
        assert_eq!(
            failure.kept.as_ref().map(|kept| kept.english()),
            Some("everything that is on record; dacapo list shows the status of each task")
        );
        failure.message.to_string()
    }

    #[test]
    fn notes_come_before_what_came_of_it() {
        let (came, notes) = heard_of(
            r#"echo '{"note":{"note":"not_listening","task":"t"}}'
               echo '{"done":{"done":"trusted"}}'"#,
        );
        assert_eq!(came.unwrap(), OperationResult::Trusted);
        assert_eq!(notes, [Note::NotListening { task: "t".into() }]);
    }

    #[test]
    fn a_process_that_dies_or_babbles_is_a_failure_that_says_so() {
        for (script, message) in [
            ("exit 3", "its process ended without a reply (exit status: 3)"),
            ("kill -9 $$", "its process ended without a reply (signal: 9 (SIGKILL))"),
            ("echo oops; echo more", "its process gave no reply (exit status: 0), but said: oops"),
            (
                r#"echo '{"note":{"note":"not_listening","task":"t"}}'; exit 1"#,
                "its process ended without a reply (exit status: 1)",
            ),
            (
                r#"printf '{"done":{"done":"tru'"#,
                r#"its process gave no reply (exit status: 0), but said: {"done":{"done":"tru"#,
            ),
        ] {
            assert_eq!(failure_of(script), format!("the operation failed: {message}"), "{script}");
        }
        let endless = failure_of("head -c 40000000 /dev/zero | tr '\\0' x");
        assert!(endless.ends_with(&"x".repeat(QUOTED)) && endless.len() < 2 * QUOTED, "{endless}");
        let (came, _) = heard_of(r#"echo warning: x; echo '{"done":{"done":"trusted"}}'"#);
        assert_eq!(came.unwrap(), OperationResult::Trusted);
    }

    /// Says that it is under way, and then waits for as long as it is let.
    const UNDER_WAY: &str = r#"echo '{"note":{"note":"not_listening","task":"t"}}'; sleep 300 > /dev/null &
        wait $!"#;

    #[test]
    fn what_is_cancelled_ends_in_its_own_way_and_says_what_came_of_it() {
        let says = r#"says() { kill $!; echo '{"done":{"done":"trusted"}}'; exit; }; trap says TERM"#;
        let orderly = format!("{says}\n{UNDER_WAY}");
        let canceller = OperationCanceller::default();
        let (came, notes) = heard_until(&orderly, &canceller, OperationCanceller::cancel);
        assert_eq!((came.unwrap(), notes.len()), (OperationResult::Trusted, 1));
    }

    #[test]
    fn what_knows_no_orderly_end_is_ended_all_the_same() {
        let message = |came: Result<OperationResult, NotYet>| match came {
            Err(NotYet::Refused(failure)) => failure.message.to_string(),
            came => panic!("{came:?}"),
        };
        let canceller = OperationCanceller::default();
        let simple = format!("trap 'kill $!' EXIT; {UNDER_WAY}");
        let (came, _) = heard_until(&simple, &canceller, OperationCanceller::cancel);
        assert_eq!(message(came), "the operation was cancelled");
        // The wish lasts: what has not begun does not begin.
        let (came, notes) = heard_until(UNDER_WAY, &canceller, |_| {});
        assert_eq!((message(came).as_str(), notes.len()), ("the operation was cancelled", 0));
    }

    #[test]
    fn of_a_long_line_only_so_much_is_held() {
        let mut input = io::Cursor::new(b"abcdef\nxy\n\nz".to_vec());
        let mut next = || next_line(&mut input, 3).unwrap().map(|line| String::from_utf8(line).unwrap());
        let lines: Vec<_> = std::iter::from_fn(&mut next).collect();
        assert_eq!(lines, ["abc", "xy\n", "\n", "z"]);
    }
}
