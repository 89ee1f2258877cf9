//! The pid namespace that a process is in: below it nobody sees the processes above.

use std::fmt;
use std::str::FromStr;

/// The first one of the machine has this number on every Linux: whoever is in it sees all processes.
const INITIAL: u64 = 0xEFFF_FFFC;

/// A pid namespace, by the number that the kernel gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PidNamespace(u64);

impl PidNamespace {
    /// That of this process; `None` where nobody can tell.
    pub fn own() -> Option<Self> {
        platform::own()
    }

    /// Whether all processes of the machine are seen from it.
    pub fn is_initial(self) -> bool {
        self.0 == INITIAL
    }
}

impl fmt::Display for PidNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid:[{}]", self.0)
    }
}

impl FromStr for PidNamespace {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix("pid:[").and_then(|rest| rest.strip_suffix(']'));
        number.unwrap_or_default().parse().map(Self)
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use super::PidNamespace;
    use crate::process::procfs::ProcFs;

    pub(super) fn own() -> Option<PidNamespace> {
        let proc = ProcFs::real().ok()?;
        let link = proc.link(proc.own_pid().ok()?, "ns", "pid").ok()?;
        link.to_str()?.parse().ok()
    }
}

/// There is but one.
#[cfg(not(target_os = "linux"))]
mod platform {
    use super::{INITIAL, PidNamespace};

    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may not be known")]
    pub(super) fn own() -> Option<PidNamespace> {
        Some(PidNamespace(INITIAL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r7_a_namespace_is_known_by_its_number() {
        assert_eq!("pid:[4026531836]".parse(), Ok(PidNamespace(INITIAL)));
        assert!(PidNamespace(INITIAL).is_initial() && !PidNamespace(7).is_initial());
        assert_eq!(PidNamespace(7).to_string().parse(), Ok(PidNamespace(7)));
        for odd in ["", "7", "pid:[]", "pid:[x]", "mnt:[7]"] {
            assert!(odd.parse::<PidNamespace>().is_err(), "{odd}");
        }
        let own = PidNamespace::own().expect("a system with /proc");
        assert_eq!(own.to_string().parse(), Ok(own));
    }
}
