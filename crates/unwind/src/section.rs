//! One section of descriptions: which function is where in it, and its rows.

use crate::RegisterSet;
use crate::arch::Arch;
use crate::dwarf_evaluation::{Caller, Frame, StepError};
use crate::gimli_types::{Bytes, Scratch};
use crate::rule::{Kind, Rule};
use crate::stack::Stack;
use gimli::{BaseAddresses, DebugFrame, EhFrame, EndianSlice, LittleEndian, UnwindSection, Vendor};
use rprof_base::Svma;
use rprof_images::{FrameEncoding, FrameSection, cie_of};

/// One section of descriptions, of a machine.
#[derive(Debug)]
pub(crate) struct Section {
    /// Whose instructions it may use.
    vendor: Vendor,
    pub(crate) frames: FrameSection,
}

/// A function with more rows is damaged.
const MAX_ROWS: usize = 1 << 16;

/// Bytes of code between two descriptions that are a part of the function before.
const MAX_GAP: u32 = 32;

impl Section {
    pub(crate) fn new<A: Arch>(frames: FrameSection) -> Self {
        Self {
            vendor: A::VENDOR,
            frames,
        }
    }

    /// The `.eh_frame` of a piece of code at address 0, if there are functions in it. Its pointers mean what they
    /// would in the file that perf makes of the piece: after the code, at the next multiple of 8 (`jit_write_elf`
    /// in tools/perf/util/genelf.c, v6.1).
    pub(crate) fn from_piece<A: Arch>(code_len: u64, mut bytes: Vec<u8>) -> Option<Self> {
        drop_empty_lsda(&mut bytes);
        let start = code_len.checked_next_multiple_of(8)?;
        let bases = BaseAddresses::default().set_eh_frame(start).set_text(0);
        let frames = FrameSection::eh_frame(bytes.into(), bases, FrameEncoding::LITTLE_64);
        Some(Self::new::<A>(frames.indexed(None, Svma(0))?))
    }

    /// Where the function at an address begins, from the image's start.
    pub(crate) fn function(&self, at: u32) -> Option<u32> {
        let (_, entry) = self.frames.index.find(at)?;
        Some(entry.start)
    }

    /// The rows of the function that an address is in: where each begins, and a last one where
    /// nothing is said any more.
    pub(crate) fn rows<A: Arch>(
        &self,
        base: u64,
        at: u32,
        scratch: &mut Scratch,
    ) -> Vec<(u32, Rule)> {
        if self.frames.is_eh_frame {
            rows_in::<A, _>(self, &self.eh_frame(), base, at, scratch)
        } else {
            rows_in::<A, _>(self, &self.debug_frame(), base, at, scratch)
        }
    }

    /// Whether an address is in a short stretch between two descriptions.
    pub(crate) fn is_gap(&self, base: u64, at: u32) -> bool {
        let Some((function, entry)) = self.frames.index.find(at) else {
            return false;
        };
        let end = self.frames.range(entry.offset as usize);
        let end = end.and_then(|range| u32::try_from(range.end.0.checked_sub(base)?).ok());
        let next = self.frames.index.next_start(function);
        let (Some(end), Some(next)) = (end, next) else {
            return false;
        };
        end <= at && next.saturating_sub(end) <= MAX_GAP
    }

    pub(crate) fn step<A: Arch>(
        &self,
        at: u32,
        address: Svma,
        registers: &RegisterSet,
        stack: &Stack<'_>,
        scratch: &mut Scratch,
    ) -> Result<Caller, StepError> {
        let (_, entry) = self.frames.index.find(at).ok_or(StepError::Bad)?;
        let (entry, bases) = (entry.offset as usize, &self.frames.bases);
        let frame = Frame {
            bytes: self.bytes(),
            address,
            registers,
            stack,
        };
        if self.frames.is_eh_frame {
            frame.step::<A, _>(&self.eh_frame(), bases, entry.into(), scratch)
        } else {
            frame.step::<A, _>(&self.debug_frame(), bases, entry.into(), scratch)
        }
    }

    fn bytes(&self) -> Bytes<'_> {
        EndianSlice::new(&self.frames.bytes, LittleEndian)
    }

    fn eh_frame(&self) -> EhFrame<Bytes<'_>> {
        let mut section = EhFrame::new(&self.frames.bytes, LittleEndian);
        section.set_address_size(8);
        section.set_vendor(self.vendor);
        section
    }

    fn debug_frame(&self) -> DebugFrame<Bytes<'_>> {
        let mut section = DebugFrame::new(&self.frames.bytes, LittleEndian);
        section.set_address_size(8);
        section.set_vendor(self.vendor);
        section
    }
}

fn rows_in<'a, A, S>(
    own: &'a Section,
    section: &S,
    base: u64,
    at: u32,
    scratch: &mut Scratch,
) -> Vec<(u32, Rule)>
where
    A: Arch,
    S: UnwindSection<Bytes<'a>>,
{
    let mut rows = Vec::new();
    let Some((_, entry)) = own.frames.index.find(at) else {
        return rows;
    };
    let relative = |address: u64| u32::try_from(address.wrapping_sub(base)).ok();
    let bases = &own.frames.bases;
    let fde = section.fde_from_offset(bases, (entry.offset as usize).into(), cie_of(own.bytes()));
    let bad = |start| (start, Rule::of(Kind::Bad));
    let Ok(fde) = fde else {
        return vec![bad(entry.start)];
    };
    let needs_evaluation = fde.is_signal_trampoline()
        || fde.cie().return_address_register() != gimli::Register(A::RETURN);
    let end = relative(fde.end_address());
    let Ok(mut table) = fde.rows(section, bases, scratch) else {
        return vec![bad(entry.start)];
    };
    while rows.len() < MAX_ROWS {
        match table.next_row() {
            Ok(Some(row)) => {
                let rule = if needs_evaluation {
                    Rule::of(Kind::Dwarf)
                } else {
                    Rule::compile::<A>(row)
                };
                // What begins before the function (a description that lies) is not found anyway.
                rows.extend(relative(row.start_address()).map(|start| (start, rule)));
            }
            Ok(None) => break,
            Err(_) => {
                let start = rows.last().map_or(entry.start, |&(start, _)| start);
                rows.push(bad(start));
                break;
            }
        }
    }
    rows.push((end.unwrap_or(u32::MAX), Rule::default()));
    // Rows that go back are damage: what is looked up in them must be sorted.
    if !rows.is_sorted_by_key(|&(start, _)| start) {
        rows = vec![bad(entry.start), (end.unwrap_or(u32::MAX), Rule::default())];
    }
    rows
}

/// V8 announces language-specific data that is left out everywhere (`EhFrameWriter::WriteCie` in
/// src/diagnostics/eh-frame.cc), which gimli expects nevertheless: a first CIE like that does without.
fn drop_empty_lsda(bytes: &mut [u8]) {
    // Behind length, id and version: what there is, three numbers, 2 bytes of data: none, and how addresses are written.
    if let Some(
        [
            b'z',
            b'L',
            b'R',
            0,
            a @ ..0x80,
            b @ ..0x80,
            c @ ..0x80,
            2,
            0xff,
            encoding,
        ],
    ) = bytes.get_mut(9..19)
    {
        let cie = [b'z', b'R', 0, *a, *b, *c, 1, *encoding, 0, 0];
        if let Some(old) = bytes.get_mut(9..19) {
            old.copy_from_slice(&cie);
        }
    }
}
