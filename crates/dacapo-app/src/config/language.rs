//! The language alone, for what has to be said before, or without, the settings being read.

use std::path::PathBuf;

use toml::Table;

use super::file;
use super::layers::Sources;
use crate::messages::Language;

/// The language that the sources name. A source that cannot be read is skipped here: the code that needs the settings reports it.
pub fn language(sources: &Sources) -> Language {
    let variable = sources.env.iter().rev().find(|(name, _)| name == "DACAPO_LANGUAGE");
    let variable = variable.and_then(|(_, value)| Language::tagged(value.to_str()?));
    variable
        .or_else(|| in_file(sources.project_file.as_ref()))
        .or_else(|| in_file(sources.user_file.as_ref()))
        .or(sources.locale.map(|(_, language)| language))
        .unwrap_or(Language::English)
}

fn in_file(path: Option<&PathBuf>) -> Option<Language> {
    let bytes = file::bytes(path?).ok()??;
    let table: Table = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
    Language::tagged(table.get("language")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn u5_the_project_speaks_before_the_user_and_both_before_the_locale() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            Some(path)
        };
        let locale = Some(("LANG", Language::TraditionalChinese));
        let user_file = file("user", "language = 'zh-CN'\n");
        let project_file = file("project", "checks = []\nlanguage = 'en'\n");
        let broken = file("broken", "language = 'fr'\n[");
        let env = vec![("DACAPO_LANGUAGE".to_owned(), "zh-TW".into())];
        let none = Sources::default();
        let cases = [
            (none.clone(), Language::English),
            (Sources { locale, ..none.clone() }, Language::TraditionalChinese),
            (Sources { locale, user_file: user_file.clone(), ..none.clone() }, Language::SimplifiedChinese),
            (Sources { locale, user_file: broken, ..none.clone() }, Language::TraditionalChinese),
            (
                Sources { user_file: user_file.clone(), project_file: project_file.clone(), ..none.clone() },
                Language::English,
            ),
            (Sources { user_file, project_file, env, ..none }, Language::TraditionalChinese),
        ];
        for (sources, expected) in cases {
            assert_eq!(language(&sources), expected, "{sources:?}");
        }
    }

    #[test]
    fn u5_the_settings_have_the_language_of_the_locale_and_say_so() {
        let sources = Sources { locale: Some(("LANG", Language::SimplifiedChinese)), ..Sources::default() };
        let loaded = crate::config::load(&sources).unwrap();
        assert_eq!(loaded.config.language, Language::SimplifiedChinese);
        assert_eq!(loaded.origin("language").to_string(), "env LANG");
    }
}
