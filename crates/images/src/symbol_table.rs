//! Symbol tables of an ELF file.

use crate::Elf;
use object::read::elf::{SectionHeader as _, Sym as _};
use object::{Endianness, ReadRef, elf};
use rprof_base::Svma;
use std::ffi::CStr;

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
    /// takes longer than all else.
    ///
    /// # Errors
    /// If the table or its strings are damaged.
    pub fn for_each_wanted_symbol<'e>(
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
            object::File::Elf64(_) => walk_symbols::<Of64, _>(&self.data, which, is_wanted, visit),
            object::File::Elf32(_) => walk_symbols::<Of32, _>(&self.data, which, is_wanted, visit),
            _ => Ok(()),
        }
    }
}

impl Elf {
    /// The strings that the symbols of a table have their names in; none if there is no such table.
    pub(crate) fn symbol_strings(&self, which: SymbolTable) -> Result<&[u8], object::read::Error> {
        type Of64 = elf::FileHeader64<Endianness>;
        type Of32 = elf::FileHeader32<Endianness>;
        match self.object()? {
            object::File::Elf64(_) => strings_of::<Of64, _>(&self.data, which),
            object::File::Elf32(_) => strings_of::<Of32, _>(&self.data, which),
            _ => Ok(&[]),
        }
    }
}

fn strings_of<'d, H, R>(data: R, which: SymbolTable) -> Result<&'d [u8], object::read::Error>
where
    H: object::read::elf::FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    Ok(Opened::<H, R>::new(data, which)?.strings)
}

/// A table, and what is needed to read it.
struct Opened<'d, H, R>
where
    H: object::read::elf::FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    endian: Endianness,
    sections: object::read::elf::SectionTable<'d, H, R>,
    table: object::read::elf::SymbolTable<'d, H, R>,
    /// All names at once: one read for each of a hundred thousand would take seconds. None if there is no table.
    strings: &'d [u8],
}

impl<'d, H, R> Opened<'d, H, R>
where
    H: object::read::elf::FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    fn new(data: R, which: SymbolTable) -> Result<Self, object::read::Error> {
        let header = H::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        let table = sections.symbols(endian, data, which.kind())?;
        let strings = if table.is_empty() {
            &[]
        } else {
            let strings = sections.section(table.string_section())?;
            strings.data(endian, data)?
        };
        Ok(Self {
            endian,
            sections,
            table,
            strings,
        })
    }
}

/// Longer names are none, bytes.
const MAX_NAME: usize = 1 << 16;

fn walk_symbols<'d, H, R>(
    data: R,
    which: SymbolTable,
    mut is_wanted: impl FnMut(&ElfSymbol<'d>, usize) -> bool,
    mut visit: impl FnMut(ElfSymbol<'d>),
) -> Result<(), object::read::Error>
where
    H: object::read::elf::FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let Opened {
        endian,
        sections,
        table,
        strings: names,
    } = Opened::<H, R>::new(data, which)?;
    if table.is_empty() {
        return Ok(());
    }
    // Names may overlap: looking for their ends must take no longer than reading them all.
    let mut left = names.len().saturating_mul(8).saturating_add(MAX_NAME << 8);
    let of_sections: Vec<(bool, u64)> = sections
        .iter()
        .map(|section| {
            let is_code = section.sh_flags(endian).0 & elf::SHF_EXECINSTR.0 != 0;
            let start: u64 = section.sh_addr(endian).into();
            let size: u64 = section.sh_size(endian).into();
            (is_code, start.saturating_add(size))
        })
        .collect();
    for symbol in table.iter() {
        let section = symbol.st_shndx(endian);
        let start = symbol.st_name(endian) as usize;
        let is_nameless = matches!(names.get(start), None | Some(0));
        if matches!(section, elf::SHN_UNDEF | elf::SHN_ABS) || is_nameless {
            continue;
        }
        let section = of_sections.get(usize::from(section.0)).copied();
        let (in_code, section_end) = section.unwrap_or((false, u64::MAX));
        let mut wanted = ElfSymbol {
            name: &[],
            address: Svma(symbol.st_value(endian).into()),
            size: symbol.st_size(endian).into(),
            section_end: Svma(section_end),
            kind: symbol.st_type().0,
            binding: symbol.st_bind().0,
            visibility: symbol.st_visibility().0,
            in_code,
        };
        if !is_wanted(&wanted, start) {
            continue;
        }
        let name = names.get(start..).unwrap_or_default();
        let name = name.get(..MAX_NAME).unwrap_or(name);
        let ended = CStr::from_bytes_until_nul(name).ok().map(CStr::to_bytes);
        let Some(rest) = left.checked_sub(ended.unwrap_or(name).len()) else {
            break;
        };
        left = rest;
        if let Some(name) = ended {
            wanted.name = name;
            visit(wanted);
        }
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
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        let is_wanted = |symbol: &ElfSymbol<'_>| symbol.in_code && symbol.size > 100;
        let (mut all, mut wanted) = (Vec::new(), Vec::new());
        elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if is_wanted(&symbol) {
                all.push((symbol.address, symbol.name));
            }
        })
        .unwrap();
        elf.for_each_wanted_symbol(SymbolTable::Static, is_wanted, |symbol| {
            wanted.push((symbol.address, symbol.name));
        })
        .unwrap();
        assert!(!all.is_empty() && all.iter().all(|(_, name)| !name.is_empty()));
        assert_eq!(wanted, all);
    }
}
