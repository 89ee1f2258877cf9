use proptest::prelude::*;

use super::*;

#[test]
fn c6_at_most_five_files_are_named() {
    let names: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
    assert_eq!(files(&names[..2], 2), "f0, f1");
    assert_eq!(files(&names, 8), "f0, f1, f2, f3, f4, ... (3 more)");
    assert_eq!(files(&names, 5000), "f0, f1, f2, f3, f4, ... (4995 more)");
    assert_eq!(files(&[], 0), "none");
    assert_eq!(files(&["a\nb".to_owned()], 1), "a\\nb");
    assert_eq!(files(&["it's \"文件\".rs".to_owned()], 1), "it's \"文件\".rs");
    assert!(files(&["x/".repeat(2000)], 1).len() < 200);
}

fn past(iteration: u32, summary: &str, error: Option<&str>) -> Past {
    Past {
        iteration,
        left: "commit 1234567".into(),
        files: "src/a.rs".into(),
        files_total: 1,
        summary: summary.into(),
        error: error.map(str::to_owned),
    }
}

fn history(bytes: usize, summaries: &[(String, bool)]) -> History {
    let mut history = History::within(bytes);
    for (iteration, (summary, failed)) in summaries.iter().enumerate() {
        history.push(past(u32::try_from(iteration).unwrap(), summary, failed.then_some("exit 1")));
    }
    history
}

#[test]
fn c7_whole_then_lines_then_a_count() {
    let said: Vec<_> =
        (0..40).map(|n| (format!("Did part {n}. Then {}.", "more ".repeat(20)), n % 10 == 3)).collect();
    let whole: Vec<String> = said[36..]
        .iter()
        .zip(36..)
        .map(|((summary, _), n)| {
            format!("### Iteration {n} → commit 1234567\nFiles: src/a.rs\nSummary: {summary}")
        })
        .collect();
    assert_eq!(
        history(1000, &said).render(1000),
        format!(
            "- 0 to 32: 33 iterations are left out here (3 failed); `git log` has them\n\
             - 33 → commit 1234567, 1 file, failed: Did part 33\n\
             - 34 → commit 1234567, 1 file: Did part 34\n\
             - 35 → commit 1234567, 1 file: Did part 35\n\n{}",
            whole.join("\n\n")
        )
    );
}

#[test]
fn c7_a_summary_is_only_cut_where_it_alone_is_too_long() {
    let said = vec![("Short.".to_owned(), false), ("長".repeat(2000), false)];
    let text = history(2000, &said).render(2000);
    assert!(
        text.starts_with("- 0: 1 iteration is left out here (0 failed); `git log` has it\n\n###"),
        "{text}"
    );
    assert!(text.ends_with("[... truncated for length ...]"), "{text}");
    assert!(text.len() <= 2000 && text.len() > 1700, "{}", text.len());
    let whole = history(32_000, &said).render(32_000);
    assert!(whole.contains(&said[1].0) && whole.contains("### Iteration 0 → "), "{whole}");
}

#[test]
fn c7_of_next_to_no_bytes_the_count_is_left() {
    let said = vec![("x".repeat(500), true); 3];
    assert_eq!(
        history(40, &said).render(40),
        "- 0 to 2: 3 iterations are left out here (3 failed); `git log` has them"
    );
    assert_eq!(history(40, &[]).render(40), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was said, the section keeps to the budget, so a prompt does not grow once it is full; and every
    /// iteration is whole, a line or counted, in this order and without holes.
    #[test]
    fn c7_the_budget_is_the_only_bound(
        said in prop::collection::vec(("([a-z長 ]{0,30}[.] ){0,9}", any::<bool>()), 1..60),
        budget in 120_usize..6_000,
        taken in 0_usize..3_000,
    ) {
        let bytes = budget.saturating_sub(taken).max(120);
        let history = history(budget, &said);
        let text = history.render(bytes);
        prop_assert!(text.len() <= bytes, "{} for {bytes}\n{text}", text.len());
        let held = history.newest.iter().skip(1).map(|past| past.whole().len()).sum::<usize>();
        prop_assert!(held <= budget && history.older_bytes <= budget, "memory is bounded too");

        let counted = text.split(" iteration").next().and_then(|line| line.rsplit(' ').next());
        let counted = if text.contains("left out here") { counted.unwrap().parse().unwrap() } else { 0 };
        let place = |n: usize| {
            let whole = text.contains(&format!("### Iteration {n} → "));
            let line = text.contains(&format!("- {n} → "));
            u8::from(line) + 2 * u8::from(whole)
        };
        let places: Vec<u8> = (0..said.len()).map(place).collect();
        prop_assert!(places.is_sorted() && !places.contains(&3), "{places:?}");
        prop_assert_eq!(places.iter().filter(|place| **place == 0).count(), counted);

        // One more whole iteration would not have fitted.
        if let Some(next) = places.iter().rposition(|place| *place < 2) {
            let wholes: usize = (next..said.len())
                .map(|n| past(u32::try_from(n).unwrap(), &said[n].0, said[n].1.then_some("exit 1")).whole().len())
                .sum();
            prop_assert!(wholes + LeftOut::MOST_BYTES > bytes, "{wholes} of {bytes}");
        } else {
            prop_assert!(text.contains(said[0].0.trim()), "all of it is there");
        }
    }
}
