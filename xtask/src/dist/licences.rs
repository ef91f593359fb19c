//! The licences of all that is linked into the binary: each asks to be handed on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::FEATURES;
use crate::command::metadata;

/// How the names of files with licences begin.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

/// What is linked and is no package.
const OTHERS: &str = "\
This binary contains the libraries below. Two more belong to every static program in Rust: Rust's
standard library (MIT OR Apache-2.0, Copyright (c) The Rust Project contributors), and musl (MIT,
Copyright (c) 2005-2020 Rich Felker, et al.).
";

/// The texts, by name of the package. A text that several have stands at the first of them.
pub(super) fn of_dependencies(target: &str) -> Result<String> {
    let of_release = [&["--filter-platform", target], &FEATURES[..]].concat();
    let metadata = metadata(&of_release)?;
    let packages = metadata["packages"].as_array();
    let packages = packages.context("cargo metadata lists no packages")?;
    let nodes = metadata["resolve"]["nodes"].as_array();
    let linked = linked(nodes.context("cargo metadata resolves nothing")?);
    let mut text = OTHERS.to_owned();
    let mut seen: HashMap<String, String> = HashMap::new();
    for package in packages {
        let word = |name: &str| package[name].as_str().unwrap_or_default();
        let is_ours = package["source"].is_null();
        if is_ours || !linked.contains(word("id")) {
            continue;
        }
        let name = format!("{} {}", word("name"), word("version"));
        let licence = word("license");
        writeln!(text, "\n{:=<100}\n{name} ({licence})\n", "")?;
        let folder = Path::new(word("manifest_path")).parent();
        let files = texts(folder.context("a package without a folder")?)?;
        if files.is_empty() {
            writeln!(
                text,
                "Without a text of its own; the source is on crates.io."
            )?;
        }
        for (file, licence) in files {
            match seen.get(&licence) {
                Some(first) => writeln!(text, "{file}: as that of {first}.")?,
                None => {
                    writeln!(text, "{file}:\n\n{}\n", licence.trim_end())?;
                    seen.insert(licence, name.clone());
                }
            }
        }
    }
    Ok(text)
}

/// The packages that rprof needs when it runs, by their ids.
fn linked(nodes: &[Value]) -> BTreeSet<&str> {
    let mut needs: HashMap<&str, Vec<&str>> = HashMap::new();
    for node in nodes {
        let Some(from) = node["id"].as_str() else {
            continue;
        };
        let all = node["deps"].as_array().into_iter().flatten();
        let normal = all.filter(|needed| is_normal(needed));
        let packages = normal.filter_map(|needed| needed["pkg"].as_str());
        needs.insert(from, packages.collect());
    }
    let is_rprof = |id: &&str| id.contains("crates/rprof#");
    let mut rest: Vec<&str> = needs.keys().copied().filter(is_rprof).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = rest.pop() {
        if linked.insert(id) {
            rest.extend(needs.get(id).into_iter().flatten());
        }
    }
    linked
}

fn is_normal(needed: &Value) -> bool {
    let kinds = needed["dep_kinds"].as_array();
    (kinds.into_iter().flatten()).any(|kind| kind["kind"].is_null())
}

/// Licences in the folder and in `zstd` below it, by name.
fn texts(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for folder in [folder.to_owned(), folder.join("zstd")] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry
                .with_context(|| format!("listing {}", folder.display()))?
                .path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let is_licence = NAMES.iter().any(|is| name.to_uppercase().starts_with(is));
            if is_licence && path.is_file() {
                let text = fs::read(&path);
                let text = text.with_context(|| format!("reading {}", path.display()))?;
                texts.insert(name, String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::host;

    #[test]
    fn all_that_is_linked_has_its_licence_and_nothing_else() {
        let text = of_dependencies(&host().unwrap()).unwrap();
        for expected in [
            "inferno 0.",
            "COMMON DEVELOPMENT AND DISTRIBUTION LICENSE",
            "zstd-sys 2.",
            "(CDLA-Permissive-2.0)",
        ] {
            assert!(text.contains(expected), "{expected}");
        }
        for other in ["\nproptest ", "\nrprof-base ", "\nxtask "] {
            assert!(!text.contains(other), "{other}");
        }
    }
}
