//! The functions and markers (USDT) of a file, as places of probes.

use super::counted::Counted;
use super::{ListOptions, Listed, Listing};
use rprof_events::{ListKind, ListedEvent};
use rprof_images::{Elf, ElfError, markers};
use rprof_probes::readable;
use rprof_untrusted::Budget;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

impl Listing {
    /// The markers and the functions of a file that fit, each name once, sorted.
    ///
    /// # Errors
    /// The file is not there, or is no ELF file.
    pub fn of_functions(path: &Path, options: &ListOptions) -> Result<Self, ElfError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let elf = Elf::open(&path, &Budget::default())?;
        let found = functions(&elf);
        let mut warnings = Vec::new();
        if found.is_empty() && options.selection.wants(ListKind::Function) {
            let path = path.display();
            warnings.push(format!("{path} has no function symbols (stripped)"));
        }
        let (path, selection) = (path.display(), &options.selection);
        let mut events: Vec<Listed> = Vec::new();
        if selection.wants(ListKind::Marker) {
            let markers = markers(&elf).into_iter();
            let names = markers.map(|marker| format!("{}:{}", marker.provider, marker.name));
            let names: BTreeSet<String> = names.filter(|name| selection.fits(name)).collect();
            let place = |name| place(ListKind::Marker, format!("usdt:{path}:{name}"), None);
            events.extend(names.iter().map(place));
        }
        if selection.wants(ListKind::Function) {
            let names = readable(found.keys().map(String::as_str));
            let all = found.iter().zip(names);
            let fitting =
                all.filter(|((symbol, _), name)| selection.fits(name) || selection.fits(symbol));
            events.extend(fitting.map(|((symbol, size), name)| {
                let size = (*size > 0).then(|| format!("{size} bytes"));
                let mangled = (*symbol != name).then(|| symbol.clone());
                let about: Vec<String> = size.into_iter().chain(mangled).collect();
                let about = (!about.is_empty()).then(|| about.join(", "));
                place(ListKind::Function, format!("uprobe:{path}:{name}"), about)
            }));
        }
        Ok(Self {
            events,
            pmus: Vec::new(),
            warnings,
        })
    }
}

fn place(kind: ListKind, name: String, description: Option<String>) -> Listed {
    Listed {
        event: ListedEvent {
            kind,
            name,
            alias: None,
            description,
            unit: None,
            scale: None,
            event: None,
        },
        counted: Counted::NotAsked,
        fields: Vec::new(),
    }
}

/// Names with their sizes; what is chosen at start cannot be probed.
fn functions(elf: &Elf) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    elf.for_each_function(&mut |function| {
        if !function.is_indirect {
            found
                .entry(function.name.to_owned())
                .or_insert(function.size);
        }
    });
    found
}
