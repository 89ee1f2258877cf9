//! What an agent's adapter found out about a turn that failed, and what would help.

use std::time::Duration;

use dacapo_core::event::AgentFault;
use dacapo_core::spec::duration_text;

use crate::messages::Messages;

pub(super) fn told(found: &AgentFault, messages: Messages) -> String {
    let m = messages;
    let with = |what: String, said: &str| if said.is_empty() { what } else { m.fault_with(&what, said) };
    match found {
        AgentFault::ModelRefused => m.agent_fault_model_refused(),
        AgentFault::AnswerCut => m.agent_fault_answer_cut(),
        AgentFault::CallsUsed => m.agent_fault_calls_used(),
        AgentFault::Cancelled => m.agent_fault_cancelled(),
        AgentFault::OtherProtocol { version, expected } => m.agent_fault_other_protocol(*version, *expected),
        AgentFault::NoSessionId => m.agent_fault_no_session_id(),
        AgentFault::NotReading => m.agent_fault_not_reading(),
        AgentFault::OutputNotKept => m.agent_fault_output_not_kept(),
        AgentFault::PathNotText { path } => m.agent_fault_path_not_text(path),
        AgentFault::NoAnswer { limit_ms } => {
            m.agent_fault_no_answer(&duration_text(Duration::from_millis(*limit_ms)))
        }
        AgentFault::NothingToUse => m.agent_fault_nothing_to_use(),
        AgentFault::EndedWith { agent, word } => m.agent_fault_ended_with(agent, word),
        AgentFault::Interrupted { agent, word } => m.agent_fault_interrupted(agent, word),
        AgentFault::RequestRefused { said } => with(m.agent_fault_request_refused(), said),
        AgentFault::Exited { agent, code, said } => with(m.agent_fault_exited(agent, *code), said),
        AgentFault::TooOld { package, said } => m.clauses(said, &m.agent_fault_install_newest(package)),
        AgentFault::OldVersion { agent } => {
            m.clauses(&m.agent_fault_old_version(agent), &m.agent_fault_update_it())
        }
        AgentFault::SharedServer { version, instead, command } => {
            m.clauses(&m.agent_fault_shared_server(version), &m.agent_fault_install_instead(instead, command))
        }
        AgentFault::ModelNotFound { model } => m.agent_fault_model_not_found(model),
        AgentFault::BadConfiguration { said } => with(m.agent_fault_bad_configuration(), said),
        AgentFault::HalfInstalled { command } => m.agent_fault_half_installed(command),
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::context;
    use dacapo_core::event::Fault;

    use super::*;

    #[test]
    fn u6_people_read_what_agents_are_told_and_then_what_would_help() {
        let (agent, said) = (|| "qwen".to_owned(), || "no".to_owned());
        for (found, helps) in [
            (AgentFault::ModelRefused, ""),
            (AgentFault::OtherProtocol { version: 2, expected: 1 }, ""),
            (AgentFault::PathNotText { path: "/w".into() }, ""),
            (AgentFault::NoAnswer { limit_ms: 300_000 }, ""),
            (AgentFault::EndedWith { agent: agent(), word: "error_max_turns".into() }, ""),
            (AgentFault::Interrupted { agent: agent(), word: "aborted".into() }, ""),
            (AgentFault::RequestRefused { said: said() }, ""),
            (AgentFault::Exited { agent: agent(), code: 3, said: said() }, ""),
            (AgentFault::BadConfiguration { said: said() }, ""),
            (
                AgentFault::TooOld { package: "@qwen-code/qwen-code".into(), said: said() },
                "; install the newest version of @qwen-code/qwen-code",
            ),
            (AgentFault::OldVersion { agent: agent() }, "; update it"),
            (
                AgentFault::SharedServer {
                    version: "x 2".into(),
                    instead: "x 1".into(),
                    command: "i x@1".into(),
                },
                "; install x 1: `i x@1`",
            ),
            (
                AgentFault::HalfInstalled { command: "node postinstall.mjs".into() },
                ": run `node postinstall.mjs` in its package",
            ),
        ] {
            let agents = context::fault(&Fault::Agent(found.clone()));
            assert_eq!(told(&found, Messages::ENGLISH), format!("{agents}{helps}"));
        }
    }
}
