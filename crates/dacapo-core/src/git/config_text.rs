//! Settings of git as the text of a configuration file.

/// Splits `section.sub.section.name`; section and name are in lower case, as git lists them.
pub(crate) fn parts(key: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let first = key.iter().position(|byte| *byte == b'.').unwrap_or(key.len());
    let last = key.iter().rposition(|byte| *byte == b'.').unwrap_or(key.len());
    let name = key.get(last + 1..).unwrap_or_default();
    (&key[..first], key.get(first + 1..last).unwrap_or_default(), name)
}

/// Appends a setting; without a value the name stands alone, which means true.
pub(crate) fn put(file: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) {
    let (section, subsection, name) = parts(key);
    file.push(b'[');
    file.extend_from_slice(section);
    if key.len() > section.len() + name.len() + 1 {
        file.extend_from_slice(b" \"");
        for byte in subsection {
            if matches!(byte, b'"' | b'\\') {
                file.push(b'\\');
            }
            file.push(*byte);
        }
        file.push(b'"');
    }
    file.extend_from_slice(b"]\n\t");
    file.extend_from_slice(name);
    if let Some(value) = value {
        file.extend_from_slice(b" = \"");
        for byte in value {
            match byte {
                b'"' | b'\\' => file.extend([b'\\', *byte]),
                b'\n' => file.extend_from_slice(b"\\n"),
                b'\t' => file.extend_from_slice(b"\\t"),
                0x08 => file.extend_from_slice(b"\\b"),
                _ => file.push(*byte),
            }
        }
        file.push(b'"');
    }
    file.push(b'\n');
}
