//! Who touches what is not theirs, on real repositories: an Acceptor that commits or litters, a Developer on main (M2, M4).

use std::fs;

use dacapo_core::event::Event;
use dacapo_core::git::Oid;
use dacapo_core::store::{TaskDir, read};
use dacapo_core::task::milestone::MilestoneStep;

use super::{ACCEPTS, BUILDS};
use crate::support::World;

fn events(dir: &TaskDir) -> Vec<Event> {
    let mut events = Vec::new();
    read(&dir.journal_path(), |line: dacapo_core::event::Envelope| events.push(line.event)).unwrap();
    events
}

fn steps(dir: &TaskDir) -> Vec<MilestoneStep> {
    events(dir).iter().filter_map(MilestoneStep::of).collect()
}

fn starts(dir: &TaskDir) -> Vec<Oid> {
    let starts = events(dir).into_iter().filter_map(|event| match event {
        Event::IterationStarted { start_commit, .. } => start_commit,
        _ => None,
    });
    starts.collect()
}

#[test]
fn m4_an_acceptor_that_commits_has_accepted_nothing_and_its_commit_is_not_the_developers() {
    let world = World::new();
    let prompts = world.scratch("prompt");
    let acceptor = format!(
        "cat > {}-$DACAPO_ITERATION; echo ACCEPTED; echo 'C-1: met'
        if [ $DACAPO_ITERATION = 0 ]; then echo mine > sneaky; git add -A; git -c user.name=a -c user.email=a@a commit -qm 'fix: for you'; fi",
        prompts.display()
    );
    let developer = format!("if [ $n = 2 ]; then git reset -q --hard HEAD~1; fi\n{BUILDS}");
    let dir = world.make(world.milestone("two", &developer, &acceptor));
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(0);
    let first = world.git(&["rev-parse", "milestone/two~1"]);
    let touched = steps(&dir).into_iter().find_map(|step| match step {
        MilestoneStep::TreeTouched { judged, tip, dirty, .. } => Some((judged, tip, dirty)),
        _ => None,
    });
    let (judged, tip, dirty) = touched.unwrap_or_else(|| panic!("{:#?}", steps(&dir)));
    assert_eq!(judged.as_ref().map(Oid::as_str), Some(first.as_str()));
    assert!(tip.is_some_and(|tip| tip.as_str() != first) && dirty.is_empty());
    let starts = starts(&dir);
    assert_eq!(starts[1], starts[0], "nobody has judged the round: all of it is judged with the next one");
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]), "feat: 2\nfeat: 1");
    let status = world.status("two");
    let counts = (&status["iterations_succeeded"], &status["iterations_failed"]);
    assert_eq!(counts, (&2.into(), &1.into()), "{status:#}");
    // The Acceptor has read the diff itself.
    let told = fs::read_to_string(world.scratch("prompt-1")).unwrap();
    assert!(
        told.contains("```diff\ndiff --git a/f1 b/f1\nnew file mode 100644\n")
            && told.contains("\ndiff --git a/f2 b/f2\nnew file mode 100644\n")
            && told.contains("\n+2\n```"),
        "{told}"
    );
    assert!(told.contains("You judge, and change nothing"), "{told}");
    world.assert_nothing_left("two");
}

#[test]
fn m5_what_an_acceptor_leaves_in_the_end_is_kept_and_does_not_undo_its_verdict() {
    let world = World::new();
    let acceptor = format!("{ACCEPTS}; if [ $DACAPO_ITERATION = 2 ]; then echo scribble > notes.txt; fi");
    let dir = world.make(world.milestone("two", BUILDS, &acceptor));
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(0);
    let Some(MilestoneStep::TreeKept { reference: Some(kept) }) = steps(&dir).pop() else {
        panic!("{:#?}", steps(&dir))
    };
    assert_eq!(world.git(&["show", &format!("{kept}:notes.txt")]), "scribble");
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]), "feat: 2\nfeat: 1");
    world.assert_nothing_left("two");
}

#[test]
fn m2_main_moved_from_here_is_asked_about_and_what_a_person_commits_there_is_nobodys_business() {
    let world = World::unconfined();
    let main = world.git(&["rev-parse", "main"]);
    // In round 2 a person commits in a checkout of theirs.
    let developer = format!(
        "if [ $n = 1 ]; then echo 1 > f1; commit; git -C '{0}' fetch -q \"$PWD\" HEAD; \
         git -C '{0}' update-ref refs/heads/main FETCH_HEAD; report $(git rev-parse HEAD); exit; fi
        if [ $n = 2 ]; then git -C '{0}' -c user.name=p -c user.email=p@p commit -q --allow-empty -m 'chore: mine'; fi
        {BUILDS}",
        world.repo().display()
    );
    let dir = world.make(world.milestone("two", &developer, ACCEPTS));
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(4);
    assert_eq!(world.status("two")["needs"]["kind"], "main");
    let _ = world.git(&["update-ref", "refs/heads/main", &main]);
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(0);
    let asked =
        steps(&dir).into_iter().filter(|step| matches!(step, MilestoneStep::MainMoved { .. })).count();
    assert_eq!(asked, 1);
    assert_eq!(world.git(&["log", "--format=%s", "-1", "main"]), "chore: mine");
    assert_eq!(world.git(&["rev-parse", "main~1"]), main, "main is never touched");
    world.assert_nothing_left("two");
}

#[test]
fn s2_a_milestones_limits_are_set_by_its_own_names() {
    let world = World::new();
    world.make(world.milestone("two", BUILDS, ACCEPTS));
    let refused = world.run(&["set", "two", "stall=3"]).expect(2);
    assert!(
        refused.stderr.contains("these can be changed: rounds, rejections, call-timeout"),
        "{}",
        refused.stderr
    );
    let refused = world.run(&["set", "two", "rounds=x"]).expect(2);
    assert!(refused.stderr.contains("rounds=x: expected a count such as 10 or +5"), "{}", refused.stderr);
    let _ = world.run(&["set", "two", "rounds=+10", "call-timeout=5m", "rejections=5"]).expect(0);
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(0);
    let status = world.status("two");
    assert_eq!(status["max_iterations"], 30, "{status:#}");
    world.assert_nothing_left("two");
}
