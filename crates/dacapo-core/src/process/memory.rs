//! The memory of this process is nobody else's to read: the key of a seal is in it (R4).

use super::TAG_VARIABLE;
use crate::env::Env;

/// Keeps other processes of the user (agents are) from reading this one's memory, by `ptrace` or `/proc`. What it starts is
/// not concerned: a program that is run begins anew.
///
/// Then nobody else can read its environment either. A process that was itself started by an agent stays readable: whoever
/// clears up behind that agent finds it by its tag, and its seal would prove nothing to anybody but that agent.
pub(crate) fn keep_memory_to_ourselves(env: &Env) -> std::io::Result<()> {
    if env.get(TAG_VARIABLE).is_some() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn r4_memory_is_kept_from_others_but_not_from_who_clears_up() {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        let tagged: Env = std::iter::once((TAG_VARIABLE, "tag")).map(|(a, b)| (a.into(), b.into())).collect();
        keep_memory_to_ourselves(&tagged).unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
        keep_memory_to_ourselves(&Env::default()).unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
    }
}
