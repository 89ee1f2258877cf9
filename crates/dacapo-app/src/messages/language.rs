//! The languages of the interface, and which one a user reads.

use std::ffi::OsStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    #[serde(rename = "en")]
    #[expect(missing_docs, reason = "a doc comment here would turn the schema's plain `enum` into a `oneOf`")]
    English,
    #[serde(rename = "zh-CN")]
    #[expect(missing_docs, reason = "as above")]
    SimplifiedChinese,
    #[serde(rename = "zh-TW")]
    #[expect(missing_docs, reason = "as above")]
    TraditionalChinese,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::English, Self::SimplifiedChinese, Self::TraditionalChinese];

    /// As it is written in the configuration.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::SimplifiedChinese => "zh-CN",
            Self::TraditionalChinese => "zh-TW",
        }
    }

    /// The one that is written so in the configuration.
    pub fn tagged(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// The language of a locale such as `zh_TW.UTF-8`. Chinese without a script or region is simplified.
    pub fn of_locale(locale: &str) -> Self {
        let locale = locale.split(['.', '@']).next().unwrap_or_default().replace('-', "_").to_lowercase();
        let mut parts = locale.split('_');
        if parts.next() != Some("zh") {
            return Self::English;
        }
        match parts.find(|part| matches!(*part, "hans" | "hant" | "tw" | "hk" | "mo" | "cn" | "sg")) {
            Some("hant" | "tw" | "hk" | "mo") => Self::TraditionalChinese,
            _ => Self::SimplifiedChinese,
        }
    }

    /// The language of the user's locale, with the variable that names it: `LC_ALL`, else `LC_MESSAGES`, else `LANG`.
    pub fn of_environment<'a>(
        variable: impl Fn(&'static str) -> Option<&'a OsStr>,
    ) -> Option<(&'static str, Self)> {
        ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(|name| {
            let locale = variable(name).filter(|value| !value.is_empty())?;
            Some((name, Self::of_locale(&locale.to_string_lossy())))
        })
    }

    /// The word by which an agent is told to go on, where its profile says nothing (L13).
    pub fn follow_up(self) -> &'static str {
        match self {
            Self::English => "Continue.",
            Self::SimplifiedChinese => "继续",
            Self::TraditionalChinese => "繼續",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u5_a_locale_names_a_language() {
        use Language::{English, SimplifiedChinese, TraditionalChinese};
        for (locale, language) in [
            ("", English),
            ("C", English),
            ("POSIX", English),
            ("en_US.UTF-8", English),
            ("de_DE.UTF-8", English),
            ("zho", English),
            ("zh", SimplifiedChinese),
            ("zh_CN.UTF-8", SimplifiedChinese),
            ("zh_SG", SimplifiedChinese),
            ("zh-Hans-TW", SimplifiedChinese),
            ("zh_TW.UTF-8", TraditionalChinese),
            ("zh_HK.big5@stroke", TraditionalChinese),
            ("zh_Hant", TraditionalChinese),
        ] {
            assert_eq!(Language::of_locale(locale), language, "{locale}");
        }
    }

    #[test]
    fn u5_the_first_variable_that_is_set_decides() {
        let of = |set: &[(&str, &'static str)]| {
            Language::of_environment(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsStr::new(*value))
            })
        };
        let (traditional, simplified) = (Language::TraditionalChinese, Language::SimplifiedChinese);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Some(("LANG", simplified)));
        assert_eq!(of(&[("LC_ALL", ""), ("LANG", "zh_TW.UTF-8")]), Some(("LANG", traditional)));
        assert_eq!(of(&[("LC_ALL", "C"), ("LANG", "zh_TW.UTF-8")]), Some(("LC_ALL", Language::English)));
        assert_eq!(of(&[("LC_MESSAGES", "zh_TW"), ("LANG", "en_US")]), Some(("LC_MESSAGES", traditional)));
    }

    #[test]
    fn u5_each_language_is_found_by_its_tag() {
        for language in Language::ALL {
            assert_eq!(Language::tagged(language.tag()), Some(language));
            assert_eq!(serde_json::to_value(language).unwrap(), language.tag());
        }
        assert_eq!(Language::tagged("fr"), None);
    }
}
