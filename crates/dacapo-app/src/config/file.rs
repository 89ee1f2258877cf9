//! One config file: read within bounds, parsed with positions, checked against the shape of the settings.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::path::KeyPath;
use super::problem::{Problem, ValueLocation};
use super::shape::{Fitted, Misfit, Shape, kind_of};
use crate::messages::{Messages, say};

/// No config is larger; what is larger is the wrong file.
const MOST_BYTES: u64 = 1024 * 1024;

/// In a file with more mistakes than this, suggestions are not what is missing.
const MOST_SUGGESTIONS: usize = 100;

/// Lines longer than this, in bytes, are not counted character by character.
const LONG_LINE: usize = 1000;

/// A setting as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) path: KeyPath,
    pub(super) fitted: Fitted,
    pub(super) place: ValueLocation,
}

/// The settings of a file; none when there is no such file.
pub(super) fn read(path: &Path, shape: &Shape) -> Result<Vec<Entry>, Vec<Problem>> {
    match bytes(path) {
        Ok(Some(bytes)) => parse(path, &bytes, shape),
        Ok(None) => Ok(Vec::new()),
        Err(problem) => Err(vec![*problem]),
    }
}

pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, Box<Problem>> {
    let unreadable = |reason: String| Box::new(Problem::Unreadable { path: path.to_owned(), reason });
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    // Opening a FIFO would wait for ever for someone to write to it.
    if !metadata.is_file() {
        return Err(unreadable("it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Box::new(Problem::TooBig { path: path.to_owned(), limit: MOST_BYTES }));
    }
    Ok(Some(bytes))
}

/// Checks the content of a file. All mistakes are returned together.
pub(super) fn parse(path: &Path, bytes: &[u8], shape: &Shape) -> Result<Vec<Entry>, Vec<Problem>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        vec![Problem::NotUtf8 { place: Positions::new(path, bytes).place(error.valid_up_to()) }]
    })?;
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        vec![Problem::NotToml { place: Positions::new(path, bytes).place(start), message }]
    })?;
    let mut walk = Walk { positions: Positions::new(path, bytes), entries: Vec::new(), problems: Vec::new() };
    walk.table(&KeyPath(Vec::new()), shape, table.get_ref());
    if walk.problems.is_empty() {
        return Ok(walk.entries);
    }
    walk.problems.sort_by_key(|(offset, _)| *offset);
    Err(walk.problems.into_iter().map(|(_, problem)| problem).collect())
}

struct Walk<'a> {
    positions: Positions<'a>,
    entries: Vec<Entry>,
    /// With the offset of each, because tables come sorted by key and people read from top to bottom.
    problems: Vec<(usize, Problem)>,
}

impl Walk<'_> {
    fn table(&mut self, at: &KeyPath, shape: &Shape, table: &DeTable<'_>) {
        for (key, value) in table {
            let (offset, name) = (key.span().start, key.get_ref().as_ref());
            let Some(inner) = shape.get(name) else {
                let worth_it = self.problems.len() < MOST_SUGGESTIONS;
                let suggestion = worth_it.then(|| shape.suggest_key(name)).flatten();
                let place = self.place(offset);
                self.problems.push((offset, Problem::UnknownKey { key: name.to_owned(), place, suggestion }));
                continue;
            };
            let path = at.join(name);
            match (inner, value.get_ref()) {
                (Shape::Table { .. } | Shape::Map(_), DeValue::Table(table)) => {
                    self.table(&path, inner, table);
                }
                (Shape::Leaf(leaf), found) => match leaf.fit(&plain(found)) {
                    Ok(fitted) => self.entries.push(Entry { path, fitted, place: self.place(offset) }),
                    Err(misfit) => self.wrong(&path, value.span().start, misfit),
                },
                (_, found) => {
                    let found = kind_of(&plain(found));
                    let misfit = Misfit { expected: say(Messages::value_table), found, suggestion: None };
                    self.wrong(&path, value.span().start, misfit);
                }
            }
        }
    }

    fn wrong(&mut self, path: &KeyPath, offset: usize, misfit: Misfit) {
        self.problems.push((offset, Problem::wrong_value(path, self.place(offset), misfit)));
    }

    fn place(&self, offset: usize) -> ValueLocation {
        self.positions.place(offset)
    }
}

/// Finds line and column of an offset, without reading the whole file again for each: a repository may be
/// hostile, and its file may be a megabyte of keys.
struct Positions<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    line_starts: Vec<usize>,
}

impl<'a> Positions<'a> {
    fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        let after_newline =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Positions { file, bytes, line_starts: std::iter::once(0).chain(after_newline).collect() }
    }

    /// Both count from 1, the column in characters as editors count (in bytes where a line is absurdly long).
    fn place(&self, offset: usize) -> ValueLocation {
        let offset = offset.min(self.bytes.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = &self.bytes[self.line_starts[line - 1]..offset];
        let column = if before.len() > LONG_LINE {
            before.len()
        } else {
            String::from_utf8_lossy(before).trim_start_matches('\u{feff}').chars().count()
        };
        ValueLocation::File { path: self.file.to_owned(), line, column: column + 1 }
    }
}

/// The value without positions. Numbers too large for TOML become the largest, which no setting allows.
fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str();
            let limit = if digits.starts_with('-') { i64::MIN } else { i64::MAX };
            i64::from_str_radix(digits, number.radix()).unwrap_or(limit).into()
        }
        DeValue::Float(number) => number.as_str().parse().unwrap_or(f64::NAN).into(),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Datetime(value) => Value::Datetime(*value),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| plain(item.get_ref())).collect()),
        DeValue::Table(table) => {
            let entries =
                table.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref())));
            Value::Table(entries.collect())
        }
    }
}
