//! A text in all languages at once: who made it need not know who reads it.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{Language, Messages};

/// What happened, what was kept, what to do: made far from the surface that shows it, and shown in the user's language there,
/// in English in JSON. Such texts are few and short, so that each is made in all languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    en: String,
    /// None for what is the same in every language: the words of an agent, of git, of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zh: Option<Box<Chinese>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Chinese {
    cn: String,
    tw: String,
}

/// A message in all languages.
pub fn say(message: impl Fn(Messages) -> String) -> Text {
    let of = |language| message(Messages::new(language));
    Text {
        en: of(Language::English),
        zh: Some(Box::new(Chinese {
            cn: of(Language::SimplifiedChinese),
            tw: of(Language::TraditionalChinese),
        })),
    }
}

impl Text {
    pub fn english(&self) -> &str {
        &self.en
    }

    /// As a reader of this language sees it.
    pub fn in_language(&self, language: Language) -> &str {
        match (language, &self.zh) {
            (Language::English, _) | (_, None) => &self.en,
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
        Self { en: words, zh: None }
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
        self.en == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u5_a_text_is_shown_in_the_readers_language() {
        let text = say(|messages| format!("{:?}", messages.language()));
        let shown = Language::ALL.map(|language| text.in_language(language).to_owned());
        assert_eq!(shown, ["English", "SimplifiedChinese", "TraditionalChinese"]);
        assert_eq!(text.to_string(), "English");
        let again: Text = serde_json::from_str(&serde_json::to_string(&text).unwrap()).unwrap();
        assert_eq!(again, text);
    }

    #[test]
    fn u5_other_peoples_words_are_the_same_in_every_language() {
        let text = Text::from("fatal: not a git repository");
        for language in Language::ALL {
            assert_eq!(text.in_language(language), "fatal: not a git repository");
        }
        assert_eq!(serde_json::to_string(&text).unwrap(), r#"{"en":"fatal: not a git repository"}"#);
    }
}
