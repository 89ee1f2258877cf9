//! What the symbols mean: `dacapo help symbols`, and the app's `?`.

use unicode_width::UnicodeWidthStr as _;

use crate::messages::Messages;

/// Every symbol with its meaning, the most frequent first.
pub fn symbols(messages: Messages) -> Vec<(&'static str, String)> {
    vec![
        ("✓", messages.symbol_passed()),
        ("●", messages.symbol_unverified()),
        ("○", messages.symbol_not_yet()),
        ("✗", messages.symbol_failed()),
        ("■", messages.symbol_stopped()),
        ("‖", messages.symbol_paused()),
        ("▸", messages.symbol_doing()),
        ("⚠", messages.symbol_warning()),
        ("✗ → ✓", messages.symbol_red_to_green()),
        ("–", messages.symbol_not_there()),
    ]
}

/// A line each.
pub fn page(messages: Messages) -> String {
    let all = symbols(messages);
    let width = all.iter().map(|(symbol, _)| symbol.width()).max().unwrap_or(0);
    let line = |(symbol, meaning): &(&str, String)| {
        format!("  {symbol}{:gap$}  {meaning}", "", gap = width - symbol.width())
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    format!("{}\n{}", messages.symbols_heading(), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::conclusion::{Conclusion, FailedBecause, PausedBecause, StoppedBecause};

    #[test]
    fn u7_every_sign_of_an_end_is_in_the_legend() {
        let known: Vec<&str> = symbols(Messages::ENGLISH).iter().map(|(symbol, _)| *symbol).collect();
        for conclusion in [
            Conclusion::Proven,
            Conclusion::Unverified,
            Conclusion::Failed(FailedBecause::NotStarted),
            Conclusion::Stopped(StoppedBecause::TimeUp),
            Conclusion::Paused(PausedBecause::ByHand),
        ] {
            let sign = conclusion.sign().to_string();
            assert!(known.contains(&sign.as_str()), "{conclusion:?}");
        }
        insta::assert_snapshot!(page(Messages::ENGLISH), @r"
        Symbols (green is used only for what is proven):
          ✓      passed: a check, an iteration whose checks pass, a proven task
          ●      the agent finished; no check judged it
          ○      the agent finished, but a check or the proof failed; in milestones, an open feature
          ✗      it failed
          ■      stopped at a limit, or cancelled
          ‖      paused, by you or because it needs your decision
          ▸      what the agent is doing
          ⚠      look at this: tests, CI, checks or settings changed
          ✗ → ✓  the check failed before and passes now
          –      not found, not configured
        ");
    }
}
