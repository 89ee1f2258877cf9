//! Which environment variables hold a secret, told by their names.

/// Shorter values collide with ordinary words.
pub(super) const SHORTEST: usize = 12;

/// Words that say by themselves that the value is a secret.
const SECRET_WORDS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "PSWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "CRED",
    "CREDS",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "JWT",
    "PAT",
    "COOKIE",
];

/// The same written together with other words: `PGPASSWORD`, `CLIENTSECRET`, `SSHPASS`.
const SECRET_ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
];

/// And before other words: `SECRETKEYBASE`, `PASSWORDHASH`.
const SECRET_BEGINNINGS: &[&str] = &["SECRETKEY", "PASSWORD", "PASSWD", "APIKEY", "AUTHTOKEN", "ACCESSTOKEN"];

/// Words that merely end like one.
const OTHER_WORDS: &[&str] = &[
    "MONKEY",
    "DONKEY",
    "TURKEY",
    "HOTKEY",
    "HOCKEY",
    "JOCKEY",
    "WHISKEY",
    "MICKEY",
    "ASKPASS",
    "COMPASS",
    "ENCOMPASS",
    "BYPASS",
    "OVERPASS",
    "UNDERPASS",
    "SURPASS",
    "TRESPASS",
    "OLDPWD",
];

/// Last words that make a name that of the place, kind or number of a secret rather than of the secret.
const HARMLESS_LAST: &[&str] = &[
    "SOCK", "SOCKET", "FILE", "FILES", "PATH", "PATHS", "DIR", "HOME", "MODE", "TYPE", "METHOD", "ID",
    "NAME", "URL", "URI", "HOST", "PORT", "LIMIT", "COUNT", "MAX", "MIN", "TTL", "HELPER", "PROGRAM",
    "COMMAND", "BINDING", "BINDINGS", "LAYOUT", "ENABLED", "DISABLED", "REQUIRED",
];

/// Whether a variable of this name holds a secret.
pub(super) fn is_secret(name: &str) -> bool {
    // The working directory, not a password.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let words = words(name);
    if words.last().is_some_and(|last| HARMLESS_LAST.contains(&last.as_str())) {
        return false;
    }
    words.iter().any(|word| {
        let word = word.as_str();
        !OTHER_WORDS.contains(&word)
            && (SECRET_WORDS.contains(&word)
                || SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending))
                || SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)))
    })
}

/// The words of a name in capitals: `npm_config__authToken` is NPM, CONFIG, AUTH, TOKEN.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before.is_ascii_lowercase());
        if begins {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_uppercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_names_decide() {
        for name in [
            "OPENAI_API_KEY",
            "OPENAI_APIKEY",
            "GH_TOKEN",
            "GITHUBTOKEN",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "MYSQLPWD",
            "SSHPASS",
            "SMTP_PASS",
            "CLIENTSECRET",
            "clientSecret",
            "client_secret",
            "SECRET_KEY_BASE",
            "SECRETKEYBASE",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "npm_config_//registry/:_authToken",
            "X_AUTH",
            "HTTP_AUTHORIZATION",
            "GPG_PASSPHRASE",
            "AZURE_PAT",
            "SESSION_COOKIE",
            "KEY",
            "PASSWORD",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "KEYBOARD_LAYOUT",
            "XKB_DEFAULT_LAYOUT",
            "SSH_ASKPASS",
            "GIT_ASKPASS",
            "SUDO_ASKPASS",
            "PGPASSFILE",
            "PASSWORD_FILE",
            "TOKEN_PATH",
            "KEY_PATHS",
            "MAX_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "COMPASS",
            "PASSENGER_APP_ENV",
            "AWS_ACCESS_KEY_ID",
            "XKEY_ID",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "PATTERN",
            "EDITOR",
            "SECRETARY",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
