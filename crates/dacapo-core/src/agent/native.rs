//! Who pays for our own agent `native`: what its arguments say about the endpoint.

use super::{Account, Billing, UserEnv};

/// The arguments are ours (`__native --api … --base-url … --key-env …`), so a value follows each name.
pub(super) fn account(arguments: &[String], user_env: &UserEnv<'_>) -> Account {
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let base_url = value("--base-url");
    let variable = value("--key-env").or(match (base_url, value("--api")) {
        (Some(_), _) => None,
        (None, Some("anthropic")) => Some("ANTHROPIC_API_KEY"),
        (None, _) => Some("OPENAI_API_KEY"),
    });
    let Some(variable) = variable else {
        // An endpoint without a key is one account for all who use it.
        let (logged_in, credential) = (Some(true), Some(String::new()));
        return Account {
            logged_in,
            credential,
            base_url: base_url.map(str::to_owned),
            ..Account::default()
        };
    };
    let key = user_env.var(variable);
    Account {
        logged_in: Some(key.is_some()),
        billing: key.map_or(Billing::Unknown, |_| Billing::ApiKey(variable.to_owned())),
        credential: key.map(str::to_owned),
        base_url: base_url.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l9_an_account_is_an_endpoint_and_a_key() {
        let env = [("MY_KEY".into(), "k".into()), ("OPENAI_API_KEY".into(), "o".into())];
        let of = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            let account = account(&arguments, &UserEnv { env: &env });
            (account.credential, account.base_url, account.billing)
        };
        let billed = |variable: &str| Billing::ApiKey(variable.to_owned());
        let url = || Some("http://h/v1".to_owned());
        assert_eq!(of(&["__native", "--api", "openai"]), (Some("o".into()), None, billed("OPENAI_API_KEY")));
        assert_eq!(of(&["__native", "--api", "anthropic"]), (None, None, Billing::Unknown));
        let own = ["__native", "--api", "openai", "--base-url", "http://h/v1"];
        assert_eq!(of(&own), (Some(String::new()), url(), Billing::Unknown));
        let keyed = [&own[..], &["--key-env", "MY_KEY"]].concat();
        assert_eq!(of(&keyed), (Some("k".into()), url(), billed("MY_KEY")));
    }
}
