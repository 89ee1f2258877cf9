//! Flags become the request that every surface makes.

use std::io::Read as _;

use dacapo_app::config::Timespan;
use dacapo_app::error::Failure;
use dacapo_app::messages::{Messages, say};
use dacapo_app::request::{self, Driven, TaskRequest};
use dacapo_core::spec::SessionMode;

use super::{Exec, Session};

impl Exec {
    /// Who drives the task.
    pub(crate) fn driven(&self) -> Driven {
        Driven::foreground(!self.background)
    }

    /// What is asked for, without the prompt: that may have to be waited for.
    pub(crate) fn task_request(&self) -> Result<TaskRequest, Failure> {
        let span = |flag: &str, text: &Option<String>| -> Result<Option<Timespan>, Failure> {
            text.as_deref().map(|text| request::duration(flag, text).map(Timespan::from)).transpose()
        };
        Ok(TaskRequest {
            prompt: None,
            issue: self.issue,
            name: self.name.clone(),
            agent: self.agent.clone(),
            agent_cmd: self.agent_cmd.clone(),
            model: self.model.clone(),
            approval: self.approval.map(Into::into),
            session: self.session.map(|session| match session {
                Session::Fresh => SessionMode::Fresh,
                Session::Resume => SessionMode::Resume,
            }),
            iter: self.iter.as_deref().map(request::count).transpose()?,
            time: self.time.as_deref().map(|text| request::time(text).map(Timespan::from)).transpose()?,
            max_iterations: self.max_iterations,
            max_failures: self.max_failures,
            stall: self.stall,
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            turn_timeout: span("--turn-timeout", &self.turn_timeout)?,
            idle_timeout: span("--idle-timeout", &self.idle_timeout)?,
            max_wait: span("--max-wait", &self.max_wait)?,
            until: self.until.clone(),
            checks: self.check.clone(),
            project_checks: self.checks,
            hidden_checks: self.hidden_check.clone(),
            check_timeout: span("--check-timeout", &self.check_timeout)?,
            no_baseline: self.no_baseline,
            proof: self.proof.map(Into::into),
            tests: self.tests.map(Into::into),
            sandbox: self.sandbox,
            worktree: match (self.worktree, self.noworktree) {
                (_, true) => Some(false),
                (true, false) => Some(true),
                (false, false) => None,
            },
            base: self.base.clone(),
            with_changes: self.with_changes,
            allow_dirty: self.allow_dirty,
            pr: self.pull_request().map(str::to_owned),
            env: self.env.iter().cloned().collect(),
            plan: self.plan.clone(),
            no_plan: self.no_plan,
            no_context: self.no_context,
            no_commit: self.no_commit,
            no_summary: self.no_summary,
            summary_max_tokens: self.summary_max_tokens,
            context_max_tokens: self.context_max_tokens,
            commit_message_model: self.commit_message_model.clone(),
            summary_model: self.summary_model.clone(),
            loop_prompt: self.loop_prompt.clone(),
        })
    }

    /// The prompt: words, a file, or standard input. None: none was given.
    pub(crate) fn read_prompt(&self) -> Result<Option<String>, Failure> {
        let bytes = match (&self.prompt_file, self.prompt.as_slice()) {
            (Some(path), _) => std::fs::read(path).map_err(|error| {
                let (path, error) = (path.display().to_string(), error.to_string());
                Failure::usage(say(|m| m.prompt_unreadable(&path, &error)))
                    .kept(say(Messages::kept_nothing_started))
                    .hint(say(Messages::prompt_file_or_stdin))
            })?,
            (None, [dash]) if dash == "-" => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut bytes);
                read.map_err(|error| {
                    let error = error.to_string();
                    Failure::usage(say(|m| m.prompt_stdin_unreadable(&error)))
                        .kept(say(Messages::kept_nothing_started))
                        .hint(say(|m| m.prompt_from_file("--prompt-file FILE")))
                })?;
                bytes
            }
            (None, []) => return Ok(None),
            (None, words) => words.join(" ").into_bytes(),
        };
        String::from_utf8(bytes).map(Some).map_err(|_| {
            Failure::usage(say(Messages::prompt_not_utf8))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::hint_convert_to_utf8))
        })
    }
}
