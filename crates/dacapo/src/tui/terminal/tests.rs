use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;

/// Set where this very test is run again, at a terminal, to panic there.
const INSIDE: &str = "DACAPO_TEST_PANICS_AT_TERMINAL";

#[test]
fn text_is_encoded_for_the_clipboard() {
    for (text, encoded) in
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("ü", "w7w=")]
    {
        assert_eq!(base64(text.as_bytes()), encoded);
    }
}

/// What a release does: no destructor runs, the process is just gone.
#[cfg(target_os = "linux")]
#[test]
fn a_panic_leaves_the_terminal_clean_and_says_what_happened() {
    if std::env::var_os(INSIDE).is_some() {
        let mut terminal = Terminal::enter(MouseOf::App).unwrap();
        terminal.draw(|frame| frame.render_widget("shown", frame.area())).unwrap();
        std::panic::set_hook({
            let hook = std::panic::take_hook();
            Box::new(move |info| {
                hook(info);
                std::process::abort();
            })
        });
        panic!("something is wrong");
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let before = tcgetattr(&slave).unwrap().local_modes;
    let end = || Stdio::from(slave.try_clone().unwrap());
    let test = "tui::terminal::tests::a_panic_leaves_the_terminal_clean_and_says_what_happened";
    let mut inside = Command::new("setsid");
    inside.arg("--ctty").arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    inside.env(INSIDE, "1").stdin(end()).stdout(end()).stderr(end());
    let mut child = inside.spawn().unwrap();
    drop(inside);
    assert!(!child.wait().unwrap().success());
    let after = tcgetattr(&slave).unwrap().local_modes;
    assert_eq!(after, before, "keys are lines again");
    drop(slave);
    let mut said = Vec::new();
    // It ends with an error: nobody has the other end any more.
    let _ = File::from(master).read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    let (screen, rest) = said.rsplit_once("\u{1b}[?1049l").expect("the alternate screen is left");
    assert!(screen.contains("shown") && screen.contains("\u{1b}[?25h"), "{said:?}");
    assert!(screen.contains("\u{1b}[?1002h") && screen.contains("\u{1b}[?1002l"), "{said:?}");
    assert!(rest.contains("something is wrong"), "what happened is said where it stays: {said:?}");
}
