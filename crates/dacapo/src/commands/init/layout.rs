//! The files of `.dacapo/`. None of them does anything until somebody writes into it: settings are comments, and texts for
//! agents that hold nothing but comments are not given to them.

/// The settings of the project.
pub(super) const CONFIG: &str = ".dacapo/config.toml";

/// Mirrors are never committed (M8).
const IGNORED: &str = "\
# Written by Dacapo after every round of a milestone, for other programs to read.
/state.json
/milestones/*.json
";

pub(super) const MILESTONES: &str = include_str!("milestones.md");
const PROMPTS: &str = include_str!("prompts.md");

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
pub(super) fn files(config: &str) -> Vec<(&'static str, String)> {
    vec![
        (CONFIG, config.to_owned()),
        (".dacapo/.gitignore", IGNORED.to_owned()),
        (".dacapo/milestones/README.md", MILESTONES.to_owned()),
        (".dacapo/prompts/README.md", PROMPTS.to_owned()),
        (".dacapo/VISION.md", VISION.to_owned()),
        (".dacapo/soul.md", SOUL.to_owned()),
        (".dacapo/memory/project.md", MEMORY.to_owned()),
    ]
}

/// What a file is for, in a few words.
pub(super) fn what_for(path: &str) -> String {
    let words = match path {
        CONFIG => "every setting, as a comment",
        ".dacapo/.gitignore" => "what Dacapo writes for other programs",
        ".dacapo/milestones/README.md" => "how a milestone is written",
        ".dacapo/prompts/README.md" => "what agents are told, and how to change it",
        ".dacapo/VISION.md" => "where the project is to go",
        ".dacapo/soul.md" => "how things are done here",
        ".dacapo/memory/project.md" => "what is known about the project",
        _ => return String::new(),
    };
    format!("  ({words})")
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
