//! Naming addresses of a user-space image.

use crate::answers::{Answers, Collector, Frame};
use crate::table::{Entry, Table};
use crate::{Reason, demangle, dwarf};
use rprof_images::{Elf, FileOffset, Located, PltEntry};

/// How much to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only the function.
    Functions,
    /// Inlined functions, too.
    Inlines,
    /// Inlined functions and source lines.
    Lines,
}

const STB_GLOBAL: u8 = 1;
const STT_NOTYPE: u8 = 0;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STV_INTERNAL: u8 = 1;
const STV_HIDDEN: u8 = 2;

/// Names places in a file: for each the function by the symbol table and, if asked, what was
/// inlined there by DWARF.
///
/// # Errors
/// [`Reason::Stripped`] if the file has neither symbols nor DWARF.
pub fn symbolize_user(
    located: &Located,
    offsets: &[FileOffset],
    detail: Detail,
) -> Result<Answers, Reason> {
    let plt = plt_of(&located.binary);
    let table = table_of(located.symbols(), &plt);
    if table.is_empty() && located.dwarf().is_none() {
        return Err(Reason::Stripped);
    }
    let sections = match detail {
        Detail::Inlines | Detail::Lines => located.dwarf().and_then(dwarf::Sections::of),
        Detail::Functions => None,
    };
    let context = sections.as_ref().and_then(dwarf::Sections::context);
    let mut collector = Collector::default();
    for &offset in offsets {
        if let Some(address) = located.binary.svma(offset) {
            let symbol = table.find(address.0);
            let start = symbol.map_or(address.0, |symbol| symbol.start);
            let mut outermost = None;
            if let Some(context) = &context {
                outermost = dwarf::inlined_frames(context, address, start, &mut collector);
            }
            match (symbol, outermost) {
                (Some(symbol), outermost) => {
                    let name = collector.name(symbol.name, demangle);
                    collector.frame(Frame {
                        name,
                        start,
                        offset: address.0.wrapping_sub(start),
                        is_inlined: false,
                        line: outermost.and_then(|frame: Frame| frame.line),
                    });
                }
                // A function that DWARF knows and the symbol table does not.
                (None, Some(frame)) => collector.frame(frame),
                (None, None) => {}
            }
        }
        collector.end_address();
    }
    Ok(collector.finish())
}

/// Stubs under the names that perf gives them: `memcpy@plt`.
fn plt_of(binary: &Elf) -> Vec<PltEntry> {
    let mut entries = binary.plt_entries();
    for entry in &mut entries {
        entry.function = format!("{}@plt", demangle(&entry.function)).into_bytes();
    }
    entries
}

/// The symbols that perf would take, and the stubs of the procedure linkage table.
fn table_of<'e>(elf: &'e Elf, plt: &'e [PltEntry]) -> Table<'e> {
    let stubs = plt.iter().map(|stub| Entry {
        start: stub.address.0,
        end: stub.address.0.saturating_add(stub.size),
        has_size: true,
        name: &stub.function,
        binding: STB_GLOBAL,
        in_module: false,
    });
    let mut entries: Vec<Entry<'e>> = stubs.collect();
    // A damaged table names what came before the damage.
    let _ = elf.for_each_symbol(|symbol| {
        let is_label = symbol.kind == STT_NOTYPE
            && symbol.in_code
            && !matches!(symbol.visibility, STV_INTERNAL | STV_HIDDEN);
        if matches!(symbol.kind, STT_FUNC | STT_OBJECT | STT_GNU_IFUNC) || is_label {
            entries.push(Entry {
                start: symbol.address.0,
                end: match symbol.size {
                    0 => symbol.section_end.0,
                    size => symbol.address.0.saturating_add(size),
                },
                has_size: symbol.size != 0,
                name: symbol.name,
                binding: symbol.binding,
                in_module: false,
            });
        }
    });
    Table::new(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_images::{Locator, Recorded};
    use std::os::unix::ffi::OsStrExt;

    #[inline(never)]
    fn a_function_to_be_found() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn our_own_code_is_named() {
        assert_eq!(a_function_to_be_found(), 7);
        let exe = std::env::current_exe().unwrap();
        let located = Locator::default()
            .locate(Recorded {
                path: exe.as_os_str().as_bytes(),
                build_id: None,
                inode: None,
            })
            .unwrap();
        let mut address = None;
        located
            .symbols()
            .for_each_symbol(|symbol| {
                if symbol
                    .name
                    .windows(22)
                    .any(|part| part == b"a_function_to_be_found")
                    && symbol.in_code
                {
                    address = Some(symbol.address);
                }
            })
            .unwrap();
        let offset = located.binary.file_offset(address.unwrap()).unwrap();
        for detail in [Detail::Functions, Detail::Inlines] {
            let answers =
                symbolize_user(&located, &[offset, FileOffset(u64::MAX)], detail).unwrap();
            let frames = answers.frames(0);
            let name = answers.name(frames.last().unwrap().name);
            assert!(name.ends_with("tests::a_function_to_be_found"), "{name}");
            assert!(answers.frames(1).is_empty());
        }
    }
}
