//! Who commits are made by.

use super::Repo;

/// A name and an address, as git would write them into a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// `Ada`.
    pub name: String,
    /// `ada@example.org`.
    pub email: String,
}

impl Repo {
    /// Who the author of a commit here is; none where git itself would not know.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let out = self.call("ask for a name").args(["var", "GIT_AUTHOR_IDENT"]).stdout().ok()?;
        Identity::read(std::str::from_utf8(&out).ok()?)
    }
}

impl Identity {
    /// `Ada <ada@example.org> 1767225600 +0000`
    fn read(text: &str) -> Option<Self> {
        let (text, _date) = text.trim_end().rsplit_once("> ")?;
        let (name, email) = text.rsplit_once(" <")?;
        Some(Self { name: name.to_owned(), email: email.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_from_the_end() {
        let read = Identity::read("Ada <the first> L <ada@localhost> 1767225600 +0000\n");
        assert_eq!(read, Some(Identity { name: "Ada <the first> L".into(), email: "ada@localhost".into() }));
        assert_eq!(Identity::read("nobody"), None);
    }
}
