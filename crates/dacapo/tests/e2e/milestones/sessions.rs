//! Two agents, each with a conversation of its own (M3).

use std::fs;

use super::{ACCEPTS, BRANCH, BUILDS, DEFINITION, FILE, ID, Stage};

impl Stage {
    /// The words on an agent's command line in one of its calls.
    fn words(&self, agent: &str, call: usize) -> Vec<String> {
        let text = fs::read_to_string(self.world.scratch(agent).join(format!("words-{call}"))).unwrap();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Both agents can be resumed by an id.
    fn that_remember(&self, names: &[&str]) {
        let agents = names.iter().map(|name| {
            let script = self.world.scratch(name).join("agent");
            format!(
                "[agents.{name}]\ncommand = [\"sh\", {script:?}, \"{{session}}\"]\nresume = [\"--resume\", \"{{session}}\"]\noutput = \"text\"\n"
            )
        });
        self.world.config(&agents.collect::<String>());
    }
}

#[test]
fn m3_each_side_goes_on_in_its_own_conversation() {
    let stage = Stage::new();
    stage.that_remember(&["dev", "acc"]);
    stage.play(
        &["build F-1", "echo oops", "build F-2", "complete"],
        &["accept", "echo hm", "accept", "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 3, 0]);
    let first = ["dev", "acc"].map(|agent| stage.words(agent, 1));
    assert!(first.iter().all(|words| words.len() == 1), "{first:?}");
    assert_ne!(first[0], first[1], "two conversations");
    for (agent, first) in ["dev", "acc"].iter().zip(&first) {
        for call in 2..=4 {
            assert_eq!(stage.words(agent, call), [&first[0], "--resume", &first[0]], "{agent} {call}");
        }
    }
    // One that remembers is not told everything again when its reply comes back.
    stage.assert_told("dev", 2, "the second file");
    stage.assert_not_told("dev", 3, "the second file");
}

#[test]
fn m3_agents_that_cannot_remember_are_given_everything_each_time() {
    let stage = Stage::new();
    stage.play(&["build F-1", "echo oops", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.start().expect(0);
    for call in 1..=4 {
        assert!(stage.words("dev", call).is_empty());
        stage.assert_told("dev", call, "the second file");
        stage.assert_told("dev", call, "No third file.");
    }
}

#[test]
fn m1_one_agent_can_be_both_in_two_conversations() {
    let stage = Stage::new();
    stage.world.write(FILE, format!("---\ndeveloper: dev\n---\n{DEFINITION}"));
    stage.world.git(&["commit", "-qam", "docs: one agent"]);
    let stage = stage.with_all_this();
    stage.that_remember(&["dev"]);
    stage.plays("dev", &["build F-1", "accept", "complete", "accept_all"]);
    let ran = stage.start().expect(0);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("one agent is both"), "{ran:?}");
    stage.stands("completed", [2, 2, 0]);
    let ids: Vec<String> = (1..=4).map(|call| stage.words("dev", call)[0].clone()).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[3]));
}

#[test]
fn m1_flags_choose_other_agents_than_the_file() {
    let stage = Stage::new();
    stage.play(&ACCEPTS, &BUILDS);
    let _ = stage.milestone("start", &["--developer", "acc", "--acceptor", "dev"]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    let seen = stage.status()["milestone"].clone();
    assert_eq!((&seen["developer"], &seen["acceptor"]), (&"acc".into(), &"dev".into()));
    stage.assert_told("acc", 1, "You are the Developer");
    stage.assert_told("dev", 1, "You are the Acceptor");
    assert_eq!(stage.commits().len(), 2);
    let _ = stage.world.git(&["rev-parse", BRANCH]);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m3_never_are_both_at_work() {
    let stage = Stage::new();
    // Who finds the other one at work says so.
    let alone = |call: &str| {
        format!("mkdir $scratch/at-work || echo both >> $scratch/both; {call}; rmdir $scratch/at-work")
    };
    let build = BUILDS.map(alone);
    let judge = ACCEPTS.map(alone);
    stage.play(&build.each_ref().map(String::as_str), &judge.each_ref().map(String::as_str));
    let _ = stage.start().expect(0);
    assert!(!stage.world.scratch("both").exists());
    stage.stands("completed", [3, 3, 0]);
}
