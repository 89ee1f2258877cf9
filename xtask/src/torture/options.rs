//! What can be asked of `cargo xtask torture`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::Outcome;

pub(super) const HELP: &str = "\
cargo xtask torture [--minutes M | --cases N] [--seed S] [--campaign NAME]… [--jobs J] [--release | --bin FILE]
cargo xtask torture --seed S --case N

  --minutes M      start cases for so long [default: 2]
  --cases N        so many cases, however long they take
  --seed S         the same seed chooses the same cases [default: 1]
  --case N         this case alone, as a failure names it
  --campaign NAME  only cases of this campaign (repeatable)
  --jobs J         so many cases at once [default: 2]
  --release        the release build of the program [default: the development build]
  --bin FILE       this program, without building one

Campaigns:
";

/// Cases of the step of `cargo xtask test`, three of each campaign: less than a minute on two cores.
pub(super) const SHORT: u64 = 48;

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Extent {
    Minutes(f64),
    Cases(u64),
    /// One case alone.
    Case(u64),
}

impl Extent {
    pub(super) fn time(self) -> Duration {
        match self {
            Self::Minutes(minutes) => Duration::from_secs_f64(minutes * 60.0),
            Self::Cases(_) | Self::Case(_) => Duration::from_secs(24 * 3600),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) => write!(f, "{minutes} minutes"),
            Self::Cases(cases) => write!(f, "{cases} cases"),
            Self::Case(number) => write!(f, "case {number}"),
        }
    }
}

/// Which program is tortured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    Debug,
    Release,
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Options {
    pub(super) extent: Extent,
    pub(super) seed: u64,
    /// Numbers of the campaigns; none: all.
    pub(super) campaigns: Vec<usize>,
    pub(super) jobs: usize,
    pub(super) program: Program,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extent: Extent::Minutes(2.0),
            seed: 1,
            campaigns: Vec::new(),
            jobs: 2,
            program: Program::Debug,
        }
    }
}

impl Options {
    pub(super) fn parse(args: &[String], names: &[&str]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--minutes" => {
                    let minutes: f64 = number(arg, value()?)?;
                    if !(0.0..=100_000.0).contains(&minutes) {
                        return Err(format!("--minutes {minutes} is no time"));
                    }
                    options.extent = Extent::Minutes(minutes);
                }
                "--cases" => options.extent = Extent::Cases(number(arg, value()?)?),
                "--case" => options.extent = Extent::Case(number(arg, value()?)?),
                "--seed" => options.seed = number(arg, value()?)?,
                "--jobs" => options.jobs = number::<usize>(arg, value()?)?.max(1),
                "--release" => options.program = Program::Release,
                "--bin" => options.program = Program::File(value()?.into()),
                "--campaign" => {
                    let name = value()?;
                    let found = names.iter().position(|known| known == name);
                    let known = || format!("no campaign '{name}'; there are {}", names.join(", "));
                    options.campaigns.push(found.ok_or_else(known)?);
                }
                other => return Err(format!("`torture` has no '{other}'\n\n{HELP}")),
            }
        }
        Ok(options)
    }

    /// The number of the case that is the `index`th to be run; none when all have been.
    pub(super) fn case_number(&self, index: u64, campaigns: usize) -> Option<u64> {
        match self.extent {
            Extent::Case(number) => return (index == 0).then_some(number),
            Extent::Cases(cases) if index >= cases => return None,
            Extent::Cases(_) | Extent::Minutes(_) => {}
        }
        let (all, chosen) = (campaigns as u64, self.campaigns.len() as u64);
        if chosen == 0 {
            return Some(index);
        }
        let which = self.campaigns.get(usize::try_from(index % chosen).ok()?)?;
        Some(index / chosen * all + *which as u64)
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Outcome<T> {
    text.parse().map_err(|_| format!("{name} needs a number, not '{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Outcome<Options> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Options::parse(&words, &["a", "b", "c"])
    }

    #[test]
    fn arguments() {
        let options = parse(&["--seed", "7", "--minutes", "0.5", "--campaign", "b", "--jobs", "3"]).unwrap();
        assert_eq!((options.seed, options.jobs, options.campaigns.as_slice()), (7, 3, &[1][..]));
        assert_eq!(options.extent, Extent::Minutes(0.5));
        for wrong in [&["--minutes", "-1"][..], &["--campaign", "x"], &["--seed"], &["fast"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_campaign_keeps_the_numbers_that_its_cases_have_among_all() {
        let chosen = parse(&["--campaign", "c", "--campaign", "a", "--cases", "4"]).unwrap();
        let numbers: Vec<Option<u64>> = (0..5).map(|index| chosen.case_number(index, 3)).collect();
        assert_eq!(numbers, [Some(2), Some(0), Some(5), Some(3), None]);
        let one = parse(&["--case", "41"]).unwrap();
        assert_eq!((one.case_number(0, 3), one.case_number(1, 3)), (Some(41), None));
    }
}
