//! Milestones as the driver sees them: who works when, where, and what is to be read of it. Their tasks are made by hand
//! and taken up by `dacapo resume`, which goes on with anything that nobody drives.

use dacapo_core::spec::TaskSpec;
use dacapo_core::store::TaskDir;
use dacapo_core::task::milestone::{Definition, Details, Milestones};
use serde_json::{Value, json};

use crate::spawned::AGENT;
use crate::support::World;

mod kills;
mod mirrors;
mod places;
mod seen;
mod talks;
mod touched;
mod turns;

/// What a case is about, and what brings it about.
type Case = (&'static str, fn(&World));

const DEFINITION: &str =
    "## Goal\nTwo files.\n## Features\n- one\n- two\n## Acceptance Criteria\n- both are there\n";

/// What a Developer's script can use: the number of the round, a commit, a report.
const TOOLS: &str = r#"cat > /dev/null; n=$((DACAPO_ITERATION + 1))
commit() { git add -A; git -c user.name=d -c user.email=d@d commit -qm "feat: $n"; }
report() { printf '## Implementation Report — Round %s\n\n**Feature**: F-%s\n**Commit**: %s\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- f%s: new\n' $n $n $1 $n; }
"#;

/// Builds a file a round, then says that all is complete.
pub(crate) const BUILDS: &str = r#"if [ $n -le 2 ]; then echo $n > f$n; commit; report $(git rev-parse HEAD)
else printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %h: %s' -2; printf '\n### Summary\nBoth.\n'; fi"#;

pub(crate) const ACCEPTS: &str = "cat > /dev/null; echo ACCEPTED; echo 'C-1: met'";

impl World {
    /// The spec of a milestone in a worktree, in the background, with shell scripts as Developer and Acceptor.
    pub(crate) fn milestone(&self, name: &str, developer: &str, acceptor: &str) -> Value {
        if !self.tasks().iter().any(|task| task == "model") {
            let _ = self.exec(&["--name", "model", "--worktree", "--agent-cmd", AGENT, "go"]).expect(0);
        }
        let text = std::fs::read(self.task_dir("model").join("spec.json")).unwrap();
        let mut spec: Value = serde_json::from_slice(&text).unwrap();
        spec["name"] = name.into();
        spec["kind"] = Milestones::NAME.into();
        spec["tag"] = format!("{}-{name}", spec["tag"].as_str().unwrap()).into();
        spec["foreground"] = false.into();
        spec["details"] = serde_json::to_value(Details {
            definition: DEFINITION.into(),
            path: format!(".dacapo/milestones/{name}.md"),
            frozen: Definition::parse(DEFINITION).unwrap().frozen(),
            max_rejections: 3,
            requires_human_review: false,
            vision: None,
            soul: None,
            memory: None,
            prompts: dacapo_core::task::milestone::Prompts::default(),
        })
        .unwrap();
        spec["policy"]["looping"] = true.into();
        spec["policy"]["cap"] = json!({ "iterations": 20, "source": "iter" });
        spec["place"]["path"] = spec["place"]["path"].as_str().unwrap().replace("model", name).into();
        spec["place"]["branch"] = format!("refs/heads/milestone/{name}").into();
        spec["place"]["base"] = self.git(&["rev-parse", "main"]).into();
        let mut agents = [spec["agents"][0].clone(), spec["agents"][0].clone()];
        agents[0]["command"] = json!({ "shell": format!("{TOOLS}{developer}") });
        agents[1]["command"] = json!({ "shell": acceptor });
        spec["agents"] = agents.into_iter().collect();
        spec
    }

    /// Makes the task, which nobody drives yet.
    pub(crate) fn make(&self, spec: Value) -> TaskDir {
        let spec: TaskSpec = serde_json::from_value(spec).unwrap();
        let dir = TaskDir::at(self.task_dir("model").with_file_name(spec.name.as_str()));
        drop(dir.create(&spec).unwrap());
        dir
    }
}
