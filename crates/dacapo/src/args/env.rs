//! `--env KEY=VALUE`.

/// What Dacapo itself tells every child.
const OURS: &str = "DACAPO_";

/// One variable.
pub(super) fn variable(word: &str) -> Result<(String, String), String> {
    let Some((name, value)) = word.split_once('=') else {
        return Err("expected KEY=VALUE".to_owned());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(plain) {
        return Err(format!("'{name}' is no name of a variable: letters, digits and '_'"));
    }
    if name.starts_with(OURS) {
        return Err(format!("{OURS}… is set by Dacapo itself"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn s17_a_variable_has_a_name_and_a_value() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(variable("A=b=c"), pair("A", "b=c"));
        assert_eq!(variable("_a1="), pair("_a1", ""));
        for word in ["A", "=b", "1A=b", "A B=c", "A-B=c", "DACAPO_TASK=x", ""] {
            assert!(variable(word).is_err(), "{word}");
        }
    }
}
