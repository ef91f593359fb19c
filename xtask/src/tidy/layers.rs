//! A crate depends only on crates of lower layers. `crates/README.md` says what a layer is.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Violation, line_of, text_of};
use crate::command::{metadata, root};
use crate::files::File;

/// The folders under `crates/`, lowest layer first.
const LAYERS: &[&[&str]] = &[
    &["base", "abi", "untrusted"],
    &[
        "ringbuf",
        "events",
        "process",
        "perfdata",
        "images",
        "disassembly",
    ],
    &[
        "machine", "locate", "unwind", "symbols", "profile", "targets",
    ],
    &["analysis", "query", "probes"],
    &[
        "record", "stat", "report", "annotate", "diff", "script", "inspect", "export", "tui",
    ],
    &["rprof"],
];

/// Edges within a layer: these use `ringbuf::sys` for their system calls.
const SAME_LAYER: &[(&str, &str)] = &[("events", "ringbuf"), ("process", "ringbuf")];

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

/// Checks every crate under `crates/` against the table.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.context("cargo metadata lists no packages")?;
    let crates: Vec<Crate> = packages.iter().filter_map(parse).collect();
    ensure!(
        !crates.is_empty(),
        "cargo metadata lists no crate under crates/"
    );
    let mut violations = Vec::new();
    for found in &crates {
        let manifest = format!("crates/{}/Cargo.toml", found.folder);
        let text = text_of(files, &manifest).unwrap_or_default();
        for (needle, what) in broken(found) {
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
        "rprof" => Some("rprof".into()),
        _ => package.strip_prefix("rprof-").map(str::to_owned),
    }
}

fn layer_of(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&folder))
}

/// What is wrong, each with the word that marks its line in `Cargo.toml`.
fn broken(found: &Crate) -> Vec<(String, String)> {
    let Some(layer) = layer_of(&found.folder) else {
        let what = "this crate has no layer: add it to LAYERS in xtask/src/tidy/layers.rs";
        return vec![("name".into(), what.into())];
    };
    let mut broken = Vec::new();
    if folder_of(&found.package).as_deref() != Some(&found.folder) {
        let what = format!("package {} must be called after its folder", found.package);
        broken.push(("name".into(), what));
    }
    for need in &found.needs {
        let is_below = layer_of(need).is_some_and(|below| below < layer);
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

    fn n_broken(folder: &str, needs: &[&str]) -> usize {
        let package = match folder {
            "rprof" => "rprof".into(),
            _ => format!("rprof-{folder}"),
        };
        broken(&Crate {
            folder: folder.into(),
            package,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        })
        .len()
    }

    #[test]
    fn edges_go_down_only() {
        assert_eq!(n_broken("rprof", &["record", "report", "abi"]), 0);
        assert_eq!(n_broken("machine", &["abi", "images"]), 0);
        assert_eq!(n_broken("images", &["machine"]), 1);
        assert_eq!(n_broken("abi", &["rprof"]), 1);
    }

    #[test]
    fn edges_within_a_layer_are_the_two_listed() {
        assert_eq!(n_broken("events", &["abi", "ringbuf"]), 0);
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
        let mut found = Crate {
            folder: "abi".into(),
            package: "rprof-api".into(),
            needs: Vec::new(),
        };
        assert_eq!(broken(&found).len(), 1);
        found.package = "rprof-abi".into();
        assert_eq!(broken(&found), []);
    }
}
