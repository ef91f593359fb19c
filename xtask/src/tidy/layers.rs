//! A crate depends only on crates of lower layers. The drawing in `crates/README.md` says which layer each is on.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{MAP, Violation, line_of, text_of};
use crate::command::{packages, root};
use crate::files::File;

/// The heading above the drawing.
const HEADING: &str = "## Layers";

/// Edges within a layer: these use `ringbuf::sys` for their system calls.
const SAME_LAYER: &[(&str, &str)] = &[("events", "ringbuf"), ("process", "ringbuf")];

/// The folders under `crates/`, lowest layer first.
#[derive(Debug, PartialEq, Eq)]
struct Layers(Vec<Vec<String>>);

impl Layers {
    /// Reads the drawing: the first fenced block below its heading.
    ///
    /// Columns are two blanks or more apart. A line is a crate and its idea. The first line of a layer begins with
    /// its number and name; numbers go down to 1.
    fn drawn(map: &str) -> Result<Self> {
        let lines = map.lines().skip_while(|line| *line != HEADING).skip(1);
        let block = lines
            .take_while(|line| !line.starts_with('#'))
            .skip_while(|line| !line.starts_with("```"))
            .skip(1)
            .take_while(|line| !line.starts_with("```"));
        let mut layers: Vec<Vec<String>> = Vec::new();
        let mut next: Option<usize> = None;
        for line in block {
            let mut cells = line
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            let Some(mut cell) = cells.next() else {
                continue;
            };
            if cell.starts_with('─') {
                continue;
            }
            let number: Option<usize> = cell
                .split_once(' ')
                .and_then(|(number, _)| number.parse().ok());
            if let Some(number) = number {
                let is_next = next.is_none_or(|next| next == number);
                ensure!(is_next, "layer {number} is out of order: {line:?}");
                next = number.checked_sub(1);
                layers.push(Vec::new());
                cell = cells
                    .next()
                    .with_context(|| format!("no crate: {line:?}"))?;
            }
            ensure!(cells.count() == 1, "not a crate and its idea: {line:?}");
            let layer = layers.last_mut();
            let layer = layer.with_context(|| format!("on no layer: {line:?}"))?;
            layer.push(cell.to_owned());
        }
        ensure!(
            next == Some(0),
            "no drawing of layers down to 1 below {HEADING}"
        );
        layers.reverse();
        Ok(Self(layers))
    }

    fn layer_of(&self, folder: &str) -> Option<usize> {
        let mut layers = self.0.iter();
        layers.position(|layer| layer.iter().any(|drawn| drawn == folder))
    }

    /// Crates that are drawn more than once, or that are none.
    fn misdrawn(&self, crates: &[Crate]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut misdrawn = Vec::new();
        for drawn in self.0.iter().flatten() {
            if !seen.insert(drawn) {
                misdrawn.push(format!("crate {drawn} is drawn twice: once is enough"));
            } else if !crates.iter().any(|found| found.folder == *drawn) {
                misdrawn.push(format!("there is no crate {drawn}: remove it"));
            }
        }
        misdrawn
    }
}

/// A crate of ours and what its `Cargo.toml` says.
#[derive(Debug)]
struct Crate {
    /// Its folder under `crates/`.
    folder: String,
    /// Its package's name.
    package: String,
    /// The folders of those of our crates that it needs, tests left aside.
    needs: Vec<String>,
}

/// Checks every crate under `crates/` against the drawing, and the drawing against them.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let crates: Vec<Crate> = packages()?.iter().filter_map(parse).collect();
    ensure!(
        !crates.is_empty(),
        "cargo metadata lists no crate under crates/"
    );
    let map = text_of(files, MAP).with_context(|| format!("{MAP} is missing"))?;
    let layers = Layers::drawn(map).with_context(|| format!("reading the drawing in {MAP}"))?;
    let misdrawn = layers.misdrawn(&crates).into_iter();
    let mut violations: Vec<_> = misdrawn
        .map(|what| Violation::new(MAP, line_of(map, HEADING), what))
        .collect();
    for found in &crates {
        let manifest = format!("crates/{}/Cargo.toml", found.folder);
        let text = text_of(files, &manifest).unwrap_or_default();
        for (needle, what) in broken(found, &layers) {
            violations.push(Violation::new(&manifest, line_of(text, &needle), what));
        }
    }
    Ok(violations)
}

/// `None` for packages outside `crates/`.
fn parse(package: &Value) -> Option<Crate> {
    let manifest = Path::new(package.get("manifest_path")?.as_str()?);
    let below = manifest.strip_prefix(root().join("crates")).ok()?;
    let dependencies = package.get("dependencies")?.as_array()?;
    let needs = dependencies
        .iter()
        .filter(|needed| needed.get("kind").and_then(Value::as_str) != Some("dev"))
        .filter_map(|needed| folder_of(needed.get("name")?.as_str()?))
        .collect();
    Some(Crate {
        folder: below.parent()?.to_str()?.to_owned(),
        package: package.get("name")?.as_str()?.to_owned(),
        needs,
    })
}

fn folder_of(package: &str) -> Option<String> {
    match package {
        "rprof-cli" => Some("rprof".into()),
        _ => package.strip_prefix("rprof-").map(str::to_owned),
    }
}

/// What is wrong, each with the word that marks its line in `Cargo.toml`.
fn broken(found: &Crate, layers: &Layers) -> Vec<(String, String)> {
    let Some(layer) = layers.layer_of(&found.folder) else {
        let what = format!("this crate has no layer: add it to the drawing in {MAP}");
        return vec![("name".into(), what)];
    };
    let mut broken = Vec::new();
    if folder_of(&found.package).as_deref() != Some(&found.folder) {
        let what = format!("package {} must be called after its folder", found.package);
        broken.push(("name".into(), what));
    }
    for need in &found.needs {
        let is_below = layers.layer_of(need).is_some_and(|below| below < layer);
        if !is_below && !SAME_LAYER.contains(&(&found.folder, need)) {
            let what = format!(
                "{} may not need {need}, which is not on a lower layer: move the code that is \
                 shared down",
                found.folder
            );
            broken.push((format!("rprof-{need}"), what));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map with a drawing.
    const DRAWN: &str = "\
# Map

```text
9 not this  one
```

## Layers

Text.

```text
4 command line         rprof     arguments in, text out
  ─────────────────────────────────────────────────────
3 sub-commands         record    runs a recording
                       report    a profile -> tables
  ─────────────────────────────────────────────────────
2 OS and file formats  machine   names by time
                       symbols   addresses -> names
                       profile   counts
  ─────────────────────────────────────────────────────
1 vocabulary           ringbuf   system calls
                       events    names of events
                       process   processes
```

## Other

```text
5 not this  either
```
";

    fn layers() -> Layers {
        Layers::drawn(DRAWN).unwrap()
    }

    fn of(folder: &str, needs: &[&str]) -> Crate {
        Crate {
            folder: folder.into(),
            package: match folder {
                "rprof" => "rprof-cli".into(),
                _ => format!("rprof-{folder}"),
            },
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        }
    }

    fn n_broken(folder: &str, needs: &[&str]) -> usize {
        broken(&of(folder, needs), &layers()).len()
    }

    #[test]
    fn layers_are_read_from_the_drawing() {
        let layers = layers();
        assert_eq!(layers.0.len(), 4);
        assert_eq!(layers.0[0], ["ringbuf", "events", "process"]);
        assert_eq!(layers.0[2], ["record", "report"]);
        assert_eq!(layers.layer_of("rprof"), Some(3));
        assert_eq!(layers.layer_of("not this"), None);
    }

    #[test]
    fn drawings_that_cannot_be_read_are_errors() {
        for (from, to) in [
            ("## Layers", "## Floors"),
            ("2 OS", "5 OS"),
            ("1 vocabulary  ", "vocabulary  "),
            ("1 vocabulary ", "0 vocabulary "),
            ("4 command line  ", "command line  "),
            ("   events    names of events", "   events"),
            (
                "   events    names of events",
                "   events    names  of events",
            ),
            (
                "1 vocabulary           ringbuf   system calls",
                "1 vocabulary",
            ),
        ] {
            let changed = DRAWN.replacen(from, to, 1);
            assert_ne!(changed, DRAWN, "{from}");
            assert!(Layers::drawn(&changed).is_err(), "{from} -> {to}");
        }
    }

    #[test]
    fn crates_are_drawn_once_and_only_if_they_are_there() {
        let crates: Vec<Crate> = layers()
            .0
            .iter()
            .flatten()
            .map(|one| of(one, &[]))
            .collect();
        assert_eq!(layers().misdrawn(&crates), Vec::<String>::new());
        assert_eq!(layers().misdrawn(&crates[1..]).len(), 1);
        let twice = DRAWN.replacen("   symbols ", "   profile ", 1);
        let twice = Layers::drawn(&twice).unwrap();
        assert_eq!(twice.misdrawn(&crates).len(), 1);
    }

    #[test]
    fn edges_go_down_only() {
        assert_eq!(n_broken("rprof", &["record", "report", "events"]), 0);
        assert_eq!(n_broken("machine", &["ringbuf", "events"]), 0);
        assert_eq!(n_broken("ringbuf", &["machine"]), 1);
        assert_eq!(n_broken("events", &["rprof"]), 1);
    }

    #[test]
    fn edges_within_a_layer_are_the_two_listed() {
        assert_eq!(n_broken("events", &["ringbuf"]), 0);
        assert_eq!(n_broken("process", &["ringbuf"]), 0);
        assert_eq!(n_broken("ringbuf", &["events"]), 1);
        assert_eq!(n_broken("symbols", &["profile"]), 1);
        assert_eq!(n_broken("record", &["report"]), 1);
        assert_eq!(n_broken("report", &["record"]), 1);
    }

    #[test]
    fn crates_without_a_layer_are_reported_on_both_ends() {
        assert_eq!(n_broken("utils", &[]), 1);
        assert_eq!(n_broken("report", &["utils"]), 1);
    }

    #[test]
    fn packages_are_called_after_their_folders() {
        let mut found = of("symbols", &[]);
        found.package = "rprof-symbol".into();
        assert_eq!(broken(&found, &layers()).len(), 1);
        found.package = "rprof-symbols".into();
        assert_eq!(broken(&found, &layers()), []);
    }
}
