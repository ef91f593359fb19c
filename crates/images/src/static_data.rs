//! Where static data of a file is: also what is zero at the start (`.bss`), which the file does not hold.

use crate::segments::InMemory;
use crate::{Elf, Segment};
use rprof_base::{DataMapping, DataPlace, Svma};

/// The static data of a file.
#[derive(Debug)]
pub struct StaticData(Vec<InMemory>);

/// The largest pages that a file is mapped by, bytes: mappings begin with a page.
const MAX_PAGE: u64 = 1 << 16;

impl Elf {
    /// Where its static data is.
    pub fn static_data(&self) -> StaticData {
        StaticData(
            self.headers()
                .map_or_else(|_| Vec::new(), |headers| headers.in_memory()),
        )
    }
}

impl StaticData {
    /// The address of a place; `None` if it is not in data that can be written to, or if something else is mapped there.
    pub fn svma(&self, place: DataPlace) -> Option<Svma> {
        let may_be_mapped = |one: &&InMemory| {
            let Segment {
                offset, file_size, ..
            } = one.segment;
            let end = offset.0.saturating_add(file_size);
            one.is_code && place.code.0.saturating_add(MAX_PAGE) > offset.0 && place.code.0 < end
        };
        let code = self.0.iter().filter(may_be_mapped);
        let mut found = code.filter_map(|code| {
            let Segment {
                offset, address, ..
            } = code.segment;
            let start = address.0.wrapping_sub(offset.0).wrapping_add(place.code.0);
            let svma = start.wrapping_add(place.distance);
            self.has(svma, place.mapped).then_some(Svma(svma))
        });
        let first = found.next()?;
        // Code of several segments may be mapped from there: the address is known if it is that of all.
        found.all(|other| other == first).then_some(first)
    }

    /// Whether there is data at an address that is mapped so.
    fn has(&self, svma: u64, mapped: DataMapping) -> bool {
        self.0.iter().filter(|one| one.is_writable).any(|data| {
            let into = svma.checked_sub(data.segment.address.0);
            let Some(into) = into.filter(|&into| into < data.size) else {
                return false;
            };
            match mapped {
                // The last page of a file's mapping also holds the beginning of what is zero.
                DataMapping::File(offset) => offset.0 == data.segment.offset.0.wrapping_add(into),
                DataMapping::Memory => into >= data.segment.file_size,
                DataMapping::Unknown => true,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_base::FileOffset;

    fn segment(offset: u64, sizes: (u64, u64), address: u64, flags: &str) -> InMemory {
        InMemory {
            segment: Segment {
                offset: FileOffset(offset),
                file_size: sizes.0,
                address: Svma(address),
            },
            size: sizes.1,
            is_code: flags.contains('x'),
            is_writable: flags.contains('w'),
        }
    }

    /// As GNU ld lays out a program: data is one page further in memory than in the file.
    fn program(base: u64) -> StaticData {
        StaticData(vec![
            segment(0, (0x600, 0x600), base, "r"),
            segment(0x1000, (0x200, 0x200), base + 0x1000, "rx"),
            segment(0x2000, (0x100, 0x100), base + 0x2000, "r"),
            segment(0x2e00, (0x240, 0x3000), base + 0x3e00, "rw"),
        ])
    }

    fn place(distance: u64, mapped: DataMapping) -> DataPlace {
        DataPlace {
            code: FileOffset(0x1000),
            distance,
            mapped,
        }
    }

    #[test]
    fn data_is_as_far_from_code_as_the_file_says() {
        for base in [0, 0x40_0000] {
            let data = program(base);
            // .data, and what is zero at the start: on the last page of the file, then behind it.
            for (svma, mapped) in [
                (0x3e00, DataMapping::File(FileOffset(0x2e00))),
                (0x4010, DataMapping::File(FileOffset(0x3010))),
                (0x4040, DataMapping::File(FileOffset(0x3040))),
                (0x5000, DataMapping::Memory),
                (0x6dff, DataMapping::Memory),
                (0x4010, DataMapping::Unknown),
                (0x6dff, DataMapping::Unknown),
            ] {
                let found = data.svma(place(svma - 0x1000, mapped));
                assert_eq!(found, Some(Svma(base + svma)), "{base:#x} {mapped:?}");
            }
        }
    }

    #[test]
    fn what_is_elsewhere_is_no_data() {
        let data = program(0);
        for (svma, mapped) in [
            // Behind all of it, between segments, in code and in constants.
            (0x6e00, DataMapping::Memory),
            (0x6e00, DataMapping::Unknown),
            (0x3dff, DataMapping::Unknown),
            (0x1100, DataMapping::File(FileOffset(0x1100))),
            (0x2010, DataMapping::Unknown),
            // Other parts of the file, mapped here; memory where the file should be.
            (0x4010, DataMapping::File(FileOffset(0x4010))),
            (0x4010, DataMapping::Memory),
        ] {
            let distance = u64::wrapping_sub(svma, 0x1000);
            assert_eq!(data.svma(place(distance, mapped)), None, "{svma:#x}");
        }
        // Code that the file does not have.
        let elsewhere = DataPlace {
            code: FileOffset(0x8_0000),
            ..place(0x4000, DataMapping::Memory)
        };
        assert_eq!(data.svma(elsewhere), None);
        assert_eq!(data.svma(place(u64::MAX, DataMapping::Memory)), None);
    }

    #[test]
    fn code_of_two_segments_on_one_page_says_nothing_if_they_differ() {
        let code = |address| segment(0x1000, (0x100, 0x100), address, "x");
        let data = segment(0x2000, (0, 0x8000), 0x10_0000, "w");
        let zero = place(0xf_f000 + 0x10, DataMapping::Memory);
        let alike = StaticData(vec![code(0x1000), code(0x1000), data]);
        assert_eq!(alike.svma(zero), Some(Svma(0x10_0010)));
        let differ = StaticData(vec![code(0x1000), code(0x2000), data]);
        assert_eq!(differ.svma(zero), None);
    }

    #[test]
    fn our_own_zeroes_are_found() {
        static ZERO: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &rprof_untrusted::Budget::default()).unwrap();
        let address = std::ptr::from_ref(&ZERO).addr() as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let code = maps.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let (range, rights, offset) = (words.next()?, words.next()?, words.next()?);
            let is_own = line.ends_with(path.to_str()?) && rights.contains('x');
            let hex = |text| u64::from_str_radix(text, 16).ok();
            let start = hex(range.split('-').next()?)?;
            is_own.then_some((start, hex(offset)?))
        });
        let (start, offset) = code.unwrap();
        let found = elf.static_data().svma(DataPlace {
            code: FileOffset(offset),
            distance: address - start,
            mapped: DataMapping::Unknown,
        });
        let mut own = Vec::new();
        elf.for_each_symbol(crate::SymbolTable::Static, |symbol| {
            if symbol.name.windows(4).any(|part| part == b"ZERO") && symbol.size == 8 {
                own.push(symbol.address);
            }
        })
        .unwrap();
        assert!(own.contains(&found.unwrap()), "{found:?}: {own:?}");
    }
}
