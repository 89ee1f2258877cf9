//! Files and variables with mistakes in them: all are told at once, each with its place.

use super::*;

#[test]
fn what_does_not_count_is_said_and_does_not_stop() {
    let case = Case::new(
        "[agents.a]\nmax_iterations = 500\n[agents.b]\nmax_iterations = -1\n[agents.c]\nmax_iterations = 0\n",
        "[agents.c]\nmax_iterations = 3\n",
        &[("DACAPO_AGNET", "x"), ("DACAPO_ZZZ", "x"), ("DACAPO_AGENTS_NEW_BOT_MODEL", "m")],
    );
    let loaded = case.load();
    insta::assert_snapshot!(case.plain(&loaded.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")), @r"
    DACAPO_AGENTS_NEW_BOT_MODEL is read as 'agents.new_bot.model'; to set a name with other characters, define it in a config file first
    unknown variable DACAPO_AGNET is ignored; did you mean DACAPO_AGENT?
    unknown variable DACAPO_ZZZ is ignored
    'agents.a.max_iterations' in /c/user.toml:2:1 is outside 1…100: using 100
    'agents.b.max_iterations' in /c/user.toml:4:1 is outside 1…100: using 1
    ");
    let iterations = ["a", "b", "c"].map(|name| loaded.config.agent_profile(name).max_iterations);
    assert_eq!(iterations, [100, 1, 3]);
}

#[test]
fn all_mistakes_of_all_files_come_at_once() {
    let case = Case::new(
        r#"
chekcs = ["x"]
max_concurrent = 3
[agents.copilot]
  max_iteration = 5
  session = "resum"
  command = []
  '繼' = 1
[spawn_task]
max_concurrent = 0
checks = ["below a table"]
[zebra]
"#,
        "agent = 3\nchecks = 'x'\nagents = 1\n[[milestone]]\n[notify]\nwebhook = 'ftp://secret'\n",
        &[("DACAPO_SPAWN_TASK_MAX_CONCURRENT", "many")],
    );
    insta::assert_snapshot!(case.problems(), @r#"
    unknown key 'chekcs' in /c/user.toml:2:1; did you mean 'checks'?
    unknown key 'max_concurrent' in /c/user.toml:3:1; did you mean 'spawn_task.max_concurrent'?
    unknown key 'max_iteration' in /c/user.toml:5:3; did you mean 'max_iterations'?
    invalid value for 'agents.copilot.session' in /c/user.toml:6:13: expected one of fresh, resume, found 'resum'; did you mean 'resume'?
    invalid value for 'agents.copilot.command' in /c/user.toml:7:13: expected a non-empty list of text, found an empty list
    unknown key '繼' in /c/user.toml:8:3
    invalid value for 'spawn_task.max_concurrent' in /c/user.toml:10:18: expected a whole number from 1 to 1000, found 0
    unknown key 'checks' in /c/user.toml:11:1; it belongs at the top of the file, before the first [table]
    unknown key 'zebra' in /c/user.toml:12:2
    invalid value for 'agent' in /c/project.toml:1:9: expected non-empty text, found a whole number
    invalid value for 'checks' in /c/project.toml:2:10: expected a list of non-empty text, found text
    invalid value for 'agents' in /c/project.toml:3:10: expected a table, found a whole number
    invalid value for 'milestone' in /c/project.toml:4:1: expected a table, found a list
    invalid value for 'notify.webhook' in /c/project.toml:6:11: expected an address that begins with http:// or https://, found another address
    invalid value for 'spawn_task.max_concurrent' in DACAPO_SPAWN_TASK_MAX_CONCURRENT: expected a whole number from 1 to 1000, found 'many'
    "#);
    let failure = Failure::from(load(&case.sources).unwrap_err());
    assert_eq!(failure.exit_code(), 2);
}

#[test]
fn c11_a_summary_has_room_for_words() {
    let set = |tokens: u32| format!("[spawn_task.context_passing]\nsummary_max_tokens = {tokens}\n");
    let case = Case::new(set(19), "", &[("DACAPO_SPAWN_TASK_CONTEXT_PASSING_SUMMARY_MAX_TOKENS", "8")]);
    insta::assert_snapshot!(case.problems(), @r#"
    invalid value for 'spawn_task.context_passing.summary_max_tokens' in /c/user.toml:2:22: expected a whole number from 20 to 100000, found 19
    invalid value for 'spawn_task.context_passing.summary_max_tokens' in DACAPO_SPAWN_TASK_CONTEXT_PASSING_SUMMARY_MAX_TOKENS: expected a whole number from 20 to 100000, found 8
    "#);
    let loaded = load(&Case::user(&set(20)).sources).unwrap();
    assert_eq!(loaded.config.spawn_task.context_passing.summary_max_tokens, 20);
}

#[test]
fn one_mistake_as_a_person_sees_it() {
    let case = Case::user("[agents.copilot]\n  max_iteration = 5\n");
    let failure = Failure::from(load(&case.sources).unwrap_err());
    insta::assert_snapshot!(case.plain(&failure.to_string()), @r#"
    error: unknown key 'max_iteration' in /c/user.toml:2:3; did you mean 'max_iterations'?
      kept: everything; nothing was started
      do:   correct it (dacapo config schema lists every key), then run the command again
    "#);
}

#[test]
fn files_that_are_no_config() {
    let table: [(&str, Vec<u8>); 7] = [
        ("bad TOML", b"agent = \"a\"\n\nchecks = [1,\n".to_vec()),
        ("twice", b"agent = 'a'\nagent = 'b'\n".to_vec()),
        ("not UTF-8", b"agent = 'a'\nx = '\xff'\n".to_vec()),
        ("too big", vec![b'#'; 1024 * 1024 + 1]),
        ("deep", [b"x = ".to_vec(), vec![b'['; 100_000]].concat()),
        ("half a price", b"[prices.x]\noutput = 1\n".to_vec()),
        ("script", b"[agents.claude]\nscript = 'x'\n".to_vec()),
    ];
    let shown: Vec<String> = table
        .into_iter()
        .map(|(name, bytes)| format!("{name}: {}", Case::new(bytes, "", &[]).problems()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    bad TOML: not valid TOML in /c/user.toml:3:13: unclosed array, expected `]`
    twice: not valid TOML in /c/user.toml:2:1: duplicate key
    not UTF-8: not UTF-8 text in /c/user.toml:2:6
    too big: /c/user.toml is larger than 1024 KiB, the most a config may be
    deep: not valid TOML in /c/user.toml:1:85: cannot recurse further; max recursion depth met
    half a price: missing key 'input' in [prices.x] at /c/user.toml:2:1
    script: 'agents.claude.script' in /c/user.toml:2:1 is only for the built-in agent 'rehearsal'
    "#);

    let case = Case::user("");
    let sources = Sources { user_file: Some(case.dir.path().to_owned()), ..Sources::default() };
    let problem = load(&sources).unwrap_err().to_string();
    assert_eq!(problem, format!("cannot read {}: it is not a file", case.dir.path().display()));
}

#[test]
fn a_megabyte_of_keys_takes_no_minutes() {
    let lines: String = (0..90_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(load(&Case::user(&lines).sources).unwrap_err().problems.len(), 90_000);
    let one_line: String = (0..90_000).map(|n| format!("K{n}='',")).collect();
    let loaded = Case::user(&format!("[agents.x]\nenv = {{{one_line}}}\n")).load();
    assert_eq!(loaded.config.agents["x"].env.len(), 90_000);
}

#[test]
fn a_bom_and_windows_line_ends_are_fine() {
    let loaded = Case::user("\u{feff}agent = 'a'\r\nmain_branch = 'b'\r\n").load();
    assert_eq!(loaded.config.main_branch.as_deref(), Some("b"));
    let case = Case::user("\u{feff}agnt = 'a'\r\n\tmain_branc = 'b'\r\n");
    insta::assert_snapshot!(case.problems(), @r#"
    unknown key 'agnt' in /c/user.toml:1:1; did you mean 'agent'?
    unknown key 'main_branc' in /c/user.toml:2:2; did you mean 'main_branch'?
    "#);
}
