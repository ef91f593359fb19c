//! The modules of a crate, one a file, and which file each path leads to.

mod paths;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::files::File;
use paths::{Contents, Use, Visibility};

/// Aliases that are followed before a path is given up.
const MOST_ALIASES: usize = 8;

/// Everything of a crate but its tests.
#[derive(Debug)]
pub(super) struct Modules {
    all: Vec<Module>,
    by_path: BTreeMap<Vec<String>, usize>,
    root: usize,
}

#[derive(Debug)]
struct Module {
    file: PathBuf,
    /// Its names from the crate's root on.
    path: Vec<String>,
    contents: Contents,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// Something in a module.
    Item(usize),
}

/// That a file names something of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Import {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where it says so first, counted from 1.
    pub(super) line: usize,
}

/// A type that other crates see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PublicType<'m> {
    pub(super) name: &'m str,
    /// The file of the module that other crates find it in.
    pub(super) file: &'m Path,
    /// Where that says so, counted from 1.
    pub(super) line: usize,
}

impl Modules {
    /// Those of the crate whose root is in `folder`; `None` if nothing is there.
    pub(super) fn of(files: &[File], folder: &Path) -> Option<Self> {
        let mut all: Vec<Module> = files
            .iter()
            .filter_map(|file| module(file, folder))
            .collect();
        let tests: BTreeSet<Vec<String>> = all.iter().flat_map(Module::tests).collect();
        all.retain(|module| {
            let mut above = (1..=module.path.len()).map(|len| &module.path[..len]);
            !above.any(|path| tests.contains(path))
        });
        let paths = all.iter().map(|module| module.path.clone());
        let by_path: BTreeMap<_, _> = paths.zip(0..).collect();
        let root = *by_path.get(&[][..])?;
        Some(Self { all, by_path, root })
    }

    /// The file of a module.
    pub(super) fn file(&self, module: usize) -> &Path {
        &self.all[module].file
    }

    /// What a module is called, from the crate's root on.
    pub(super) fn name(&self, module: usize) -> String {
        match &self.all[module].path[..] {
            [] => "crate".to_owned(),
            path => path.join("::"),
        }
    }

    /// Which files name something of which others. A name that a module only passes on leads to
    /// where it is made.
    pub(super) fn imports(&self) -> Vec<Import> {
        let mut first: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for from in 0..self.all.len() {
            for (to, line) in self.named_in(from) {
                let known = first.entry((from, to)).or_insert(line);
                *known = line.min(*known);
            }
        }
        let import = |((from, to), line)| Import { from, to, line };
        first.into_iter().map(import).collect()
    }

    /// Other files whose things a file names, with the lines.
    fn named_in(&self, from: usize) -> Vec<(usize, usize)> {
        let contents = &self.all[from].contents;
        let imports = contents
            .uses
            .iter()
            .filter(|one| one.visibility == Visibility::Nobody);
        let imports = imports.map(|one| (&one.path, one.line));
        let paths = contents.paths.iter().map(|(path, line)| (path, *line));
        let targets = imports.chain(paths).filter_map(|(path, line)| {
            // Importing a module is no use of anything in it.
            match self.resolve(from, path, MOST_ALIASES)? {
                Target::Item(to) if to != from => Some((to, line)),
                _ => None,
            }
        });
        targets.collect()
    }

    /// Types that other crates see: those of the crate's root and of its public modules, made there or
    /// passed on.
    pub(super) fn public_types(&self) -> Vec<PublicType<'_>> {
        let mut types = Vec::new();
        let mut todo = vec![self.root];
        while let Some(module) = todo.pop() {
            types.extend(self.public_types_in(module));
            let names = &self.all[module].contents.public_modules;
            todo.extend(
                names
                    .iter()
                    .rev()
                    .filter_map(|name| self.child(module, name)),
            );
        }
        types
    }

    fn public_types_in(&self, module: usize) -> Vec<PublicType<'_>> {
        let contents = &self.all[module].contents;
        let own = contents.public_types.iter();
        let own = own.map(|(name, line)| (&**name, *line));
        let is_passed_on = |one: &&Use| {
            let is_public = one.visibility == Visibility::Everybody;
            is_public
                && is_type_name(&one.name)
                && self.resolve(module, &one.path, MOST_ALIASES).is_some()
        };
        let passed_on = contents.uses.iter().filter(is_passed_on);
        own.chain(passed_on.map(|one| (&*one.name, one.line)))
            .map(|(name, line)| PublicType {
                name,
                file: &self.all[module].file,
                line,
            })
            .collect()
    }

    /// Follows a path as it stands in a module.
    fn resolve(&self, from: usize, path: &[String], n_aliases: usize) -> Option<Target> {
        let mut at = from;
        let mut rest = path;
        loop {
            let (first, after) = rest.split_first()?;
            at = match first.as_str() {
                "crate" => self.root,
                "self" => at,
                "super" => self.parent(at)?,
                _ => break,
            };
            rest = after;
            if rest.is_empty() {
                return Some(Target::Module(at));
            }
        }
        let is_explicit = rest.len() < path.len();
        self.find(at, rest, n_aliases)
            .or(is_explicit.then_some(Target::Item(at)))
    }

    /// Looks in a module for a name, and for what follows in what that is.
    fn find(&self, module: usize, path: &[String], n_aliases: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let contents = &self.all[module].contents;
        let alias = contents.uses.iter().find(|one| one.name == *first);
        if let Some(child) = self.child(module, first) {
            return match (rest, alias) {
                ([], None) => Some(Target::Module(child)),
                ([], Some(_)) => Some(Target::Item(child)),
                _ => self
                    .find(child, rest, n_aliases)
                    .or(Some(Target::Item(child))),
            };
        }
        if contents.items.contains(first) {
            return Some(Target::Item(module));
        }
        let n_aliases = n_aliases.checked_sub(1)?;
        if let Some(alias) = alias.filter(|alias| alias.path[..] != *path) {
            return match self.resolve(module, &alias.path, n_aliases)? {
                Target::Module(inner) if !rest.is_empty() => self
                    .find(inner, rest, n_aliases)
                    .or(Some(Target::Item(inner))),
                found => Some(found),
            };
        }
        let mut globs = contents.uses.iter().filter(|one| one.name == "*");
        globs.find_map(|glob| match self.resolve(module, &glob.path, n_aliases)? {
            Target::Module(inner) => self.find(inner, path, n_aliases),
            Target::Item(_) => None,
        })
    }

    fn parent(&self, module: usize) -> Option<usize> {
        let (_, path) = self.all[module].path.split_last()?;
        self.by_path.get(path).copied()
    }

    fn child(&self, module: usize, name: &str) -> Option<usize> {
        let mut path = self.all[module].path.clone();
        path.push(name.to_owned());
        self.by_path.get(&path).copied()
    }
}

/// Constants are all in capitals; functions have none.
fn is_type_name(name: &str) -> bool {
    let is_one = name.len() == 1 || name.contains(char::is_lowercase);
    name.starts_with(char::is_uppercase) && is_one
}

impl Module {
    /// Modules below it that are only for tests.
    fn tests(&self) -> impl Iterator<Item = Vec<String>> {
        let names = self.contents.tests.iter();
        names.map(|name| [&self.path[..], std::slice::from_ref(name)].concat())
    }
}

/// A file of a crate as a module; `None` if it is none.
fn module(file: &File, folder: &Path) -> Option<Module> {
    let below = file.path.strip_prefix(folder).ok()?;
    if !file.is_rust() {
        return None;
    }
    let without = below.with_extension("");
    let names = without.iter().map(|part| part.to_str().map(str::to_owned));
    let mut path: Vec<String> = names.collect::<Option<_>>()?;
    let is_root = path.len() == 1 && ["lib", "main"].contains(&path[0].as_str());
    if is_root || path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    Some(Module {
        file: file.path.clone(),
        path,
        contents: Contents::of(file.text.as_deref()?),
    })
}

#[cfg(test)]
mod tests;
