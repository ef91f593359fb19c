//! Symbol tables of an ELF file.

use crate::Elf;
use crate::contents::Contents;
use crate::symbol_names::{Names, sparse_names};
use object::read::elf::{FileHeader, SectionHeader as _, SectionTable, Sym as _};
use object::{Endianness, ReadRef as _, elf};
use rprof_base::Svma;

/// One entry of a symbol table.
#[derive(Clone, Copy, Debug)]
pub struct ElfSymbol<'a> {
    /// Its name, mangled.
    pub name: &'a [u8],
    /// Its address.
    pub address: Svma,
    /// Bytes; 0 if it does not say.
    pub size: u64,
    /// Where its section ends: as far as a symbol without a size can reach.
    pub section_end: Svma,
    /// `STT_*`.
    pub kind: u8,
    /// `STB_*`.
    pub binding: u8,
    /// `STV_*`.
    pub visibility: u8,
    /// Whether its section holds code (`SHF_EXECINSTR`).
    pub in_code: bool,
}

/// One of the two tables of symbols that a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolTable {
    /// `.symtab`: all symbols, for who debugs.
    Static,
    /// `.dynsym`: what other files may use, for the loader.
    Dynamic,
}

impl SymbolTable {
    fn kind(self) -> elf::SectionType {
        match self {
            Self::Static => elf::SHT_SYMTAB,
            Self::Dynamic => elf::SHT_DYNSYM,
        }
    }
}

impl Elf {
    /// The symbols of a table, in its order; none if the file does not have it.
    ///
    /// # Errors
    /// If the table or its strings are damaged.
    pub fn for_each_symbol<'e>(
        &'e self,
        which: SymbolTable,
        visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        self.for_each_wanted_symbol(which, |_| true, visit)
    }

    /// The same of those that are wanted, which is asked while their names are empty: to look for the ends of all names
    /// takes longer than all else, and so does reading all of them into memory.
    ///
    /// # Errors
    /// If the table or its strings are damaged, or do not fit into the budget.
    pub fn for_each_wanted_symbol<'e>(
        &'e self,
        which: SymbolTable,
        is_wanted: impl FnMut(&ElfSymbol<'e>) -> bool,
        mut visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        self.for_each_wanted_entry(which, is_wanted, |symbol| {
            if !symbol.name.is_empty() {
                visit(symbol);
            }
        })
    }

    /// The same with those that turn out to have no name: others may end where they begin.
    ///
    /// # Errors
    /// If the table or its strings are damaged, or do not fit into the budget.
    pub fn for_each_wanted_entry<'e>(
        &'e self,
        which: SymbolTable,
        mut is_wanted: impl FnMut(&ElfSymbol<'e>) -> bool,
        visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        self.for_each_wanted_by_place(which, |symbol, _| is_wanted(symbol), visit)
    }

    /// The same; what is wanted depends also on where in the strings of the table its name begins.
    pub(crate) fn for_each_wanted_by_place<'e>(
        &'e self,
        which: SymbolTable,
        is_wanted: impl FnMut(&ElfSymbol<'e>, usize) -> bool,
        visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        type Of64 = elf::FileHeader64<Endianness>;
        type Of32 = elf::FileHeader32<Endianness>;
        match self.object()? {
            object::File::Elf64(_) => walk_symbols::<Of64>(&self.data, which, is_wanted, visit),
            object::File::Elf32(_) => walk_symbols::<Of32>(&self.data, which, is_wanted, visit),
            _ => Ok(()),
        }
    }

    /// The strings that the symbols of a table have their names in; none if there is no such table.
    pub(crate) fn symbol_strings(&self, which: SymbolTable) -> Result<&[u8], object::read::Error> {
        type Of64 = elf::FileHeader64<Endianness>;
        type Of32 = elf::FileHeader32<Endianness>;
        match self.object()? {
            object::File::Elf64(_) => Opened::<Of64>::new(&self.data, which)?.strings(),
            object::File::Elf32(_) => Opened::<Of32>::new(&self.data, which)?.strings(),
            _ => Ok(&[]),
        }
    }
}

/// A table, and what is needed to read it.
struct Opened<'d, H: FileHeader<Endian = Endianness>> {
    data: &'d Contents,
    endian: Endianness,
    sections: SectionTable<'d, H, &'d Contents>,
    table: object::read::elf::SymbolTable<'d, H, &'d Contents>,
    /// Where in the file the strings are: offset and length.
    range: (u64, u64),
}

impl<'d, H: FileHeader<Endian = Endianness>> Opened<'d, H> {
    fn new(data: &'d Contents, which: SymbolTable) -> Result<Self, object::read::Error> {
        let header = H::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        let table = sections.symbols(endian, data, which.kind())?;
        let mut range = (0, 0);
        if !table.is_empty() {
            let strings = sections.section(table.string_section())?;
            range = strings.file_range(endian).unwrap_or_default();
            let end = range.0.checked_add(range.1);
            if end.is_none_or(|end| data.len().is_ok_and(|len| end > len)) {
                // It says what is wrong.
                strings.data(endian, data)?;
            }
        }
        Ok(Self {
            data,
            endian,
            sections,
            table,
            range,
        })
    }

    /// All names at once.
    fn strings(&self) -> Result<&'d [u8], object::read::Error> {
        if self.range.1 == 0 {
            return Ok(&[]);
        }
        let strings = self.sections.section(self.table.string_section())?;
        strings.data(self.endian, self.data)
    }
}

/// Strings that are read whole, whatever is wanted of them, bytes.
const SMALL: u64 = 256 << 10;

/// Strings are read whole if there are fewer bytes of them for each symbol that is wanted.
const SPARSE: u64 = 512;

fn walk_symbols<'d, H: FileHeader<Endian = Endianness>>(
    data: &'d Contents,
    which: SymbolTable,
    mut is_wanted: impl FnMut(&ElfSymbol<'d>, usize) -> bool,
    mut visit: impl FnMut(ElfSymbol<'d>),
) -> Result<(), object::read::Error> {
    let opened = Opened::<H>::new(data, which)?;
    let endian = opened.endian;
    let (_, len) = opened.range;
    let of_sections: Vec<(bool, u64)> = opened
        .sections
        .iter()
        .map(|section| {
            let is_code = section.sh_flags(endian).0 & elf::SHF_EXECINSTR.0 != 0;
            let start: u64 = section.sh_addr(endian).into();
            let size: u64 = section.sh_size(endian).into();
            (is_code, start.saturating_add(size))
        })
        .collect();
    let mut names = None;
    // What is in memory anyway has its strings there. Names that are looked for again are, too: what is kept of them must
    // not grow.
    if len < SMALL || data.file().is_none() || data.was_read(opened.range) {
        names = Some(Names::of(opened.strings()?));
    }
    // Those that wait for their names: with `SPARSE`, they take less memory than the strings.
    let mut waiting: Vec<(ElfSymbol<'d>, usize)> = Vec::new();
    for symbol in opened.table.iter() {
        let section = symbol.st_shndx(endian);
        let start = symbol.st_name(endian) as usize;
        let is_nameless = start == 0 || start as u64 >= len;
        if matches!(section, elf::SHN_UNDEF | elf::SHN_ABS) || is_nameless {
            continue;
        }
        let section = of_sections.get(usize::from(section.0)).copied();
        let (in_code, section_end) = section.unwrap_or((false, u64::MAX));
        let symbol = ElfSymbol {
            name: &[],
            address: Svma(symbol.st_value(endian).into()),
            size: symbol.st_size(endian).into(),
            section_end: Svma(section_end),
            kind: symbol.st_type().0,
            binding: symbol.st_bind().0,
            visibility: symbol.st_visibility().0,
            in_code,
        };
        if !is_wanted(&symbol, start) {
            continue;
        }
        waiting.push((symbol, start));
        if names.is_none() && waiting.len() as u64 * SPARSE > len {
            names = Some(Names::of(opened.strings()?));
        }
        if let Some(names) = &mut names {
            for (symbol, start) in waiting.drain(..) {
                let name = names.at(start);
                visit(ElfSymbol { name, ..symbol });
            }
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    let starts: Vec<usize> = waiting.iter().map(|&(_, start)| start).collect();
    let names = match sparse_names(data, opened.range, &starts) {
        Some(names) => {
            data.note_read_in_part(opened.range);
            names
        }
        // A table without some of its names would give their code to neighbours: all of them, or an error.
        None => {
            let mut names = Names::of(opened.strings()?);
            starts.iter().map(|&start| names.at(start)).collect()
        }
    };
    for ((symbol, _), name) in waiting.into_iter().zip(names) {
        visit(ElfSymbol { name, ..symbol });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Budget;

    #[test]
    fn symbols_that_are_wanted_have_the_names_that_they_have_among_all() {
        let path = std::env::current_exe().unwrap();
        let open = || Elf::open(&path, &Budget::default()).unwrap();
        let (whole, few) = (open(), open());
        let mut all = Vec::new();
        whole
            .for_each_symbol(SymbolTable::Static, |symbol| {
                if symbol.in_code {
                    all.push((symbol.address, symbol.name));
                }
            })
            .unwrap();
        assert!(all.len() > 3000 && all.iter().all(|(_, name)| !name.is_empty()));
        let step = all.len() / 3;
        let chosen: Vec<Svma> = all
            .iter()
            .step_by(step)
            .map(|(address, _)| *address)
            .collect();
        all.retain(|(address, _)| chosen.contains(address));
        let is_wanted = |symbol: &ElfSymbol<'_>| symbol.in_code && chosen.contains(&symbol.address);
        // Read in part at first, then as a whole.
        for is_whole in [false, true] {
            let mut wanted = Vec::new();
            few.for_each_wanted_symbol(SymbolTable::Static, is_wanted, |symbol| {
                wanted.push((symbol.address, symbol.name));
            })
            .unwrap();
            assert_eq!(wanted, all);
            let opened =
                Opened::<elf::FileHeader64<Endianness>>::new(&few.data, SymbolTable::Static);
            let range = opened.unwrap().range;
            assert!(range.1 > SMALL, "{range:?}");
            assert_eq!(few.data.has_read(range), is_whole);
        }
    }

    #[test]
    fn strings_beyond_the_file_are_damage() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let header = elf::FileHeader64::<Endianness>::parse(&*bytes).unwrap();
        let endian = header.endian().unwrap();
        let sections = header.sections(endian, &*bytes).unwrap();
        let table = sections.symbols(endian, &*bytes, elf::SHT_SYMTAB).unwrap();
        let at = usize::try_from(header.e_shoff(endian)).unwrap()
            + table.string_section().0 * usize::from(header.e_shentsize(endian));
        // The size of the section: `sh_size` is 32 bytes into its header.
        let mut damaged = bytes.clone();
        damaged[at + 32..at + 40].copy_from_slice(&(1u64 << 60).to_le_bytes());
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, &damaged).unwrap();
        let elf = Elf::open(file.path(), &Budget::default()).unwrap();
        let mut n = 0;
        let walked = elf.for_each_wanted_symbol(SymbolTable::Static, |_| true, |_| n += 1);
        assert!(walked.is_err() && n == 0, "{n}");
    }
}
