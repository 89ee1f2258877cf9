//! One setting of a file is changed, the rest of the text stays.

use std::path::Path;

use crate::config::{set, unset};

const WRITTEN: &str = "\
# mine
agent = \"codex\" # for now

# how many
[spawn_task]
max_concurrent = 3   # few cores

[agents.mine]
command = [
  \"a\", # one
  \"b\",
]
env = { A = \"1\" }
";

#[track_caller]
fn after_set(text: &str, key: &str, value: &str) -> String {
    let after = set(Path::new("f"), text, key, value).unwrap();
    toml::from_str::<toml::Table>(&after).unwrap();
    after
}

#[track_caller]
fn after_unset(text: &str, key: &str) -> String {
    let after = unset(Path::new("f"), text, key).unwrap().unwrap();
    toml::from_str::<toml::Table>(&after).unwrap();
    after
}

fn refused(text: &str, key: &str, value: &str) -> String {
    set(Path::new("f"), text, key, value).unwrap_err().to_string()
}

#[test]
fn a_value_that_is_there_is_replaced_and_nothing_else() {
    for (key, value, old, new) in [
        ("agent", "claude", "agent = \"codex\" # for", "agent = \"claude\" # for"),
        ("spawn_task.max_concurrent", "8", "max_concurrent = 3   #", "max_concurrent = 8   #"),
        ("agents.mine.env.A", "2", "{ A = \"1\" }", "{ A = \"2\" }"),
        ("agents.mine.command", "[\"c\", \"d\"]", "[\n  \"a\", # one\n  \"b\",\n]", "[\"c\", \"d\"]"),
    ] {
        assert_eq!(after_set(WRITTEN, key, value), WRITTEN.replace(old, new), "{key}");
    }
}

#[test]
fn a_new_setting_gets_a_line_where_it_belongs() {
    for (key, value, old, new) in [
        ("keep_awake", "false", "# for now\n", "# for now\nkeep_awake = false\n"),
        ("checks", "cargo test", "# for now\n", "# for now\nchecks = [\"cargo test\"]\n"),
        ("agents.mine.env.B", "x y", "{ A = \"1\" }", "{ A = \"1\", B = \"x y\" }"),
        ("agents.mine.model", "m", "env = { A = \"1\" }\n", "env = { A = \"1\" }\nmodel = \"m\"\n"),
        (
            "spawn_task.context_passing.enabled",
            "false",
            "# few cores\n",
            "# few cores\n\n[spawn_task.context_passing]\nenabled = false\n",
        ),
    ] {
        assert_eq!(after_set(WRITTEN, key, value), WRITTEN.replace(old, new), "{key}");
    }
    let prices = after_set(WRITTEN, "prices.\"gpt-5.5\"", "{ input = 1, output = 2.5 }");
    assert_eq!(prices, format!("{WRITTEN}\n[prices.\"gpt-5.5\"]\ninput = 1\noutput = 2.5\n"));
}

#[test]
fn the_first_setting_stands_below_what_the_file_says_of_itself() {
    assert_eq!(after_set("", "agent", "claude"), "agent = \"claude\"\n");
    assert_eq!(after_set("", "notify.desktop", "false"), "[notify]\ndesktop = false\n");
    assert_eq!(after_set("# head", "agent", "x"), "# head\nagent = \"x\"\n");
    assert_eq!(
        after_set("# head\n\n#agent = \"y\"\n", "agent", "x"),
        "# head\n\nagent = \"x\"\n\n#agent = \"y\"\n"
    );
    assert_eq!(
        after_set("# about it\n[notify]\ndesktop = true\n", "agent", "x"),
        "agent = \"x\"\n\n# about it\n[notify]\ndesktop = true\n"
    );
    let sample = crate::config::sample(crate::config::Whose::User);
    let after = after_set(&sample, "agent", "x");
    assert_eq!(after.replacen("agent = \"x\"\n\n", "", 1), sample);
}

#[test]
fn other_ways_to_write_a_table_and_line_ends_are_kept() {
    assert_eq!(
        after_set("spawn_task.max_concurrent = 3\n", "spawn_task.context_passing.enabled", "false"),
        "spawn_task.max_concurrent = 3\nspawn_task.context_passing.enabled = false\n"
    );
    assert_eq!(
        after_set("spawn_task = { max_concurrent = 3 }\n", "spawn_task.context_passing.enabled", "false"),
        "spawn_task = { max_concurrent = 3, context_passing = { enabled = false } }\n"
    );
    let windows = WRITTEN.replace('\n', "\r\n");
    for (key, value) in [("agent", "x"), ("keep_awake", "false"), ("notify.desktop", "false")] {
        assert_eq!(after_set(&windows, key, value), after_set(WRITTEN, key, value).replace('\n', "\r\n"));
    }
    assert_eq!(after_unset(&windows, "agent"), after_unset(WRITTEN, "agent").replace('\n', "\r\n"));
}

#[test]
fn what_is_removed_goes_with_its_line_and_leaves_the_comments_around_it() {
    for (key, old, new) in [
        ("agent", "agent = \"codex\" # for now\n", ""),
        ("spawn_task.max_concurrent", "max_concurrent = 3   # few cores\n", ""),
        ("agents.mine.command", "command = [\n  \"a\", # one\n  \"b\",\n]\n", ""),
        ("agents.mine.env", "env = { A = \"1\" }\n", ""),
        ("agents.mine.env.A", "{ A = \"1\" }", "{}"),
    ] {
        assert_eq!(after_unset(WRITTEN, key), WRITTEN.replace(old, new), "{key}");
    }
    let (before, _) = WRITTEN.split_once("\n[agents").unwrap();
    assert_eq!(after_unset(WRITTEN, "agents.mine"), before);
    assert_eq!(after_unset(WRITTEN, "agents"), before);
    assert_eq!(unset(Path::new("f"), WRITTEN, "keep_awake").unwrap(), None);
    // Somebody mends the file.
    assert_eq!(after_unset("agnet = 1\nagent = \"x\"\n", "agnet"), "agent = \"x\"\n");
}

#[test]
fn what_does_not_fit_is_refused_in_the_words_of_reading() {
    for (key, value, message) in [
        ("agnet", "x", "unknown key 'agnet'; did you mean 'agent'?"),
        (
            "spawn_task.max_concurent",
            "3",
            "unknown key 'spawn_task.max_concurent'; did you mean 'spawn_task.max_concurrent'?",
        ),
        (
            "spwan_task.max_concurrent",
            "3",
            "unknown key 'spwan_task.max_concurrent'; did you mean 'spawn_task.max_concurrent'?",
        ),
        ("max_concurrent", "3", "unknown key 'max_concurrent'; did you mean 'spawn_task.max_concurrent'?"),
        ("a b", "3", "unknown key 'a b'"),
        ("agent.x", "3", "unknown key 'agent.x'"),
        ("keep_awake", "maybe", "invalid value for 'keep_awake': expected true or false, found text"),
        (
            "agents.x.max_iterations",
            "1000",
            "invalid value for 'agents.x.max_iterations': expected a whole number from 1 to 100, found 1000",
        ),
        (
            "language",
            "zh-tw",
            "invalid value for 'language': expected one of en, zh-CN, zh-TW, found 'zh-tw'; did you mean 'zh-TW'?",
        ),
        (
            "notify",
            "3",
            "invalid value for 'notify': expected a table, such as { key = \"value\" }, or one of its keys, found text",
        ),
        ("notify", "{ dektop = true }", "unknown key 'notify.dektop'; did you mean 'notify.desktop'?"),
    ] {
        assert_eq!(refused("", key, value), message);
    }
    assert_eq!(
        refused("agent = \n", "keep_awake", "true"),
        "not valid TOML in f:1:9: string values must be quoted, expected literal string"
    );
    assert!(unset(Path::new("f"), "", "agnet").unwrap_err().to_string().contains("did you mean 'agent'"));
}
