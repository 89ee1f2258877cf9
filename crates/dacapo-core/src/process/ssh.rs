//! The system's settings for ssh, for a room in which they would seem to be nobody's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

const SSH: &str = "/etc/ssh/ssh_config.d";

/// Copies them to a directory below `beside`, so that they belong to the user. Returns where they are and where the copy is; none:
/// there are none, or root needs no copy.
pub(crate) fn ssh_settings_for_rooms(beside: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let Ok(entries) = fs::read_dir(SSH) else { return Ok(None) };
    if rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let own = beside.join("ssh_config.d");
    let mut any = false;
    for entry in entries.flatten() {
        // What we cannot read, ssh cannot read either.
        if let Ok(text) = fs::read(entry.path()) {
            fs::create_dir_all(&own)?;
            files::replace(&own.join(entry.file_name()), &text)?;
            any = true;
        }
    }
    Ok(any.then(|| (PathBuf::from(SSH), own)))
}
