//! Prints every message of the program as a page (docs/messages.md): `cargo xtask messages` writes it.

use dacapo_app::messages::{COMMAND_PREFIX, Surface, TABLES};

fn main() {
    let count: usize = TABLES.iter().map(|(_, entries)| entries.len()).sum();
    println!("# Messages\n");
    println!(
        "Every message that Dacapo shows to people, in its three languages: {count} of them. Words in braces are put in."
    );
    println!(
        "Where English has two forms, the first is for one thing and the second for any other number. Logs, JSON, commits,"
    );
    println!(
        "prompts and `--help` are English only and are not here. In the terminal app `dacapo kill x` is `/kill x`.\n"
    );
    println!("Made by `cargo xtask messages` from `crates/dacapo-app/src/messages/`.");
    for (topic, entries) in TABLES {
        println!("\n## {topic}\n\n| name | English | 简体中文 | 繁體中文 |\n|---|---|---|---|");
        for entry in *entries {
            let cells = [entry.english, entry.simplified_chinese, entry.traditional_chinese]
                .map(|source| cell(source).replace(COMMAND_PREFIX, Surface::Shell.prefix()));
            println!("| `{}` | {} |", entry.name, cells.join(" | "));
        }
    }
}

/// The source text of a wording, without what only the compiler needs.
fn cell(source: &str) -> String {
    let forms = source.trim().trim_start_matches('(').trim_end_matches(')');
    let forms = match forms.split_once(':') {
        Some((number, rest)) if !number.contains('"') => rest,
        _ => forms,
    };
    // Two forms may be on two lines.
    let forms = forms.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = forms.replace("\", \"", " / ").replace("\\\"", "\"");
    let text = text.strip_prefix('"').unwrap_or(&text);
    let text = text.strip_suffix('"').unwrap_or(text);
    text.replace('|', "\\|").replace('<', "\\<").replace('`', "\\`").replace('*', "\\*")
}
