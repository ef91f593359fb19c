//! Modules of a crate import each other in one direction; two files may know each other, no more.

use std::collections::{BTreeMap, VecDeque};

use anyhow::Result;

use super::Violation;
use super::modules::{Import, Modules};
use crate::files::File;

/// By file, the files that it names something of, with the line where it does.
type Graph = BTreeMap<usize, BTreeMap<usize, usize>>;

/// Checks every crate.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let folders = super::sources(files).into_iter();
    let crates = folders.filter_map(|folder| Modules::of(files, &folder));
    Ok(crates.flat_map(|modules| broken(&modules)).collect())
}

fn broken(modules: &Modules) -> Vec<Violation> {
    let cycles = cycles(&modules.imports()).into_iter();
    let report = |(cycle, line): (Vec<usize>, usize)| {
        let names: Vec<String> = cycle
            .iter()
            .chain(&cycle[..1])
            .map(|&one| modules.name(one))
            .collect();
        let what = format!(
            "modules import each other in a circle: {}: move what is shared below them",
            names.join(" -> ")
        );
        Violation::new(modules.file(cycle[0]), line, what)
    };
    cycles.map(report).collect()
}

/// Cycles of three files at least, the shortest first, no two with an import in common; with the
/// line of the first import.
fn cycles(imports: &[Import]) -> Vec<(Vec<usize>, usize)> {
    let mut graph = Graph::new();
    for import in imports {
        graph
            .entry(import.from)
            .or_default()
            .insert(import.to, import.line);
    }
    let mut found = Vec::new();
    let mut starts: Vec<(usize, usize)> = imports.iter().map(|one| (one.from, one.to)).collect();
    for len in 3..=graph.len() {
        starts.retain(|&(from, to)| {
            let Some(line) = graph.get(&from).and_then(|next| next.get(&to)).copied() else {
                return false;
            };
            let Some(back) = way(&graph, to, from) else {
                return false;
            };
            if back.len() > len {
                return true;
            }
            // From `from` to `to`, and all the way back.
            let mut cycle = back;
            cycle.rotate_right(1);
            for (at, &one) in cycle.iter().enumerate() {
                let next = cycle[(at + 1) % cycle.len()];
                graph.entry(one).or_default().remove(&next);
            }
            found.push((cycle, line));
            false
        });
    }
    found
}

/// The shortest way between two files that takes more than one step, with both ends.
fn way(graph: &Graph, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut todo = VecDeque::from([from]);
    while let Some(at) = todo.pop_front() {
        for &next in graph.get(&at).into_iter().flat_map(BTreeMap::keys) {
            let is_direct = at == from && next == to;
            if is_direct || next == from || before.contains_key(&next) {
                continue;
            }
            before.insert(next, at);
            todo.push_back(next);
        }
    }
    let mut way = vec![to];
    while way.last() != Some(&from) {
        way.push(*before.get(way.last()?)?);
    }
    way.reverse();
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Imports, each a pair of letters.
    fn found(pairs: &[&str]) -> Vec<String> {
        let number = |letter: u8| usize::from(letter - b'a');
        let import = |(line, pair): (usize, &&str)| Import {
            from: number(pair.as_bytes()[0]),
            to: number(pair.as_bytes()[1]),
            line,
        };
        let imports: Vec<Import> = (1..).zip(pairs).map(import).collect();
        let name = |one: &usize| ["a", "b", "c", "d", "e"][*one];
        let cycles = cycles(&imports).into_iter();
        cycles
            .map(|(cycle, line)| format!("{line}: {}", cycle.iter().map(name).collect::<String>()))
            .collect()
    }

    #[test]
    fn two_files_may_know_each_other() {
        assert_eq!(found(&["ab", "bc", "ac"]), [""; 0]);
        // A parent and its children.
        assert_eq!(found(&["ab", "ba", "ac", "ca"]), [""; 0]);
        assert_eq!(found(&["ab", "bc", "ca"]), ["1: abc"]);
        assert_eq!(found(&["ab", "ba", "bc", "ca"]), ["1: abc"]);
    }

    #[test]
    fn short_circles_come_first_and_have_nothing_in_common() {
        assert_eq!(found(&["ab", "bc", "cd", "da", "ca"]), ["1: abc"]);
        assert_eq!(
            found(&["ab", "bc", "ca", "cd", "de", "ec"]),
            ["1: abc", "4: cde"]
        );
    }

    #[test]
    fn a_circle_is_said_in_short() {
        let file = |(path, text): (&str, &str)| File {
            path: path.into(),
            len_bytes: text.len(),
            text: Some(text.to_owned()),
        };
        let files = [
            ("crates/z/src/lib.rs", "mod a;\nmod b;\nmod c;"),
            (
                "crates/z/src/a.rs",
                "//! A.\n\nuse crate::b::B;\npub struct A;",
            ),
            ("crates/z/src/b.rs", "use crate::c::C;\npub struct B;"),
            ("crates/z/src/c.rs", "use crate::a::A;\npub struct C;"),
        ];
        let violations = check(&files.map(file)).unwrap();
        let said: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let expected = "crates/z/src/a.rs:3: modules import each other in a circle: \
                        a -> b -> c -> a: move what is shared below them";
        assert_eq!(said, [expected]);
    }
}
