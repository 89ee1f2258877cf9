//! Modules that use each other in a cycle can only be read, tested and moved together.
//!
//! The modules are those right below a crate's root. That a parent and its children know each other is no cycle here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::list::{Finding, Found, Listed, Rule};
use super::source::Crate;
use super::tokens::{Role, UsedPath};

pub(super) const RULE: Rule = Rule {
    file: "module-cycles.txt",
    fault: "modules that use each other in a cycle, by edges that are not listed",
    remedy: "Take one edge of the cycle away: move what both need into the lower module, or hand it in as an argument.",
};

/// From one module to another.
type Edge<'a> = (&'a str, &'a str);

/// Every edge from which a way leads back.
pub(super) fn find(crates: &[Crate], listed: &Listed) -> Found {
    let mut found = Found::new();
    for one in crates {
        let places = edges(one);
        let edges: BTreeSet<Edge> = places.keys().copied().collect();
        let line = |(from, to): &Edge| format!("{}: {from} -> {to}", one.name);
        let guilty = guilty(&edges, &places, |edge| !listed.contains_key(&line(edge)));
        for edge in inside(&edges) {
            let back = way(&edges, edge.1, edge.0).unwrap_or_default();
            let mut notes = vec![format!("and back: {}", back.join(" -> "))];
            notes.extend(places[&edge].iter().cloned());
            let finding = Finding { times: None, notes, drawn_in: !guilty.contains(&edge) };
            found.insert(line(&edge), finding);
        }
    }
    found
}

/// The few edges without which no new one would be inside a cycle. One edge that joins two cycles draws dozens in that were
/// innocent before; whoever added it is to be told of that one.
fn guilty<'a>(
    edges: &BTreeSet<Edge<'a>>,
    places: &BTreeMap<Edge<'a>, Vec<String>>,
    new: impl Fn(&Edge) -> bool,
) -> BTreeSet<Edge<'a>> {
    let new_ones = |edges: &BTreeSet<Edge<'a>>| -> Vec<Edge<'a>> {
        inside(edges).into_iter().filter(|edge| new(edge)).collect()
    };
    let mut rest = edges.clone();
    let mut guilty = BTreeSet::new();
    loop {
        let left_without = |edge: &Edge<'a>| {
            let mut without = rest.clone();
            without.remove(edge);
            (new_ones(&without).len(), places[edge].len())
        };
        let Some(worst) = new_ones(&rest).into_iter().min_by_key(left_without) else { return guilty };
        rest.remove(&worst);
        guilty.insert(worst);
    }
}

fn inside<'a>(edges: &BTreeSet<Edge<'a>>) -> Vec<Edge<'a>> {
    edges.iter().copied().filter(|(from, to)| way(edges, to, from).is_some()).collect()
}

/// All edges of a crate, with the places that make them.
fn edges(one: &Crate) -> BTreeMap<Edge<'_>, Vec<String>> {
    let paths = || one.files.iter().flat_map(|file| file.paths.iter().map(move |path| (file, path)));
    let modules: BTreeSet<&str> =
        paths().filter_map(|(_, path)| Some(path.module.first()?.as_str())).collect();
    let exported = exported(paths().map(|(_, path)| path), &modules);
    let mut edges: BTreeMap<Edge, Vec<String>> = BTreeMap::new();
    for (file, path) in paths() {
        let (Some(from), [root, name, ..]) = (path.module.first(), path.segments.as_slice()) else {
            continue;
        };
        let to = modules.get(name.as_str()).or_else(|| exported.get(name.as_str()));
        if root == "crate"
            && let Some(to) = to
            && to != from
        {
            let place = format!("{}:{}: {}", file.path, path.line, path.segments.join("::"));
            edges.entry((from, to)).or_default().push(place);
        }
    }
    edges
}

/// Names that the root has from one of its modules: `crate::Name` leads there.
fn exported<'a>(
    paths: impl Iterator<Item = &'a UsedPath>,
    modules: &BTreeSet<&'a str>,
) -> BTreeMap<&'a str, &'a str> {
    let mut exported = BTreeMap::new();
    for path in paths.filter(|path| path.module.is_empty()) {
        let home = path.segments.iter().find(|segment| *segment != "crate");
        if let (Role::Import(name), Some(home)) = (&path.role, home)
            && let Some(home) = modules.get(home.as_str())
        {
            exported.insert(name.as_str(), *home);
        }
    }
    exported
}

/// The shortest way along the edges.
fn way<'a>(edges: &BTreeSet<Edge<'a>>, start: &'a str, end: &str) -> Option<Vec<&'a str>> {
    let mut came_from = BTreeMap::from([(start, start)]);
    let mut open = VecDeque::from([start]);
    while let Some(here) = open.pop_front() {
        if here == end {
            let mut way = vec![here];
            while way.last() != Some(&start) {
                way.extend(way.last().and_then(|last| came_from.get(last)).copied());
            }
            way.reverse();
            return Some(way);
        }
        for (_, to) in edges.range((here, "")..).take_while(|(from, _)| *from == here) {
            if !came_from.contains_key(to) {
                came_from.insert(to, here);
                open.push_back(to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{File, scan};
    use super::*;

    fn found(files: &[(&str, &str)], listed: &[&str]) -> Found {
        let files = files.iter().map(|(module, text)| {
            let path: Vec<String> = module.split_terminator("::").map(str::to_owned).collect();
            let (file, _) = scan(text, &path).unwrap();
            File { path: format!("{module}.rs"), ..file }
        });
        let one = Crate { name: "one".to_owned(), files: files.collect() };
        find(&[one], &listed.iter().map(|edge| ((*edge).to_owned(), 1)).collect())
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        found(files, &[]).into_keys().collect()
    }

    #[test]
    fn only_edges_inside_a_cycle_are_found() {
        let files = [
            ("a", "use crate::b::X;"),
            ("b::inner", "fn f() { crate::c::g(); }"),
            ("c", "use super::a;\nuse crate::d;"),
            ("d", "use std::fs;"),
            ("e", "use crate::{a, b, c, d, e};"),
        ];
        assert_eq!(edges(&files), ["one: a -> b", "one: b -> c", "one: c -> a"]);
        let notes = &found(&files, &[])["one: c -> a"].notes;
        assert_eq!(notes, &["and back: a -> b -> c", "c.rs:1: crate::a"]);
    }

    #[test]
    fn a_name_that_the_root_exports_leads_to_its_module() {
        let files = [
            ("", "pub use engine::{Run as Started}; pub use crate::store::Lock;"),
            ("engine", "use crate::Lock;"),
            ("store", "fn f(_: crate::Started) {}"),
        ];
        assert_eq!(edges(&files), ["one: engine -> store", "one: store -> engine"]);
    }

    #[test]
    fn parents_and_children_make_no_cycle() {
        let files =
            [("", "use a::X;"), ("a", "use crate::own; use b::Y;"), ("a::b", "use super::X; use crate::a;")];
        assert_eq!(edges(&files), [""; 0]);
    }

    #[test]
    fn the_edge_that_joins_two_cycles_is_told_from_those_it_draws_in() {
        let files = [
            ("a", "use crate::{b, c, d};"),
            ("b", "use crate::{a, c, d};"),
            ("c", "use crate::{d, a};"),
            ("d", "use crate::c;"),
        ];
        let listed = ["one: a -> b", "one: b -> a", "one: c -> d", "one: d -> c"];
        let found = found(&files, &listed);
        let guilty: Vec<&String> = found.keys().filter(|edge| !found[*edge].drawn_in).collect();
        assert_eq!(guilty, ["one: c -> a"]);
        assert_eq!(found.len(), 9);
    }
}
