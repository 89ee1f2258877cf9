//! `dacapo doctor`: which agents can be used here, who pays for them, and what is missing (A4).

use super::drive::{AfterTheEnd, listen};
use crate::args::Doctor;
use crate::commands::Console;
use crate::error::Failure;

mod show;

pub(super) fn run(app: &Console, args: &Doctor) -> Result<u8, Failure> {
    let mut examination = app.examine(&args.agents)?;
    if !args.json {
        app.print(&show::agents(&examination.subjects, app.messages));
        app.print(&show::machine(&examination.machine, app.messages));
    }
    let mut cancelled = false;
    if args.probe {
        let announcement = show::before_probes(&examination.ready(), app.messages);
        // Standard output is the report's alone where a program reads it.
        if args.json {
            complain!("{announcement}");
        } else {
            app.print(&announcement);
        }
        cancelled = examination.probe(
            &mut |control| listen(control, AfterTheEnd::Nothing),
            &mut |name, result| {
                if !args.json {
                    app.print(&show::probe(name, result, app.messages));
                }
            },
        )?;
    }
    let report = examination.report();
    if args.json {
        app.print(&serde_json::to_string(&report).unwrap_or_default());
    } else {
        app.print(&show::verdict(&report, app.messages));
    }
    Ok(match (cancelled, report.ok) {
        (true, _) => 130,
        (false, true) => 0,
        (false, false) => 1,
    })
}
