//! Definition files: what reads, what does not and what is said about it, and anything at all.

use std::time::Duration;

use proptest::prelude::*;

use crate::task::milestone::{Definition, DefinitionError, Feature, KEYS, MOST_BYTES};

pub(in crate::task::milestone) const AUTH: &str = "\
---
# Settings are optional.
created: 2026-11-15
auto_start: true
requires_human_review: false   # a person has the last word
developer: codex
acceptor: \"claude\"
max_iterations_per_milestone: 12
max_consecutive_rejections: 2
call_timeout: 5m
max_cost: 7.5
max_tokens: 100000
---

# Authentication

## Goal

People can log in.
And out.

## Features

- Login. Accept: POST /login returns a token
- F-2: Logout
  - Accept: the token is void
    from then on
* [ ] **F-3** Rate limit
  five tries a minute

## Acceptance Criteria

1. `cargo test` is green
2. C-2: nothing is logged that is secret

## Constraints

- no new crate
";

fn feature(text: &str, accept: Option<&str>) -> Feature {
    Feature { text: text.into(), accept: accept.map(str::to_owned) }
}

#[test]
fn m1_a_whole_definition_reads() {
    let read = Definition::parse(AUTH).unwrap();
    assert_eq!(read.title.as_deref(), Some("Authentication"));
    assert_eq!(read.goal, "People can log in.\nAnd out.");
    assert_eq!(
        read.features,
        [
            feature("Login.", Some("POST /login returns a token")),
            feature("Logout", Some("the token is void\n    from then on")),
            feature("Rate limit\n  five tries a minute", None),
        ]
    );
    assert_eq!(read.criteria, ["`cargo test` is green", "nothing is logged that is secret"]);
    assert_eq!(read.constraints, "- no new crate");
    let settings = &read.settings;
    assert_eq!(settings.created, Some("2026-11-15T00:00:00Z".parse().unwrap()));
    assert!(settings.auto_start && !settings.requires_human_review);
    assert_eq!(settings.developer.as_deref(), Some("codex"));
    assert_eq!(settings.acceptor.as_deref(), Some("claude"));
    assert_eq!((settings.max_rounds, settings.max_rejections), (Some(12), Some(2)));
    assert_eq!(settings.call_timeout, Some(Duration::from_secs(300)));
    assert_eq!((settings.max_cost, settings.max_tokens), (Some(7.5), Some(100_000)));
}

const SMALL: &str = "## Goal\ng\n## Features\n- a\n  验收：b\n## Acceptance Criteria\n- c\n";

#[test]
fn m1_only_three_sections_are_needed() {
    let read = Definition::parse(SMALL).unwrap();
    assert_eq!(read.features, [feature("a", Some("b"))]);
    assert_eq!((read.title, read.constraints.as_str()), (None, ""));
}

#[test]
fn m1_line_ends_and_a_mark_in_front_change_nothing() {
    let plain = Definition::parse(AUTH).unwrap();
    let odd = format!("\u{feff}{}", AUTH.replace('\n', "\r\n"));
    assert_eq!(Definition::parse(&odd).unwrap(), plain);
    assert_eq!(Definition::parse(AUTH.trim_end()).unwrap(), plain);
}

#[test]
fn m1_what_stands_in_fences_and_comments_is_no_heading_and_no_item() {
    let text = "<!-- ## Features\n- not this\n-->\n## Goal\n```sh\n## Features\n- x\n```\n## Features\n- a\n\n  ~~~\n- in it\n  ~~~\n- b\n## Acceptance Criteria\n- c\n";
    let read = Definition::parse(text).unwrap();
    assert_eq!(read.goal, "```sh\n## Features\n- x\n```");
    assert_eq!(read.features, [feature("a\n\n  ~~~\n- in it\n  ~~~", None), feature("b", None)]);
}

fn error(text: &str) -> DefinitionError {
    Definition::parse(text).expect_err(text)
}

#[test]
fn m1_what_does_not_read_is_told_with_its_line_and_what_to_do() {
    let cases = [
        (
            "",
            "line 1: the section '## Goal' is missing (a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria')",
        ),
        (
            "---\nauto_strat: true\n---\n",
            "line 2: 'auto_strat' is not a setting (did you mean 'auto_start'?)",
        ),
        ("---\n\nauto_start: yes\n---\n", "line 3: auto_start: invalid value 'yes' (expected true or false)"),
        (
            "---\ncreated: soon\n---\n",
            "line 2: created: invalid value 'soon' (expected a day such as 2026-11-15)",
        ),
        (
            "---\ncall_timeout: 10\n---\n",
            "line 2: call_timeout: invalid value '10' (expected a duration such as 10m)",
        ),
        (
            "---\nmax_iterations_per_milestone: 0\n---\n",
            "line 2: max_iterations_per_milestone: invalid value '0' (expected a count such as 20)",
        ),
        (
            "---\ndeveloper:\n---\n",
            "line 2: developer: invalid value '' (expected the name of an agent such as claude)",
        ),
        (
            "---\nmax_cost: NaN\n---\n",
            "line 2: max_cost: invalid value 'NaN' (expected an amount in USD such as 5)",
        ),
        ("---\nauto_start: true\nauto_start: true\n---\n", "line 3: 'auto_start' is already set in line 2"),
        (
            "---\nlimits:\n  rounds: 3\n---\n",
            "line 2: 'limits' is not a setting (there are created, auto_start, requires_human_review, developer, acceptor, max_iterations_per_milestone, max_consecutive_rejections, call_timeout, max_cost, max_tokens)",
        ),
        ("---\n  developer: x\n---\n", "line 2: not a setting (write 'key: value')"),
        (
            "---\n---\n",
            "line 2: the section '## Goal' is missing (a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria')",
        ),
        ("---\nauto_start: true\n", "line 1: the front matter is never closed (close it with a line '---')"),
        (
            "hello\n",
            "line 1: the section '## Goal' is missing (a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria')",
        ),
        ("## Goal\n\n", "line 1: the goal is empty (say what it is for)"),
        ("## Goal\nx\n## Goal\n", "line 3: '## Goal' is already in line 1"),
        (
            "## Goal\nx\n```\ny\n",
            "line 3: a code fence is never closed (end it with a line of the same marks)",
        ),
        (
            "## Goal\nx\n## Features\n",
            "line 3: the section '## Acceptance Criteria' is missing (a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria')",
        ),
        (
            "## Goal\nx\n## Features\n## Acceptance Criteria\n- c\n",
            "line 3: '## Features' is empty (write at least one item: '- …')",
        ),
        (
            "## Goal\nx\n## Features\n- F-2: b\n## Acceptance Criteria\n- c\n",
            "line 4: this is F-1, not F-2: ids follow the order (leave the id out)",
        ),
        ("## Goal\nx\n## Features\n-\n## Acceptance Criteria\n- c\n", "line 4: F-1 is empty"),
        (
            "## Goal\nx\n## Features\n- a\n  Accept:\n## Acceptance Criteria\n- c\n",
            "line 4: F-1 has an empty 'Accept:' (say when it is accepted)",
        ),
        ("## Goal\nx\0\n", "line 2: a NUL byte: this is not text"),
    ];
    for (text, told) in cases {
        assert_eq!(error(text).to_string(), told, "{text:?}");
    }
    assert_eq!(error(&"x".repeat(MOST_BYTES + 1)).line, 1);
    let many = format!("## Goal\nx\n## Features\n{}## Acceptance Criteria\n- c\n", "- a\n".repeat(101));
    assert_eq!(
        error(&many).to_string(),
        "line 3: '## Features' has 101 items; at most 100 are read (split the milestone)"
    );
}

#[test]
fn m1_every_key_is_a_setting() {
    for key in KEYS {
        let told = error(&format!("---\n{key}: \u{7}\n---\n")).flaw.to_string();
        assert!(!told.contains("is not a setting"), "{told}");
    }
}

#[test]
fn m11_the_hash_is_that_of_what_the_review_is_held_to() {
    let frozen = |text: &str| Definition::parse(text).unwrap().frozen();
    let first = frozen(AUTH);
    assert_eq!(first.len(), 64);
    for same in [
        AUTH.replace("auto_start: true", "auto_start: false"),
        AUTH.replace('\n', "\r\n"),
        AUTH.replace("# Authentication", "# Other words"),
        AUTH.replace("1. `cargo", "- C-1: `cargo"),
    ] {
        assert_eq!(frozen(&same), first);
    }
    for other in [
        AUTH.replace("is green", "is red"),
        AUTH.replace("POST", "GET"),
        AUTH.replace("Rate", "No rate"),
        AUTH.replace("no new crate", "any crate"),
        AUTH.replace("People can log in.", "People can log in!"),
    ] {
        assert_ne!(frozen(&other), first);
    }
}

#[test]
fn m11_a_report_names_a_feature_by_its_id_or_its_words() {
    let read = Definition::parse(AUTH).unwrap();
    let found = [
        ("F-2 Logout", Some(1)),
        ("F-1", Some(0)),
        ("**F-3**: anything", Some(2)),
        ("[F-3] x", Some(2)),
        ("logout", Some(1)),
        ("F-4 more", None),
        ("F-0", None),
        ("F-2nd", None),
        ("F-99999999999999999999999", None),
        ("something", None),
        ("", None),
    ];
    for (named, at) in found {
        assert_eq!(read.feature(named), at, "{named}");
    }
}

/// A definition as people write them, from parts.
fn any_definition() -> impl Strategy<Value = (Vec<Feature>, Vec<String>, String)> {
    let words = "[a-z][a-zé繼 .,`{}]{0,30}[a-z]";
    let feature = (words, proptest::option::of(words)).prop_map(|(text, accept)| Feature { text, accept });
    (proptest::collection::vec(feature, 1..8), proptest::collection::vec(words, 1..8), words)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m1_what_is_written_is_read((features, criteria, goal) in any_definition(), crlf in any::<bool>()) {
        let mut text = format!("## Goal\n\n{goal}\n\n## Features\n\n");
        for Feature { text: words, accept } in &features {
            text.push_str(&format!("- {words}\n"));
            if let Some(accept) = accept {
                text.push_str(&format!("  Accept: {accept}\n"));
            }
        }
        text.push_str("\n## Acceptance Criteria\n\n");
        for criterion in &criteria {
            text.push_str(&format!("- {criterion}\n"));
        }
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let read = Definition::parse(&text).unwrap();
        prop_assert_eq!(read.goal, goal);
        prop_assert_eq!(read.criteria, criteria);
        prop_assert_eq!(read.features, features);
    }

    #[test]
    fn m1_any_text_reads_or_says_where_it_does_not(text in "(\\PC|\n|\r\n|\t|---\n|## Goal\n|## Features\n|## Acceptance Criteria\n|- |  - |```|<!--|-->|Accept:|验收：|F-1|: ){0,80}") {
        match Definition::parse(&text) {
            Ok(read) => {
                prop_assert!(!read.goal.is_empty() && !read.features.is_empty() && !read.criteria.is_empty());
                prop_assert_eq!(read.frozen().len(), 64);
            }
            Err(error) => {
                prop_assert!(error.line >= 1 && error.line <= text.lines().count().max(1), "{} {:?}", error, text);
                prop_assert!(error.to_string().len() < 1000);
            }
        }
    }
}
