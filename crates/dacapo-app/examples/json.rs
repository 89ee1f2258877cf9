//! Prints the page that documents every JSON object (docs/json.md): `cargo xtask json` writes it.

fn main() {
    print!("{}", dacapo_app::json_reference::page());
}
