//! Which object an address of data may be in.

use crate::history::{Epoch, History};
use crate::ranges::{Backing, Range, Root};
use crate::{ImageId, ImageKind};
use rprof_base::{Avma, DataMapping, DataPlace, FileOffset};

/// Between code and static data of an object, few other mappings lie.
const MOST_BETWEEN: usize = 16;

/// What a mapping may be of an object whose code lies below it.
enum Part {
    /// Its code.
    Code,
    /// Other parts of a file.
    Data,
    /// Memory that may be an object's.
    Memory,
    /// Something else.
    Other,
}

impl History {
    /// The object whose static data may be at an address: the one whose code is the nearest below it, if only its own
    /// mappings and memory lie between. How far the object reaches, only its file says. Memory behind what is mapped of
    /// a file (`.bss`) is in few recordings, so it need not be known.
    pub fn data_place(&self, epoch: Epoch, avma: Avma) -> Option<(ImageId, DataPlace)> {
        let mut range = self.ranges.last_up_to(epoch.0, avma.0)?;
        let mapped = match self.part(range) {
            _ if avma.0 >= range.end => DataMapping::Unknown,
            Part::Code | Part::Data => {
                DataMapping::File(FileOffset(range.pgoff.wrapping_add(avma.0 - range.start)))
            }
            Part::Memory => DataMapping::Memory,
            Part::Other => return None,
        };
        let mut path: Option<&[u8]> = None;
        for _ in 0..MOST_BETWEEN {
            let part = self.part(range);
            if matches!(part, Part::Code | Part::Data) {
                let own = &*self.images.of(range.image)?.path;
                if path.replace(own).is_some_and(|path| path != own) {
                    return None;
                }
            }
            match part {
                Part::Code => {
                    let place = DataPlace {
                        code: FileOffset(range.pgoff),
                        distance: avma.0 - range.start,
                        mapped,
                    };
                    return Some((range.image, place));
                }
                Part::Data | Part::Memory => range = self.before(epoch.0, range)?,
                Part::Other => return None,
            }
        }
        None
    }

    fn before(&self, root: Root, range: Range) -> Option<Range> {
        self.ranges.last_up_to(root, range.start.checked_sub(1)?)
    }

    fn part(&self, range: Range) -> Part {
        let Some(image) = self.images.of(range.image) else {
            return Part::Other;
        };
        // The kernel calls memory at the end of a program its heap if the heap begins right there.
        let memory: [&[u8]; 3] = [b"//anon", b"[anon", b"[heap]"];
        match range.backing {
            Backing::File if image.is_file() && range.is_code => Part::Code,
            Backing::File if image.is_file() => Part::Data,
            Backing::Memory if !range.is_code && image.kind == ImageKind::User => {
                if memory.iter().any(|name| image.path.starts_with(name)) {
                    Part::Memory
                } else {
                    Part::Other
                }
            }
            _ => Part::Other,
        }
    }
}

#[cfg(test)]
mod tests;
