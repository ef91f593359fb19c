//! SYMBOLS, rprof's own: what the addresses are called that samples hit, so that the file has its
//! names with it wherever it is opened.
//!
//! All numbers but the first are LEB128, as DWARF has them: seven bits a byte, lowest first.
//!
//! ```text
//! u32 version (1)
//! number of strings, for each:  length   bytes
//! number of frames, for each:   caller + 1 (0: none)   name   file + 1 (0: no line)   line, if so
//! number of images, for each:   path   length of build id   its bytes   inode + 1 (0: not known)
//!                               its device + 1 (0: not known)   where it was + 1 (0: not known)
//!                               reason + 1 (0: none)   number of addresses, for each:
//!                                   from the one before   frame + 1 (0: no name)
//!                                   if so: start, from the one before   bytes from there
//!                               number of pieces, for each:
//!                                   time + 1 (0: not known)   start   bytes   place
//! ```
//!
//! Frames are a forest: a frame's caller is the function that it was inlined into, and comes
//! before it. Names, files, paths and reasons are numbers of strings. Addresses of an image grow;
//! starts may go back, and are written as `2 * n` forwards or `2 * n - 1` backwards. Pieces are those
//! of a log of code that was compiled at run time (`jit-PID.dump`).

use super::section::{SectionObject, check_version};
use super::varint::{Numbers, put, put_signed};
use rprof_abi::{Encoder, Endian, Fields, Value, WireError};

/// A frame at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolFrame {
    /// The frame that it was inlined into, by place in [`EmbeddedNames::frames`]; `None` for a function.
    pub caller: Option<u32>,
    /// Its name, by place in [`EmbeddedNames::strings`].
    pub name: u32,
    /// Where in the source: the file, by place in [`EmbeddedNames::strings`], and the line (0: not
    /// known).
    pub line: Option<(u32, u32)>,
}

/// An address of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolAddress {
    /// Offset in the file; of kernel code and of code without a file, the address in memory.
    pub address: u64,
    /// What is there; `None` if it has no name.
    pub name: Option<AddressName>,
}

/// What an address is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressName {
    /// The innermost frame, by place in [`EmbeddedNames::frames`].
    pub frame: u32,
    /// Where the function starts (SVMA; of kernel code and of code without a file, in memory).
    pub start: u64,
    /// Bytes from there to the address.
    pub offset: u64,
}

/// A piece of code that was compiled at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolPiece {
    /// When it was there, by the recording's clock.
    pub time_ns: Option<u64>,
    /// Where it was in memory.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// Where it is in the log: what addresses of the image count from.
    pub offset: u64,
}

/// The addresses of one image.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SymbolImage {
    /// Its path in records, by place in [`EmbeddedNames::strings`].
    pub path: u32,
    /// Its build id; empty if the recording has none of it.
    pub build_id: Vec<u8>,
    /// Its inode, where the recording says that and no build id.
    pub inode: Option<u64>,
    /// Major and minor number of the device of that inode.
    pub device: Option<(u32, u32)>,
    /// Where it was in memory: of a module its start, of a kernel its reference symbol.
    pub avma: Option<u64>,
    /// Why it lacks names, by place in [`EmbeddedNames::strings`].
    pub reason: Option<u32>,
    /// Those that were looked up, in order.
    pub addresses: Vec<SymbolAddress>,
    /// Of a jitdump, the functions that were hit, in the file's order.
    pub pieces: Vec<SymbolPiece>,
}

/// Names of the addresses that samples hit.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct EmbeddedNames {
    /// Names, files, paths and reasons; names as they are shown.
    pub strings: Vec<Vec<u8>>,
    /// Frames; each comes after its caller.
    pub frames: Vec<SymbolFrame>,
    /// Images.
    pub images: Vec<SymbolImage>,
}

const VERSION: u32 = 1;

impl EmbeddedNames {
    /// Frames at one address, at most. A few bytes of a damaged file must not become a million
    /// frames.
    pub const MAX_DEPTH: usize = 128;

    /// Appends the section. Addresses must be sorted, and frames after their callers.
    pub fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(VERSION);
        put(encoder, self.strings.len() as u64);
        for text in &self.strings {
            put_bytes(encoder, text);
        }
        put(encoder, self.frames.len() as u64);
        for frame in &self.frames {
            put_option(encoder, frame.caller);
            put(encoder, frame.name.into());
            put_option(encoder, frame.line.map(|(file, _)| file));
            if let Some((_, line)) = frame.line {
                put(encoder, line.into());
            }
        }
        put(encoder, self.images.len() as u64);
        for image in &self.images {
            image.encode(encoder);
        }
    }

    /// A string; empty for a number of none.
    pub fn string(&self, number: u32) -> &[u8] {
        self.strings.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// The frames from this one outwards.
    pub fn chain(&self, innermost: u32) -> impl Iterator<Item = &SymbolFrame> {
        let frame = |number: u32| self.frames.get(number as usize);
        std::iter::successors(frame(innermost), move |one| frame(one.caller?))
    }
}

impl SectionObject for EmbeddedNames {
    /// Reads the section: every number in it points to something that is there, and chains of
    /// callers end.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let (version, mut numbers) = Numbers::after_version(section, endian)?;
        check_version(version, VERSION, "version of symbols")?;
        let n_strings = numbers.next("number of strings")?;
        let mut strings = Vec::new();
        for _ in 0..n_strings {
            strings.push(numbers.bytes("string")?.to_vec());
        }
        let frames = parse_frames(&mut numbers, strings.len())?;
        let n_images = numbers.next("number of images")?;
        let mut images = Vec::new();
        for _ in 0..n_images {
            images.push(SymbolImage::parse(
                &mut numbers,
                strings.len(),
                frames.len(),
            )?);
        }
        Ok(Self {
            strings,
            frames,
            images,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("n_strings", Value::Unsigned(self.strings.len() as u64));
        fields.field("n_frames", Value::Unsigned(self.frames.len() as u64));
        fields.objects("images", &self.images, |fields, image| {
            let named = image.addresses.iter();
            let named = named.filter(|one| one.name.is_some()).count();
            fields.field("path", Value::Text(self.string(image.path)));
            if !image.build_id.is_empty() {
                fields.field("build_id", Value::Bytes(&image.build_id));
            }
            fields.if_some("inode", image.inode, Value::Unsigned);
            fields.if_some("avma", image.avma, Value::Hex);
            fields.field("addresses", Value::Unsigned(image.addresses.len() as u64));
            fields.field("named", Value::Unsigned(named as u64));
            if let Some(reason) = image.reason {
                fields.field("reason", Value::Text(self.string(reason)));
            }
        });
    }
}

fn parse_frames(
    numbers: &mut Numbers<'_>,
    n_strings: usize,
) -> Result<Vec<SymbolFrame>, WireError> {
    let n_frames = numbers.next("number of frames")?;
    let mut frames = Vec::new();
    let mut depths: Vec<u8> = Vec::new();
    for _ in 0..n_frames {
        let caller = numbers.optional("caller", frames.len())?;
        let depth = match caller {
            None => 1,
            Some(caller) => depths.get(caller as usize).map_or(1, |depth| depth + 1),
        };
        if usize::from(depth) > EmbeddedNames::MAX_DEPTH {
            return Err(WireError::BadValue {
                what: "depth of inlined functions",
                value: depth.into(),
            });
        }
        let name = numbers.below("name", n_strings)?;
        let line = match numbers.optional("source file", n_strings)? {
            Some(file) => Some((file, numbers.below("line", u32::MAX as usize)?)),
            None => None,
        };
        frames.push(SymbolFrame { caller, name, line });
        depths.push(depth);
    }
    Ok(frames)
}

impl SymbolImage {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        put(encoder, self.path.into());
        put_bytes(encoder, &self.build_id);
        put(
            encoder,
            self.inode.map_or(0, |inode| inode.saturating_add(1)),
        );
        let device = self.device.map(|(major, minor)| {
            let both = u64::from(major) << 32 | u64::from(minor);
            both.saturating_add(1)
        });
        put(encoder, device.unwrap_or(0));
        put(encoder, self.avma.map_or(0, |avma| avma.saturating_add(1)));
        put_option(encoder, self.reason);
        put(encoder, self.addresses.len() as u64);
        let (mut address, mut start) = (0u64, 0u64);
        for one in &self.addresses {
            put(encoder, one.address.wrapping_sub(address));
            address = one.address;
            put_option(encoder, one.name.map(|name| name.frame));
            if let Some(name) = one.name {
                put_signed(encoder, name.start.wrapping_sub(start).cast_signed());
                put(encoder, name.offset);
                start = name.start;
            }
        }
        put(encoder, self.pieces.len() as u64);
        for piece in &self.pieces {
            put(
                encoder,
                piece.time_ns.map_or(0, |time| time.saturating_add(1)),
            );
            put(encoder, piece.start);
            put(encoder, piece.len);
            put(encoder, piece.offset);
        }
    }

    fn parse(
        numbers: &mut Numbers<'_>,
        n_strings: usize,
        n_frames: usize,
    ) -> Result<Self, WireError> {
        let mut image = Self {
            path: numbers.below("path", n_strings)?,
            build_id: numbers.bytes("build id")?.to_vec(),
            inode: numbers.next("inode")?.checked_sub(1),
            device: numbers.next("device")?.checked_sub(1).map(device),
            avma: numbers.next("place in memory")?.checked_sub(1),
            reason: numbers.optional("reason", n_strings)?,
            addresses: Vec::new(),
            pieces: Vec::new(),
        };
        let n_addresses = numbers.next("number of addresses")?;
        let (mut address, mut start) = (0u64, 0u64);
        for _ in 0..n_addresses {
            let step = numbers.next("address")?;
            address = address.checked_add(step).ok_or(WireError::BadValue {
                what: "step to an address",
                value: step,
            })?;
            let frame = numbers.optional("frame", n_frames)?;
            let mut name = None;
            if let Some(frame) = frame {
                start = start.wrapping_add_signed(numbers.signed("start")?);
                let offset = numbers.next("offset")?;
                name = Some(AddressName {
                    frame,
                    start,
                    offset,
                });
            }
            image.addresses.push(SymbolAddress { address, name });
        }
        let n_pieces = numbers.next("number of pieces")?;
        for _ in 0..n_pieces {
            image.pieces.push(SymbolPiece {
                time_ns: numbers.next("time")?.checked_sub(1),
                start: numbers.next("start")?,
                len: numbers.next("length")?,
                offset: numbers.next("place")?,
            });
        }
        Ok(image)
    }
}

/// Major and minor number.
#[expect(clippy::cast_possible_truncation, reason = "its halves")]
fn device(both: u64) -> (u32, u32) {
    ((both >> 32) as u32, both as u32)
}

fn put_bytes(encoder: &mut Encoder<'_>, bytes: &[u8]) {
    put(encoder, bytes.len() as u64);
    encoder.bytes(bytes);
}

fn put_option(encoder: &mut Encoder<'_>, number: Option<u32>) {
    put(encoder, number.map_or(0, |number| u64::from(number) + 1));
}

#[cfg(test)]
mod tests;
