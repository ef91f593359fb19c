//! The functions of a file, as places of probes.

use super::counted::Counted;
use super::{ListOptions, Listed, Listing};
use rprof_events::{ListKind, ListedEvent};
use rprof_images::{Elf, ElfError, SymbolTable};
use rprof_untrusted::Budget;
use std::collections::BTreeMap;
use std::path::Path;

/// `STT_FUNC` of the ELF specification. What is chosen at start (`STT_GNU_IFUNC`) cannot be probed.
const FUNC: u8 = 2;

impl Listing {
    /// The functions of a file that fit, each name once, sorted.
    ///
    /// # Errors
    /// The file is not there, or is no ELF file.
    pub fn of_functions(path: &Path, options: &ListOptions) -> Result<Self, ElfError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let elf = Elf::open(&path, &Budget::default())?;
        let found = functions(&elf);
        let mut warnings = Vec::new();
        if found.is_empty() {
            let path = path.display();
            warnings.push(format!(
                "{path} has no symbols of functions: it is stripped"
            ));
        }
        let fitting = found.into_iter();
        let fitting = fitting.filter(|(name, _)| options.selection.fits(name));
        let events = fitting.map(|(name, size)| Listed {
            event: ListedEvent {
                kind: ListKind::Function,
                name: format!("uprobe:{}:{name}", path.display()),
                alias: None,
                description: (size > 0).then(|| format!("{size} bytes")),
                unit: None,
                scale: None,
                event: None,
            },
            counted: Counted::NotAsked,
            fields: Vec::new(),
        });
        Ok(Self {
            events: events.collect(),
            pmus: Vec::new(),
            warnings,
        })
    }
}

/// Names with their sizes, of both tables: stripped files still say what others may call.
fn functions(elf: &Elf) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for table in [SymbolTable::Static, SymbolTable::Dynamic] {
        // A table that is absent or damaged has nothing to say.
        let _ = elf.for_each_symbol(table, |symbol| {
            let is_function = symbol.in_code && symbol.kind == FUNC;
            if let (true, Ok(name)) = (is_function, std::str::from_utf8(symbol.name)) {
                // `name@@VERSION`
                let name = name.split('@').next().unwrap_or_default();
                found.entry(name.to_owned()).or_insert(symbol.size);
            }
        });
    }
    found
}
