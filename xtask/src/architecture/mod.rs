//! The shape of the code, as far as a program can see it: which way modules use each other, what the engine may not touch,
//! who knows a kind of task by name, and
//! who writes what people type. What is there already is listed in `xtask/allowed/`, and the lists only shrink.

mod cycles;
mod facts;
mod kinds;
mod list;
mod quiet;
mod source;
mod tokens;

use std::path::Path;

use crate::Outcome;
pub(crate) use list::Lists;

/// All of it; every list is compared before the first failure is told.
pub(crate) fn check(root: &Path, lists: Lists) -> Outcome {
    let crates = source::crates(root)?;
    let files: usize = crates.iter().map(|one| one.files.len()).sum();
    let listed = list::listed(root, &cycles::RULE)?;
    let outcomes = [
        list::compare(root, &cycles::RULE, &cycles::find(&crates, &listed), lists),
        list::compare(root, &quiet::RULE, &quiet::find(&crates), lists),
        list::compare(root, &kinds::RULE, &kinds::find(&crates), lists),
        list::compare(root, &facts::RULE, &facts::find(&crates), lists),
    ];
    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    println!("  {files} files without test code, nothing new");
    Ok(())
}
