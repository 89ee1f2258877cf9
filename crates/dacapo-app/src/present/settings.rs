//! Settings in the user's language: what each means, and the table it is in.

use super::kind_words;
use crate::messages::Messages;

/// The title of a table of settings; none for one that nobody has named yet.
pub fn table(name: &str, messages: Messages) -> Option<String> {
    Some(match name {
        "agents" => messages.settings_agents(),
        "prices" => messages.settings_prices(),
        "spawn_task" => messages.settings_spawn_task(),
        "worktree" => messages.settings_worktree(),
        "repos" => messages.settings_repos(),
        "proof" => messages.settings_proof(),
        "tests" => messages.settings_tests(),
        "notify" => messages.settings_notify(),
        "pr" => messages.settings_pr(),
        // The table of a kind has its name.
        kind => return kind_words::of(kind).and_then(|own| own.settings(messages)),
    })
}

/// What a setting means, by the parts of its key; what is named by the user has any name.
pub fn about(key: &[&str], messages: Messages) -> Option<String> {
    Some(match key {
        ["agent"] => messages.about_agent(),
        ["checks"] => messages.about_checks(),
        ["language"] => messages.about_language(),
        ["glyphs"] => messages.about_glyphs(),
        ["mouse"] => messages.about_mouse(),
        ["keep_awake"] => messages.about_keep_awake(),
        ["room"] => messages.about_room(),
        ["main_branch"] => messages.about_main_branch(),
        ["editor"] => messages.about_editor(),
        ["agents", _, own] => return about_agent(own, messages),
        ["prices", _, "input"] => messages.about_price_input(),
        ["prices", _, "output"] => messages.about_price_output(),
        ["prices", _, "cached"] => messages.about_price_cached(),
        ["repos", _, "hidden_checks"] => messages.about_repos_hidden_checks(),
        ["spawn_task", "max_concurrent"] => messages.about_spawn_task_max_concurrent(),
        ["spawn_task", "context_passing", own] => return about_context(own, messages),
        ["worktree", "setup"] => messages.about_worktree_setup(),
        ["worktree", "setup_timeout"] => messages.about_worktree_setup_timeout(),
        ["worktree", "git_timeout"] => messages.about_worktree_git_timeout(),
        ["proof", "cache"] => messages.about_proof_cache(),
        ["tests", "mode"] => messages.about_tests_mode(),
        ["tests", "protect"] => messages.about_tests_protect(),
        ["notify", "desktop"] => messages.about_notify_desktop(),
        ["notify", "webhook"] => messages.about_notify_webhook(),
        ["notify", "command"] => messages.about_notify_command(),
        ["notify", "command_timeout"] => messages.about_notify_command_timeout(),
        ["pr", "cli"] => messages.about_pr_cli(),
        [kind, own] => return kind_words::of(kind).and_then(|words| words.about_setting(own, messages)),
        _ => return None,
    })
}

fn about_agent(own: &str, messages: Messages) -> Option<String> {
    Some(match own {
        "loop_enabled" => messages.about_agent_loop_enabled(),
        "max_iterations" => messages.about_agent_max_iterations(),
        "completion_promise" => messages.about_agent_completion_promise(),
        "follow_up" => messages.about_agent_follow_up(),
        "session" => messages.about_agent_session(),
        "command" => messages.about_agent_command(),
        "prompt" => messages.about_agent_prompt(),
        "output" => messages.about_agent_output(),
        "resume" => messages.about_agent_resume(),
        "script" => messages.about_agent_script(),
        "model" => messages.about_agent_model(),
        "api" => messages.about_agent_api(),
        "base_url" => messages.about_agent_base_url(),
        "key_env" => messages.about_agent_key_env(),
        "context_tokens" => messages.about_agent_context_tokens(),
        _ => return None,
    })
}

fn about_context(own: &str, messages: Messages) -> Option<String> {
    Some(match own {
        "enabled" => messages.about_context_enabled(),
        "auto_commit" => messages.about_context_auto_commit(),
        "generate_summary" => messages.about_context_generate_summary(),
        "summary_max_tokens" => messages.about_context_summary_max_tokens(),
        "context_max_tokens" => messages.about_context_max_tokens(),
        "commit_message_model" => messages.about_context_commit_message_model(),
        "summary_model" => messages.about_context_summary_model(),
        "loop_prompt" => messages.about_context_loop_prompt(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config;

    /// Every setting of the schema: its key, and what the schema says of it.
    fn leaves(schema: &Value, key: &[&str], all: &mut Vec<(Vec<String>, String)>) {
        let below = |name: &str| [key, &[name]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let mut go = |name: &str, schema: &Value| {
            let key = below(name);
            leaves(schema, &key.iter().map(String::as_str).collect::<Vec<_>>(), all);
        };
        if let Some(properties) = schema["properties"].as_object() {
            properties.iter().for_each(|(name, own)| go(name, own));
        } else if schema["additionalProperties"]["properties"].is_object() {
            go("x", &schema["additionalProperties"]);
        } else if !schema["additionalProperties"].is_object() {
            let says = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
            all.push((key.iter().map(|part| (*part).to_owned()).collect(), says));
        }
    }

    #[test]
    fn u5_every_setting_of_the_schema_is_explained_in_every_language() {
        let schema = config::schema();
        let mut all = Vec::new();
        leaves(&schema, &[], &mut all);
        assert!(all.len() > 40, "{all:?}");
        for (key, says) in &all {
            let parts: Vec<&str> = key.iter().map(String::as_str).collect();
            assert_eq!(about(&parts, Messages::ENGLISH).as_ref(), Some(says), "{key:?}");
        }
        for (name, own) in schema["properties"].as_object().unwrap() {
            let is_table = own["properties"].is_object() || own["additionalProperties"].is_object();
            let title = own["title"].as_str().filter(|_| is_table);
            assert_eq!(table(name, Messages::ENGLISH).as_deref(), title, "{name}");
        }
    }
}
