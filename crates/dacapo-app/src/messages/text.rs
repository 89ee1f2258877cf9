//! A text in all languages at once: who made it need not know who reads it.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{Language, Messages, Surface};

/// What happened, what was kept, what to do: made far from the surface that shows it, and shown in the user's language there,
/// in English in JSON. Such texts are few and short, so that each is made in all languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    // Boxed, so that a `Failure`, which holds several, stays small enough to be returned by value.
    en: Box<str>,
    /// None for what is the same in every language: the words of an agent, of git, of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zh: Option<Box<Chinese>>,
    /// As the app says it, where that is something else: it names a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    app: Option<Box<Text>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Chinese {
    cn: String,
    tw: String,
}

/// A message in all languages.
pub fn say(message: impl Fn(Messages) -> String) -> Text {
    let of = |surface: fn(Messages) -> Messages| {
        let of = |language| message(surface(Messages::new(language)));
        let (en, cn, tw) =
            (of(Language::English), of(Language::SimplifiedChinese), of(Language::TraditionalChinese));
        let zh = (en != cn || en != tw).then(|| Box::new(Chinese { cn, tw }));
        Text { en: en.into(), zh, app: None }
    };
    let (shell, app) = (of(|messages| messages), of(Messages::for_app));
    let app = (app != shell).then(|| Box::new(app));
    Text { app, ..shell }
}

/// A command, as it is typed where the text is read: `command("kill x")`.
pub fn command(words: impl fmt::Display) -> Text {
    say(|messages| messages.command(&words))
}

impl Text {
    pub fn english(&self) -> &str {
        &self.en
    }

    /// As this reader sees it.
    pub fn in_words(&self, messages: Messages) -> &str {
        let text = match messages.surface {
            Surface::Shell => self,
            Surface::App => self.app.as_deref().unwrap_or(self),
        };
        match (messages.language, &text.zh) {
            (Language::English, _) | (_, None) => &text.en,
            (Language::SimplifiedChinese, Some(chinese)) => &chinese.cn,
            (Language::TraditionalChinese, Some(chinese)) => &chinese.tw,
        }
    }
}

/// For JSON, which is English: `#[serde(serialize_with = "english")]`.
pub fn english<S: Serializer>(text: &Text, serializer: S) -> Result<S::Ok, S::Error> {
    text.en.serialize(serializer)
}

/// The same where there may be none.
pub fn english_or_null<S: Serializer>(text: &Option<Text>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_ref().map(Text::english).serialize(serializer)
}

/// Somebody else's words, in the language they were said in.
impl From<String> for Text {
    fn from(words: String) -> Self {
        Self { en: words.into(), zh: None, app: None }
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.en)
    }
}

/// The English is what tests and scripts look at.
impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        &*self.en == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u5_a_text_is_shown_in_the_readers_language() {
        let text = say(|messages| format!("{:?}", messages.language()));
        let shown = Language::ALL.map(|language| text.in_words(Messages::new(language)).to_owned());
        assert_eq!(shown, ["English", "SimplifiedChinese", "TraditionalChinese"]);
        assert_eq!(text.to_string(), "English");
        let again: Text = serde_json::from_str(&serde_json::to_string(&text).unwrap()).unwrap();
        assert_eq!(again, text);
    }

    #[test]
    fn u5_other_peoples_words_are_the_same_in_every_language() {
        let text = Text::from("fatal: not a git repository");
        for language in Language::ALL {
            assert_eq!(text.in_words(Messages::new(language)), "fatal: not a git repository");
        }
        assert_eq!(serde_json::to_string(&text).unwrap(), r#"{"en":"fatal: not a git repository"}"#);
    }

    #[test]
    fn u7_a_text_that_names_a_command_has_a_form_for_the_app() {
        let text = command("kill x");
        assert_eq!(text.in_words(Messages::ENGLISH), "dacapo kill x");
        assert_eq!(text.in_words(Messages::new(Language::TraditionalChinese).for_app()), "/kill x");
        let text = say(|m| m.hint_kill_ends_it("x"));
        assert_eq!(text.in_words(Messages::ENGLISH.for_app()), "/kill x ends it");
        assert_eq!(text.in_words(Messages::new(Language::SimplifiedChinese).for_app()), "/kill x 结束它");
        assert_eq!(text.english(), "dacapo kill x ends it");
        let again: Text = serde_json::from_str(&serde_json::to_string(&text).unwrap()).unwrap();
        assert_eq!(again, text);
    }
}
