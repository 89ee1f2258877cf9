//! Which environment variables hold a secret, told by their names.

/// Shorter values collide with ordinary words.
pub(super) const SHORTEST: usize = 12;

/// Words that say by themselves that the value is a secret.
const SECRET_WORDS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "PSWD",
    "CREDENTIAL",
    "CRED",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "JWT",
    "PAT",
    "COOKIE",
];

/// The same written together with other words: `PGPASSWORD`, `CLIENTSECRET`, `SSHPASS`.
const SECRET_ENDINGS: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "CREDENTIAL"];

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
    "AUTH0",
];

/// Beside these, tokens are what a model reads and writes.
const COUNTED: &[&str] =
    &["MAX", "MIN", "NUM", "COUNT", "LIMIT", "BUDGET", "INPUT", "OUTPUT", "THINKING", "CONTEXT", "SUMMARY"];

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
    // The second of several is as secret as the first.
    let words: Vec<String> = words(name).into_iter().filter(|word| !is_number(word)).collect();
    // With it and the key a person is known: AWS calls it a credential.
    let is_key_id = words.iter().rev().map(String::as_str).take(3).eq(["ID", "KEY", "ACCESS"]);
    if is_key_id {
        return true;
    }
    if words.last().is_some_and(|last| HARMLESS_LAST.contains(&last.trim_end_matches(is_digit))) {
        return false;
    }
    let is_count = words.iter().any(|word| COUNTED.contains(&word.as_str()));
    words.iter().any(|word| {
        let word = word.as_str();
        let single = word.trim_end_matches(is_digit);
        let singular = single.strip_suffix('S').unwrap_or(single);
        let is_other = [word, single, singular].iter().any(|word| OTHER_WORDS.contains(word));
        let is_number_of = single == "TOKENS" && is_count;
        !is_other && !is_number_of && (is_secret_word(single) || is_secret_word(singular))
    })
}

fn is_secret_word(word: &str) -> bool {
    SECRET_WORDS.contains(&word)
        || SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending))
        || SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_number(word: &str) -> bool {
    word.chars().all(is_digit)
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
            "API_KEYS",
            "APIKEYS",
            "ACCESS_TOKENS",
            "TOKEN2",
            "TOKEN_2",
            "KEY1",
            "GITHUB_PAT2",
            "DB_PASSWORD1",
            "SSHPASS2",
            "AWS_ACCESS_KEY_ID",
            "ALIBABA_CLOUD_ACCESS_KEY_ID",
            "AWS_ACCESS_KEY_ID_2",
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
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "MAX_THINKING_TOKENS",
            "MAX_TOKENS_2",
            "MONKEYS",
            "HOTKEYS",
            "AUTH0_DOMAIN",
            "KEY_FILE2",
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
