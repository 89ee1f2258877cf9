//! What a remote's address says: which host, which project there. What it must not say aloud: passwords.

/// A remote's address, taken apart as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its host, without user and port; none for a directory.
    pub host: Option<String>,
    /// The project there: `owner/name`, or deeper.
    pub project: Option<String>,
    /// A directory, as it is.
    local: Option<String>,
}

impl Address {
    /// From any form that git takes: `https://host/o/r.git`, `ssh://git@host:22/o/r`, `git@host:o/r.git`, a directory.
    pub fn parse(url: &str) -> Self {
        let remote = |host: &str, path: &str| {
            let project = path.trim_matches('/');
            let project = project.strip_suffix(".git").unwrap_or(project);
            Address {
                host: Some(host.to_ascii_lowercase()).filter(|host| !host.is_empty()),
                project: Some(project.to_owned()).filter(|project| project.contains('/')),
                local: None,
            }
        };
        let local = || Address { host: None, project: None, local: Some(url.to_owned()) };
        if let Some((scheme, rest)) = url.split_once("://") {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = without_user(host);
            // A colon inside brackets belongs to the host.
            let host = match host.rfind(':') {
                Some(colon) if !host[colon..].contains(']') => &host[..colon],
                _ => host,
            };
            return if scheme == "file" { local() } else { remote(host, path) };
        }
        match url.split_once(':') {
            // `host:path`; a slash before the colon makes it a directory.
            Some((host, path)) if !host.contains('/') && host.len() > 1 => remote(without_user(host), path),
            _ => local(),
        }
    }

    /// For people: no user, no password.
    pub fn shown(&self) -> String {
        match (&self.host, &self.project, &self.local) {
            (Some(host), Some(project), _) => format!("{host}/{project}"),
            (Some(host), None, _) => host.clone(),
            (None, _, Some(local)) => local.clone(),
            (None, _, None) => "an unknown place".to_owned(),
        }
    }

    /// `host/owner/name`, where the host is one that everybody understands: names of the user's own ssh config are not.
    pub fn full_name(&self) -> Option<String> {
        let host = self.host.as_deref().filter(|host| host.contains('.'))?;
        Some(format!("{host}/{}", self.project.as_deref()?))
    }
}

fn without_user(host: &str) -> &str {
    host.rsplit('@').next().unwrap_or_default()
}

/// A text in which addresses have neither user nor password.
pub(super) fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end =
            after.find(|c: char| c == '/' || c.is_whitespace() || "'\"<>".contains(c)).unwrap_or(after.len());
        let authority = &after[..end];
        rest = match authority.rfind('@') {
            Some(sign) => {
                out.push_str("***");
                &after[sign..]
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s12_addresses_are_understood_in_every_form() {
        for (url, host, project) in [
            ("https://github.com/o/r.git", Some("github.com"), Some("o/r")),
            ("https://user:tok@GitHub.com:8443/o/r/", Some("github.com"), Some("o/r")),
            ("https://user:tok@github.com/o/r", Some("github.com"), Some("o/r")),
            ("ssh://git@gitlab.example:22/g/sub/r.git", Some("gitlab.example"), Some("g/sub/r")),
            ("git@codeberg.org:o/r.git", Some("codeberg.org"), Some("o/r")),
            ("github-work:o/r", Some("github-work"), Some("o/r")),
            ("https://[::1]:3000/o/r", Some("[::1]"), Some("o/r")),
            ("https://host", Some("host"), None),
            ("/srv/git/r.git", None, None),
            ("./a:b/c", None, None),
            ("file:///srv/r.git", None, None),
            ("", None, None),
        ] {
            let address = Address::parse(url);
            assert_eq!((address.host.as_deref(), address.project.as_deref()), (host, project), "{url}");
            assert!(!address.shown().contains("tok"), "{}", address.shown());
        }
        assert_eq!(Address::parse("github-work:o/r").full_name(), None);
        assert_eq!(Address::parse("git@github.com:o/r").full_name().as_deref(), Some("github.com/o/r"));
    }

    #[test]
    fn s15_passwords_in_addresses_are_not_repeated() {
        for (text, masked) in [
            (
                "fatal: unable to access 'https://u:p%40ss@h/r/': no",
                "fatal: unable to access 'https://***@h/r/': no",
            ),
            ("https://token@h and ssh://git@h:22/x", "https://***@h and ssh://***@h:22/x"),
            ("mail a@b, see https://h/x@y", "mail a@b, see https://h/x@y"),
            ("://", "://"),
        ] {
            assert_eq!(without_passwords(text), masked);
        }
    }
}
