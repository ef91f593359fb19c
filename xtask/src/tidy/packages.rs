//! Every crate can be published: its `Cargo.toml` says what registries ask for, its folder has the texts that go with
//! it, and crates need each other in an order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Violation;
use crate::command::{packages, root};
use crate::files::File;

/// What `cargo metadata` calls the entries that each package has.
const ENTRIES: &[&str] = &[
    "description",
    "license",
    "readme",
    "keywords",
    "categories",
    "rust_version",
];

/// Texts that are packed with each crate: licences ask for it. They are links to those of the workspace.
const TEXTS: &[&str] = &["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// One of our packages.
#[derive(Debug)]
struct Package {
    name: String,
    /// Of its `Cargo.toml`, from the workspace's root.
    manifest: PathBuf,
    lacks: Vec<String>,
    repository: Option<String>,
    /// Those of our packages that have to be published before it, for tests too.
    needs: Vec<String>,
    /// Those of them that it names without a version.
    unversioned: Vec<String>,
}

/// Checks all packages that are published.
pub(super) fn check(_: &[File]) -> Result<Vec<Violation>> {
    let packages: Vec<Package> = packages()?.iter().filter_map(parse).collect();
    ensure!(!packages.is_empty(), "no package is published");
    Ok(broken(&packages))
}

/// `None` for packages that are not published.
fn parse(package: &Value) -> Option<Package> {
    if package.get("publish").is_some_and(Value::is_array) {
        return None;
    }
    let manifest = Path::new(package.get("manifest_path")?.as_str()?);
    let manifest = manifest.strip_prefix(root()).ok()?.to_owned();
    let text = |of: &Value, key: &str| Some(of.get(key)?.as_str()?.to_owned());
    let folder = root().join(manifest.parent()?);
    let entries = ENTRIES.iter().filter(|entry| {
        let value = package.get(**entry);
        value.is_none_or(|value| [Value::Null, Value::Array(Vec::new())].contains(value))
    });
    let texts = TEXTS.iter().filter(|name| !folder.join(name).is_file());
    let ours = package.get("dependencies")?.as_array()?.iter();
    let ours: Vec<&Value> = ours.filter(|one| one.get("path").is_some()).collect();
    let names = |all: &mut dyn Iterator<Item = &&Value>| {
        let names = all.filter_map(|one| text(one, "name"));
        names.collect::<Vec<_>>()
    };
    Some(Package {
        name: text(package, "name")?,
        lacks: entries.chain(texts).map(|&what| what.to_owned()).collect(),
        repository: text(package, "repository"),
        unversioned: names(&mut ours.iter().filter(|one| one["req"] == "*")),
        needs: names(&mut ours.iter()),
        manifest,
    })
}

fn broken(packages: &[Package]) -> Vec<Violation> {
    let mut broken = Vec::new();
    let mut say = |package: &Package, what| {
        broken.push(Violation::new(&package.manifest, 1, what));
    };
    let repository = packages.first().and_then(|first| first.repository.as_ref());
    for package in packages {
        for lack in &package.lacks {
            say(package, format!("the package lacks {lack}: add it"));
        }
        for need in &package.unversioned {
            let what = format!("{need} has no version: registries have no paths");
            say(package, what);
        }
        if package.repository.as_ref() != repository {
            let what = "not the repository of the other packages: all have one, or none".to_owned();
            say(package, what);
        }
    }
    for package in unordered(packages) {
        let what =
            "needs a package that needs it, perhaps for tests: neither can be published first";
        say(package, what.to_owned());
    }
    broken
}

/// Packages that cannot be published after all that they need.
fn unordered(packages: &[Package]) -> Vec<&Package> {
    let mut left: Vec<&Package> = packages.iter().collect();
    let mut published: BTreeSet<&str> = BTreeSet::new();
    loop {
        let (ready, rest): (Vec<_>, Vec<_>) = left.iter().partition(|package| {
            let mut needs = package.needs.iter();
            needs.all(|need| published.contains(need.as_str()))
        });
        if ready.is_empty() {
            return rest;
        }
        published.extend(ready.iter().map(|package| package.name.as_str()));
        left = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml").into(),
            lacks: Vec::new(),
            repository: None,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            unversioned: Vec::new(),
        }
    }

    #[test]
    fn packages_that_need_each_other_are_reported() {
        let mut packages = vec![package("c", &["a", "b"]), package("a", &[])];
        packages.push(package("b", &["a"]));
        assert_eq!(broken(&packages), []);
        packages[1].needs = vec!["b".to_owned()];
        assert_eq!(broken(&packages).len(), 3);
    }

    #[test]
    fn what_a_package_lacks_is_reported() {
        let mut packages = [package("a", &[]), package("b", &["a"])];
        packages[0].lacks = vec!["keywords".to_owned(), "LICENSE-MIT".to_owned()];
        packages[1].unversioned = vec!["a".to_owned()];
        assert_eq!(broken(&packages).len(), 3);
        packages[0].repository = Some("https://example.org".to_owned());
        assert_eq!(broken(&packages).len(), 4);
    }

    #[test]
    fn entries_are_read_as_cargo_lists_them() {
        let manifest = root().join("crates/x/Cargo.toml");
        let mut listed = serde_json::json!({
            "name": "rprof-x", "manifest_path": manifest, "publish": null,
            "description": "x", "license": "MIT", "readme": "README.md", "keywords": [],
            "categories": ["encoding"], "rust_version": null,
            "dependencies": [
                { "name": "rprof-a", "req": "*", "path": "/a", "kind": "dev" },
                { "name": "rprof-b", "req": "^0.1.0", "path": "/b", "kind": null },
                { "name": "libc", "req": "*" },
            ],
        });
        let found = parse(&listed).unwrap();
        assert_eq!(found.lacks, [&["keywords", "rust_version"], TEXTS].concat());
        assert_eq!(found.needs, ["rprof-a", "rprof-b"]);
        assert_eq!(found.unversioned, ["rprof-a"]);
        listed["publish"] = serde_json::json!([]);
        assert!(parse(&listed).is_none());
    }
}
