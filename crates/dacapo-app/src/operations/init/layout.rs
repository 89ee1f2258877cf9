//! The files of `.dacapo/`. None of them does anything until somebody writes into it: settings are comments, and texts for
//! agents that hold nothing but comments are not given to them.

use crate::messages::Messages;
use dacapo_core::task::milestone::TemplateKind;

/// The settings of the project.
pub(super) const CONFIG: &str = ".dacapo/config.toml";

/// What agents are told.
const PROMPTS: &str = ".dacapo/prompts/";

/// Mirrors are never committed (M8).
const IGNORED: &str = "\
# Written by Dacapo after every round of a milestone, for other programs to read.
/state.json
/milestones/*.json
";

pub(super) const MILESTONES: &str = include_str!("milestones.md");

const VISION: &str = "\
<!-- Where the project is to go, for the Developer of every milestone. A VISION.md at the top of the repository is taken first.
Nothing is given to agents as long as there is nothing but comments here. -->
";
const SOUL: &str = "\
<!-- How things are done here: style, quality, what must never happen. The Developer and the Acceptor of every milestone get it.
Nothing is given to agents as long as there is nothing but comments here. -->
";
const MEMORY: &str = "\
<!-- What is known about the project: architecture, conventions, traps. The Developer of every milestone gets it.
Nothing is given to agents as long as there is nothing but comments here. -->
";

/// All files, from the top of the checkout, with this text of the settings.
pub(super) fn files(config: &str) -> Vec<(String, String)> {
    let texts = [
        (CONFIG, config),
        (".dacapo/.gitignore", IGNORED),
        (".dacapo/milestones/README.md", MILESTONES),
        (".dacapo/VISION.md", VISION),
        (".dacapo/soul.md", SOUL),
        (".dacapo/memory/project.md", MEMORY),
    ];
    let prompts = TemplateKind::ALL.map(|kind| (format!("{PROMPTS}{}", kind.file_name()), kind.commented()));
    texts.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).chain(prompts).collect()
}

/// What a file is for, in a few words.
pub fn what_for(path: &str, messages: Messages) -> String {
    match path {
        CONFIG => messages.init_file_config(),
        ".dacapo/.gitignore" => messages.init_file_ignore(),
        ".dacapo/milestones/README.md" => messages.init_file_how_to(),
        prompt if prompt.starts_with(PROMPTS) => messages.init_file_prompts(),
        ".dacapo/VISION.md" => messages.init_file_vision(),
        ".dacapo/soul.md" => messages.init_file_soul(),
        ".dacapo/memory/project.md" => messages.init_file_memory(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::task::milestone::Definition;

    use super::*;
    use crate::milestones::says_something;

    #[test]
    fn m1_hints_are_not_given_to_agents() {
        for hint in [VISION, SOUL, MEMORY] {
            assert!(!says_something(hint), "{hint}");
        }
        for (path, text) in files("").iter().filter(|(path, _)| path.starts_with(PROMPTS)) {
            assert!(!says_something(text), "{path}");
        }
    }

    #[test]
    fn m1_the_example_is_a_milestone() {
        let example =
            MILESTONES.split("````markdown\n").nth(1).and_then(|rest| rest.split("````").next()).unwrap();
        let read = Definition::parse(example).unwrap();
        assert_eq!((read.features.len(), read.criteria.len()), (2, 2), "{example}");
        assert!(read.features[0].accept.is_some() && !read.constraints.is_empty());
    }
}
