//! One setting of a config file is changed, and all the rest of the text stays as it is: comments, order, line ends.

use std::ops::Range;
use std::path::Path;

use toml::Value;
use toml::de::{DeTable, DeValue};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

use super::file;
use super::path::KeyPath;
use super::problem::{ConfigError, Problem, ValueLocation};
use super::shape::{self, Misfit, Shape, kind_of};
use super::text::inline;
use crate::messages::{Messages, say};

/// The text with a setting set. The value is written as in the environment: a list as a TOML array (anything else is its only
/// item), a whole table as an inline one.
pub fn set(path: &Path, text: &str, key: &str, value: &str) -> Result<String, ConfigError> {
    let keys = parsed(key)?;
    let shape = find(&keys)?;
    let mut text = text.to_owned();
    for (keys, value) in settings(&keys, shape, value)? {
        text = put(path, &text, &keys, &value)?;
    }
    Ok(text)
}

/// The text without a setting, or without a table and all that is in it; none where it is not there. What is no setting can be
/// removed like any other: it is a mistake that somebody mends.
pub fn unset(path: &Path, text: &str, key: &str) -> Result<Option<String>, ConfigError> {
    let keys = parsed(key)?;
    match whereabouts(path, text, &keys)? {
        Some(SettingSpan { value, .. }) => match without_line(text, &value) {
            Some(without) if whereabouts(path, &without, &keys).is_ok_and(|found| found.is_none()) => {
                Ok(Some(without))
            }
            // In an inline table, or a table of its own.
            Some(_) | None => {
                let mut document = document(path, text)?;
                remove(document.as_table_mut(), &keys.0);
                Ok(Some(with_line_ends_of(text, document.to_string())))
            }
        },
        None => find(&keys).map(|_| None),
    }
}

fn parsed(key: &str) -> Result<KeyPath, ConfigError> {
    KeyPath::parse(key).ok_or_else(|| unknown(key.to_owned(), None))
}

fn unknown(key: String, suggestion: Option<String>) -> ConfigError {
    Problem::UnknownKey { key, place: ValueLocation::Request, suggestion }.into()
}

/// What may stand at a path.
fn find(keys: &KeyPath) -> Result<&'static Shape, ConfigError> {
    let mut shape = shape::root();
    for (depth, key) in keys.0.iter().enumerate() {
        shape = shape.get(key).ok_or_else(|| {
            let above = KeyPath(keys.0[..depth].to_vec());
            unknown(keys.to_string(), shape.suggest_path(&above, &keys.0[depth..]))
        })?;
    }
    Ok(shape)
}

/// The settings that a value gives, each with its own.
fn settings(keys: &KeyPath, shape: &Shape, value: &str) -> Result<Vec<(KeyPath, Value)>, ConfigError> {
    let value = match shape {
        Shape::Leaf(leaf) => leaf.read(value),
        Shape::Table { .. } | Shape::Map(_) => match value.trim().parse::<Value>() {
            Ok(table @ Value::Table(_)) => table,
            Ok(_) | Err(_) => Value::String(value.to_owned()),
        },
    };
    let mut found = Vec::new();
    collect(keys, shape, value, &mut found)?;
    Ok(found)
}

fn collect(
    keys: &KeyPath,
    shape: &Shape,
    value: Value,
    found: &mut Vec<(KeyPath, Value)>,
) -> Result<(), ConfigError> {
    let wrong = |misfit| ConfigError::from(Problem::wrong_value(keys, ValueLocation::Request, misfit));
    match (shape, value) {
        (Shape::Leaf(leaf), value) => {
            leaf.fit_unmoved(&value).map_err(wrong)?;
            found.push((keys.clone(), value));
            Ok(())
        }
        (Shape::Table { .. } | Shape::Map(_), Value::Table(table)) => {
            table.into_iter().try_for_each(|(key, value)| {
                let inner = keys.join(&key);
                collect(&inner, find(&inner)?, value, found)
            })
        }
        (Shape::Table { .. } | Shape::Map(_), value) => {
            let expected = say(Messages::value_table_or_key);
            Err(wrong(Misfit { expected, found: kind_of(&value), suggestion: None }))
        }
    }
}

/// The text with one value in it: in place of the one that is there, or as a new line where it belongs.
fn put(path: &Path, text: &str, keys: &KeyPath, value: &Value) -> Result<String, ConfigError> {
    let value = inline(value);
    if let Some(found) = whereabouts(path, text, keys)? {
        let Range { start, end } = found.value;
        return Ok(format!("{}{value}{}", &text[..start], &text[end..]));
    }
    let mut document = document(path, text)?;
    let root = document.as_table_mut();
    if let ([key], false) = (&keys.0[..], root.iter().any(|(_, item)| is_line(item))) {
        // The first setting before all tables: below what the file says about itself.
        let (head, rest) = text.split_at(end_of_head(text));
        let line_end = line_end_of(text);
        let gap = if head.is_empty() || head.ends_with('\n') { "" } else { line_end };
        let below = if rest.is_empty() || rest.starts_with(['\n', '\r']) { "" } else { line_end };
        let key = KeyPath(vec![key.clone()]);
        return Ok(format!("{head}{gap}{key} = {value}{line_end}{below}{rest}"));
    }
    let value = value.parse::<toml_edit::Value>().map_err(|error| not_toml(path, error.message()))?;
    insert(root, &keys.0, value);
    Ok(with_line_ends_of(text, document.to_string()))
}

/// Whether it stands among the lines of its table, and not below a heading of its own.
fn is_line(item: &Item) -> bool {
    item.is_value() || item.as_table().is_some_and(Table::is_dotted)
}

/// Where the comment at the top of a file ends, the empty line behind it included.
fn end_of_head(text: &str) -> usize {
    let mut end = usize::from(text.starts_with('\u{feff}')) * '\u{feff}'.len_utf8();
    for line in text[end..].split_inclusive('\n') {
        match line.trim() {
            "" => return end + line.len(),
            comment if comment.starts_with('#') => end += line.len(),
            // It is about what follows it.
            _ => return 0,
        }
    }
    end
}

struct SettingSpan {
    value: Range<usize>,
}

fn whereabouts(path: &Path, text: &str, keys: &KeyPath) -> Result<Option<SettingSpan>, ConfigError> {
    let root = DeTable::parse(text).map_err(|error| broken(path, text, error.message()))?;
    let mut table = root.get_ref();
    let Some((last, above)) = keys.0.split_last() else { return Ok(None) };
    for key in above {
        match table.get(key.as_str()).map(toml::Spanned::get_ref) {
            Some(DeValue::Table(inner)) => table = inner,
            Some(_) | None => return Ok(None),
        }
    }
    Ok(table.get(last.as_str()).map(|value| SettingSpan { value: value.span() }))
}

/// The text without the line, or the lines, that a value stands on; none where it shares them with something else.
fn without_line(text: &str, value: &Range<usize>) -> Option<String> {
    let start = text[..value.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
    let behind = text[value.end..end].trim();
    let alone =
        !text[start..].trim_start().starts_with('[') && (behind.is_empty() || behind.starts_with('#'));
    alone.then(|| format!("{}{}", &text[..start], &text[end..]))
}

fn document(path: &Path, text: &str) -> Result<DocumentMut, ConfigError> {
    text.parse().map_err(|error: toml_edit::TomlError| broken(path, text, error.message()))
}

/// What is wrong with the file, as reading it says it.
fn broken(path: &Path, text: &str, message: &str) -> ConfigError {
    match file::parse(path, text.as_bytes(), shape::root()) {
        Err(problems) => ConfigError { problems },
        Ok(_) => not_toml(path, message),
    }
}

fn not_toml(path: &Path, message: &str) -> ConfigError {
    let place = ValueLocation::File { path: path.to_owned(), line: 1, column: 1 };
    Problem::NotToml { place, message: message.to_owned() }.into()
}

fn insert(table: &mut dyn TableLike, keys: &[String], value: toml_edit::Value) {
    match keys {
        [] => {}
        [key] => {
            table.insert(key, Item::Value(value));
        }
        [key, below @ ..] => {
            let dotted = table.is_dotted();
            let inner = table.entry(key).or_insert_with(|| {
                let mut table = Table::new();
                // It gets a heading by what is in it.
                table.set_implicit(true);
                table.set_dotted(dotted);
                Item::Table(table)
            });
            match inner {
                Item::Value(toml_edit::Value::InlineTable(inner)) => insert_inline(inner, below, value),
                other => {
                    if let Some(inner) = other.as_table_like_mut() {
                        insert(inner, below, value);
                    }
                }
            }
        }
    }
}

fn insert_inline(table: &mut InlineTable, keys: &[String], value: toml_edit::Value) {
    match keys {
        [] => {}
        [key] => {
            table.insert(key, value);
        }
        [key, below @ ..] => {
            let inner = table.entry(key).or_insert_with(|| InlineTable::new().into());
            if let Some(inner) = inner.as_inline_table_mut() {
                insert_inline(inner, below, value);
            }
        }
    }
    // One that is spread over lines may have comments, which formatting would take away.
    if !table.to_string().contains('\n') {
        table.fmt();
    }
}

fn remove(table: &mut dyn TableLike, keys: &[String]) {
    match keys {
        [] => {}
        [key] => {
            table.remove(key);
        }
        [key, below @ ..] => {
            if let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) {
                remove(inner, below);
            }
        }
    }
}

fn line_end_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// New lines end as the others do.
fn with_line_ends_of(text: &str, edited: String) -> String {
    match line_end_of(text) {
        "\r\n" => edited.replace("\r\n", "\n").replace('\n', "\r\n"),
        _ => edited,
    }
}
