//! The fuzz targets: one a format. What must hold is written once, for the suite and for them.

#[path = "../../crates/dacapo-core/tests/parsers/check.rs"]
mod check;

/// Feeds bytes to the parser of a format; its last bytes say in which chunks.
///
/// # Panics
/// When the parser does not hold.
pub fn parse(name: &str, bytes: &[u8]) {
    let format = check::FORMATS.iter().find(|(known, _)| *known == name);
    let (_, format) = format.expect("there is such a format");
    check::parser_holds(*format, bytes, &check::sizes_of(bytes));
}
