//! Makefiles and justfiles: the rules that checks use (L20).

use std::collections::BTreeSet;

use super::parts::Part;

/// A rule of a Makefile or justfile, or a line outside of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) targets: Vec<String>,
    /// What must be made first.
    pub(super) needs: Vec<String>,
    pub(super) text: String,
}

/// The rules of a file, and what stands between them.
pub(super) fn rules_of(text: &str) -> Vec<Rule> {
    let mut all: Vec<Rule> = Vec::new();
    let mut joined = false;
    for line in text.split_inclusive('\n') {
        let is_recipe =
            line.starts_with(['\t', ' ']) && all.last().is_some_and(|rule| !rule.targets.is_empty());
        let blank = line.trim().is_empty();
        if (is_recipe || joined || blank)
            && let Some(last) = all.last_mut()
        {
            last.text.push_str(line);
        } else {
            all.push(rule(line));
        }
        joined = line.trim_end().ends_with('\\');
    }
    all
}

fn rule(line: &str) -> Rule {
    let plain = line.split('#').next().unwrap_or_default();
    let colon = plain.find(':').filter(|&at| !plain[..at].contains('=') && !plain[at..].starts_with(":="));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match colon {
        Some(at) => Rule {
            // A recipe of just has parameters behind its name.
            targets: words(plain[..at].trim_start_matches('@')),
            needs: words(plain[at + 1..].trim_start_matches(':').split(';').next().unwrap_or_default()),
            text: line.to_owned(),
        },
        None => Rule { targets: Vec::new(), needs: Vec::new(), text: line.to_owned() },
    }
}

/// The names of variables that a line sets.
fn sets(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("export ").trim_start_matches("override ");
    let (name, _) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    (!name.is_empty() && !name.contains([' ', '\t', '$'])).then_some(name)
}

/// Which rules that checks use differ.
pub(super) fn rules(was: &str, is: &str, used: &BTreeSet<String>) -> Part {
    let (before, now) = (rules_of(was), rules_of(is));
    let judging = |rules: &[Rule]| judging_rules(rules, used);
    let parts = |rules: &[Rule], picked: &[bool]| -> Vec<String> {
        let picked = rules.iter().zip(picked).filter(|(_, picked)| **picked);
        picked.map(|(rule, _)| rule.text.trim_end().to_owned()).collect()
    };
    let (old, new) = (judging(&before), judging(&now));
    let mut is_old = old.clone();
    let mut drop_now = new;
    // What sets a variable of the part that judges is a part of it, before and now.
    let text: String = parts(&before, &old).concat();
    for (rules, picked) in [(&before, &mut is_old), (&now, &mut drop_now)] {
        for (rule, picked) in rules.iter().zip(picked.iter_mut()) {
            let name = sets(&rule.text).filter(|_| rule.targets.is_empty());
            let shell = |name: &str| ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH"].contains(&name);
            *picked |= name.is_some_and(|name| shell(name) || mentions(&text, name));
        }
    }
    let (old_text, new_text) = (parts(&before, &is_old), parts(&now, &drop_now));
    if old_text == new_text {
        return Part::Same;
    }
    if was.is_empty() {
        return Part::Same;
    }
    let first = before.iter().flat_map(|rule| &rule.targets).find(|target| !target.starts_with('.'));
    let rest =
        now.iter().zip(&drop_now).filter(|(_, dropped)| !**dropped).map(|(rule, _)| rule.text.as_str());
    let rest: String = rest.collect();
    // In a justfile the first recipe is the one without a name, too; there is no other way to say so.
    let is_make = was.contains("\n\t") || is.contains("\n\t");
    let head =
        first.filter(|_| is_make).map_or_else(String::new, |name| format!(".DEFAULT_GOAL := {name}\n"));
    Part::Differs(format!("{head}{}\n{rest}", old_text.join("\n")))
}

fn judging_rules(rules: &[Rule], used: &BTreeSet<String>) -> Vec<bool> {
    let mut wanted = used.clone();
    if wanted.contains("") {
        wanted
            .extend(rules.iter().flat_map(|rule| &rule.targets).find(|name| !name.starts_with('.')).cloned());
    }
    loop {
        let picked: Vec<bool> =
            rules.iter().map(|rule| rule.targets.iter().any(|target| wanted.contains(target))).collect();
        let needs =
            rules.iter().zip(&picked).filter(|(_, picked)| **picked).flat_map(|(rule, _)| &rule.needs);
        let before = wanted.len();
        wanted = wanted.iter().chain(needs).cloned().collect();
        if wanted.len() == before {
            return picked;
        }
    }
}

/// `$(NAME)`, `${NAME}`, `{{NAME}}`.
fn mentions(text: &str, name: &str) -> bool {
    ["$(", "${", "{{"].iter().any(|open| {
        text.match_indices(open).any(|(at, _)| {
            let rest = text[at + open.len()..].trim_start();
            rest.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with([')', '}', ':']))
        })
    })
}
