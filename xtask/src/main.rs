//! What people do here, behind `cargo xtask`: no tool has to be installed first.

mod architecture;
mod bench;
mod counts;
mod picture;
mod scan;
mod setup;
mod shell;
mod steps;
mod test;
mod torture;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  test [--quick] [FILTER]   set up, then every check and every test; what CI runs
                            --quick: without the end-to-end tests (test targets named e2e…) and torture
                            FILTER: only the tests whose name contains it
  setup                     only what `test` sets up: the real agents it runs come from npm,
                            pinned, into DACAPO_TEST_CACHE or ~/.cache/dacapo-test
  lint [--write]            the checks of `test` that run no test
                            --write: what is gone from the code goes from the lists in xtask/allowed
  bench [--quick] [--write] [--bin FILE] [NAME…]
                            ratios against bash and git, measured side by side;
                            --write puts the table into docs/benchmarks.md
  torture [--minutes M] [--seed S] [--campaign NAME]
                            kills, mutilates and starves the program, and counts what did not hold
  trial [--runs N] [--seed S]
                            published packages and scripted agents: compares `verified` with a fresh clone
  picture [OPTIONS] -- CMD  docs/run.svg from what CMD shows in a terminal
  messages                  docs/messages.md: every message in every language
  json                      docs/json.md: every JSON object and event, with every field
  help                      this text; `bench`, `picture` and `torture --help` say more
";

/// What every command ends with: done, or a sentence for the person who ran it.
type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let outcome = match command {
        "test" => test::test(rest),
        "setup" => test::set_up(rest),
        "lint" => test::lint(rest),
        "bench" => bench::run(rest),
        "torture" => torture::run(rest),
        "trial" => torture::trial(rest),
        "picture" => picture::run(rest),
        "messages" => test::write_page(test::MESSAGES, rest),
        "json" => test::write_page(test::JSON, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(true)
        }
        other => Err(format!("no command '{other}'\n\n{HELP}")),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}
