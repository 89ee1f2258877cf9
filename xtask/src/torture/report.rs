//! What a person reads at the end: counts per campaign, and each failure with the command that repeats it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Failed;
use super::tally::{Fault, Tally};

/// Prints a line for each campaign. What was not counted is 0, and shown as that.
pub(super) fn print(sums: &BTreeMap<&'static str, Tally>, took: Duration) {
    println!("\n── counts");
    let mut all = Tally::default();
    for (name, tally) in sums {
        print_sum(name, tally);
        all.add(tally.clone());
    }
    print_sum("all", &all);
    for remark in &all.remarks {
        println!("note: {remark}");
    }
    println!("in {:.0} s", took.as_secs_f64());
}

fn print_sum(name: &str, tally: &Tally) {
    let mut counts: Vec<String> = vec![format!("{} cases", tally.counts.get("cases").copied().unwrap_or(0))];
    counts.extend(
        tally
            .counts
            .iter()
            .filter(|(what, _)| *what != "cases")
            .map(|(what, count)| format!("{what} {count}")),
    );
    println!("{name:<14}{}", counts.join(" · "));
    let faults: Vec<String> =
        Fault::ALL.iter().map(|fault| format!("{} {}", fault.word(), tally.faults_of(*fault))).collect();
    println!("{:<14}{}", "", faults.join(" · "));
}

/// A case that failed, and how to see it again.
pub(super) fn print_failed(case: &Failed, seed: u64) {
    println!("\nFAILED case {} ({})", case.number, case.campaign);
    for (fault, text) in &case.faults {
        let lines: Vec<&str> = text.lines().take(30).collect();
        println!("  {}: {}", fault.word(), lines.join("\n    "));
    }
    println!("  repeat: cargo xtask torture --seed {seed} --case {}", case.number);
    println!("  kept:   {} (out/log says what was run)", case.dir.display());
}

/// The same in a line, for the end.
pub(super) fn print_again(case: &Failed, seed: u64) {
    let mut faults: Vec<&str> = case.faults.iter().map(|(fault, _)| fault.word()).collect();
    faults.dedup();
    println!(
        "FAILED {}: {}; cargo xtask torture --seed {seed} --case {}",
        case.campaign,
        faults.join(", "),
        case.number
    );
}
