//! Steps that all run, whatever became of the one before, and a summary that says which failed.

use std::time::{Duration, Instant};

use crate::Outcome;

/// Runs steps in order and remembers how each went.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

struct Done {
    name: &'static str,
    took: Duration,
    failure: Option<String>,
}

impl Steps {
    /// Runs one step under a heading; a failure is told at once and again at the end.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Outcome) -> bool {
        println!("\n── {name}");
        let start = Instant::now();
        let failure = step().err();
        let took = start.elapsed();
        match &failure {
            None => println!("   ok in {}", seconds(took)),
            Some(why) => println!("   FAILED after {}: {why}", seconds(took)),
        }
        let ok = failure.is_none();
        self.done.push(Done { name, took, failure });
        ok
    }

    /// Prints the table; the names of the failed steps.
    pub(crate) fn summary(&self) -> Vec<&'static str> {
        println!("\n── summary");
        for Done { name, took, failure } in &self.done {
            let mark = if failure.is_some() { "FAILED" } else { "ok" };
            println!("{mark:>8}  {name:<14}{:>9}", seconds(*took));
            if let Some(why) = failure {
                for line in why.lines().take(12) {
                    println!("{:10}{line}", "");
                }
            }
        }
        self.done.iter().filter(|d| d.failure.is_some()).map(|d| d.name).collect()
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{:.2} s", time.as_secs_f64())
    } else {
        format!("{:.0} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn later_steps_run_after_a_failure() {
        let mut steps = Steps::default();
        assert!(!steps.run("first", || Err("no".to_owned())));
        let mut ran = false;
        assert!(steps.run("second", || {
            ran = true;
            Ok(())
        }));
        assert!(ran);
        assert_eq!(steps.summary(), ["first"]);
    }
}
