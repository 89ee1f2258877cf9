//! Who an agent commits as, where its own shell would hide that from git.

use std::ffi::OsString;

use crate::git::Identity;

const COUNT: &str = "GIT_CONFIG_COUNT";

/// Adds the user's name and address to an environment as settings of git, after those that are there. A name that a
/// command gives itself (`git -c user.name=…`, `GIT_AUTHOR_NAME`) still counts.
pub(super) fn tell(env: &mut Vec<(OsString, OsString)>, identity: &Identity) {
    let count = env.iter().rev().find(|(name, _)| name == COUNT);
    let count = count.and_then(|(_, count)| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
    let settings = [("user.name", &identity.name), ("user.email", &identity.email)];
    env.retain(|(name, _)| name != COUNT);
    env.push((COUNT.into(), (count + settings.len()).to_string().into()));
    for (at, (key, value)) in (count..).zip(settings) {
        env.push((format!("GIT_CONFIG_KEY_{at}").into(), key.into()));
        env.push((format!("GIT_CONFIG_VALUE_{at}").into(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_after_what_is_there() {
        let given = [("GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_VALUE_0", "c"), (COUNT, "1")];
        let mut env: Vec<(OsString, OsString)> =
            given.iter().map(|(name, value)| (name.into(), value.into())).collect();
        tell(&mut env, &Identity { name: "Ada L".into(), email: "ada@localhost".into() });
        let told: Vec<String> =
            env.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        assert_eq!(
            told,
            [
                "GIT_CONFIG_KEY_0=a.b",
                "GIT_CONFIG_VALUE_0=c",
                "GIT_CONFIG_COUNT=3",
                "GIT_CONFIG_KEY_1=user.name",
                "GIT_CONFIG_VALUE_1=Ada L",
                "GIT_CONFIG_KEY_2=user.email",
                "GIT_CONFIG_VALUE_2=ada@localhost",
            ]
        );
    }
}
