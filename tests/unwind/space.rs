//! A process's mappings as the walk asks for them: `/proc/PID/maps`, and a table for each file.

use crate::unwind::gdb::Maps;
use rprof_base::FileOffset;
use rprof_images::Elf;
use rprof_unwind::{AddressSpace, Mapped, UnwindTable};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A file's table, and the file, which knows where in it what is.
#[derive(Debug)]
pub struct Image {
    elf: Elf,
    table: Option<UnwindTable>,
}

impl Image {
    fn new(elf: Elf, debug: Option<&Elf>) -> Rc<Self> {
        let table = UnwindTable::from_elf(&elf, debug).ok();
        Rc::new(Self { elf, table })
    }
}

/// Images opened so far, by path.
#[derive(Debug, Default)]
pub struct Images {
    by_path: HashMap<PathBuf, Option<Rc<Image>>>,
    /// Debug files of programs that have one.
    pub debug_files: HashMap<PathBuf, PathBuf>,
}

impl Images {
    fn open(&mut self, path: &Path) -> Option<Rc<Image>> {
        if let Some(image) = self.by_path.get(path) {
            return image.clone();
        }
        let debug = self.debug_files.get(path);
        let debug = debug.map(|path| Elf::open(path, &rprof_untrusted::Budget::default()).unwrap());
        let elf = Elf::open(path, &rprof_untrusted::Budget::default()).ok();
        let image = elf.map(|elf| Image::new(elf, debug.as_ref()));
        self.by_path.insert(path.to_owned(), image.clone());
        image
    }
}

/// One listing of mappings.
#[derive(Debug)]
pub struct Space {
    number: u32,
    ranges: Vec<Range>,
}

#[derive(Debug)]
struct Range {
    start: u64,
    end: u64,
    offset: u64,
    image: Option<Rc<Image>>,
}

impl Space {
    /// Executable ranges only: what perf's MMAP2 records would say.
    pub fn new(number: u32, maps: &Maps, images: &mut Images) -> Self {
        let ranges = maps.text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let is_code = words.next()?.contains('x');
            let offset = words.next()?;
            let name = words.nth(2).unwrap_or_default();
            let hex = |word| u64::from_str_radix(word, 16).ok();
            let image = match name {
                "[vdso]" => maps.vdso.as_ref().map(|(_, bytes)| {
                    Image::new(
                        Elf::from_memory(bytes.clone(), name, &rprof_untrusted::Budget::default())
                            .unwrap(),
                        None,
                    )
                }),
                _ if name.starts_with('/') => images.open(Path::new(name)),
                _ => None,
            };
            is_code.then_some(Range {
                start: hex(start)?,
                end: hex(end)?,
                offset: hex(offset)?,
                image,
            })
        });
        Self {
            number,
            ranges: ranges.collect(),
        }
    }
}

impl AddressSpace for Space {
    fn number(&self) -> u32 {
        self.number
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let holds = |range: &Range| (range.start..range.end).contains(&avma);
        let Some(at) = self.ranges.iter().position(holds) else {
            return Mapped::Nothing;
        };
        let (range, number) = (&self.ranges[at], u32::try_from(at).unwrap());
        let of_code = |is_file| Mapped::Code {
            image: number,
            is_file,
        };
        let Some(image) = &range.image else {
            return of_code(false);
        };
        let offset = FileOffset(avma - range.start + range.offset);
        match (&image.table, image.elf.svma(offset)) {
            (Some(table), Some(svma)) => Mapped::Image {
                image: number,
                table,
                bias: avma.wrapping_sub(svma.0),
            },
            _ => of_code(true),
        }
    }
}
