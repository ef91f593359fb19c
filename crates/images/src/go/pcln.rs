//! The table itself: bytes to functions, names and lines. Each offset in it may be wrong.

use crate::SectionBytes;
use std::ops::Range;

/// Where the address of the program's first code is, from 1.18 on.
pub(super) const TEXT_START: u64 = 24;

/// `FUNCDATA_InlTree` and `PCDATA_InlTreeIndex`.
const INLINE_TREE: usize = 3;
const INLINE_INDEX: usize = 2;

/// Whose layout it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Go1_16,
    Go1_18,
    Go1_20,
}

/// The parts of the table.
#[derive(Debug)]
pub(super) struct Pcln {
    bytes: SectionBytes,
    layout: Layout,
    /// Bytes of code that a step of an address counts for.
    quantum: u64,
    /// Address of the first function, from which others count; 0 where they do not.
    text: u64,
    n_functions: usize,
    names: usize,
    units: usize,
    files: usize,
    tables: usize,
    functions: usize,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) start: u64,
    pub(super) name: u32,
    /// Where it is described.
    at: usize,
}

/// An inlined call.
#[derive(Clone, Copy, Debug)]
pub(super) struct InlinedCall {
    pub(super) name: u32,
    /// Where it was in what it was inlined into, from the function's start.
    pub(super) parent_pc: u32,
}

impl Pcln {
    /// `text` says where code begins, if the table leaves it to the loader.
    pub(super) fn parse(bytes: SectionBytes, text: impl FnOnce() -> Option<u64>) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let layout = match u32::from_le_bytes(*magic) {
            0xffff_fffa => Layout::Go1_16,
            0xffff_fff0 => Layout::Go1_18,
            0xffff_fff1 => Layout::Go1_20,
            _ => return None,
        };
        let &[0, 0, quantum @ 1..=8, 8] = rest.first_chunk()? else {
            return None;
        };
        let word = |idx: usize| {
            let word = bytes.get(8 + 8 * idx..)?.first_chunk()?;
            usize::try_from(u64::from_le_bytes(*word)).ok()
        };
        let (text, first) = match layout {
            Layout::Go1_16 => (0, 2),
            _ => (text()?, 3),
        };
        let table = Self {
            layout,
            quantum: quantum.into(),
            text,
            n_functions: word(0)?,
            names: word(first)?,
            units: word(first + 1)?,
            files: word(first + 2)?,
            tables: word(first + 3)?,
            functions: word(first + 4)?,
            bytes,
        };
        // One more than there are functions: where the last one ends.
        let len = table
            .n_functions
            .checked_add(1)?
            .checked_mul(table.stride())?;
        let end = table.functions.checked_add(len)?;
        (table.n_functions > 0 && end <= table.bytes.len() + table.stride() / 2).then_some(table)
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn text(&self) -> u64 {
        self.text
    }

    /// Whether trees of inlined calls are given by where they are among functions' data.
    pub(super) fn has_trees_by_offset(&self) -> bool {
        self.layout != Layout::Go1_16
    }

    /// Bytes of an entry in the list of functions: address and offset.
    fn stride(&self) -> usize {
        match self.layout {
            Layout::Go1_16 => 16,
            _ => 8,
        }
    }

    fn u32_at(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Half an entry of the list of functions.
    fn listed(&self, at: usize) -> Option<u64> {
        match self.layout {
            Layout::Go1_16 => {
                let bytes = self.bytes.get(at..)?.first_chunk()?;
                Some(u64::from_le_bytes(*bytes))
            }
            _ => self.u32_at(at).map(u64::from),
        }
    }

    /// Where a function begins, or the last one ends.
    fn start(&self, idx: usize) -> Option<u64> {
        let at = self
            .functions
            .checked_add(idx.checked_mul(self.stride())?)?;
        self.text.checked_add(self.listed(at)?)
    }

    /// The function that an address is in.
    pub(super) fn function(&self, address: u64) -> Option<Function> {
        if address < self.start(0)? || address >= self.start(self.n_functions)? {
            return None;
        }
        // The last one that begins at or before the address.
        let (mut low, mut high) = (0, self.n_functions);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.start(middle)? <= address {
                low = middle
            } else {
                high = middle
            }
        }
        let start = self.start(low)?;
        let entry = self.functions.checked_add(low * self.stride())?;
        let offset = self.listed(entry + self.stride() / 2)?;
        let at = self.functions.checked_add(usize::try_from(offset).ok()?)?;
        // It says itself where it begins: if that is elsewhere, the table is not what it seems.
        let (own, len) = match self.layout {
            Layout::Go1_16 => (self.listed(at)?, 8),
            _ => (self.text.checked_add(self.u32_at(at)?.into())?, 4),
        };
        let at = at.checked_add(len)?;
        let is_in = own == start && start <= address;
        let name = self.u32_at(at)?;
        is_in.then_some(Function { start, name, at })
    }

    /// All functions: names by their offsets, and where they are.
    pub(super) fn functions(&self) -> impl Iterator<Item = (u32, Range<u64>)> {
        (0..self.n_functions).filter_map(|idx| {
            let start = self.start(idx)?;
            let function = self.function(start)?;
            Some((function.name, start..self.start(idx + 1)?))
        })
    }

    /// How far the stack pointer is below where it was when the function was called.
    pub(super) fn frame_size(&self, function: &Function, address: u64) -> Option<i64> {
        self.value(self.field(function, 3)?, function.start, address)
    }

    /// A field of a function's description, counted from its name.
    fn field(&self, function: &Function, idx: usize) -> Option<u32> {
        self.u32_at(function.at.checked_add(4 * idx)?)
    }

    fn text_at(&self, table: usize, offset: u32) -> Option<&[u8]> {
        let at = table.checked_add(usize::try_from(offset).ok()?)?;
        let rest = self.bytes.get(at..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        rest.get(..end).filter(|text| !text.is_empty())
    }

    /// A name by its offset.
    pub(super) fn name(&self, offset: u32) -> Option<&[u8]> {
        self.text_at(self.names, offset)
    }

    /// File and line of an address in a function.
    pub(super) fn line(&self, function: &Function, address: u64) -> Option<(&[u8], u32)> {
        let file = self.value(self.field(function, 4)?, function.start, address)?;
        let line = self.value(self.field(function, 5)?, function.start, address)?;
        let unit = self.field(function, 7)?;
        let idx = unit.checked_add(u32::try_from(file).ok()?)?;
        let at = self
            .units
            .checked_add(usize::try_from(idx).ok()?.checked_mul(4)?)?;
        let file = self.text_at(self.files, self.u32_at(at)?)?;
        Some((file, u32::try_from(line).ok()?))
    }

    /// The tree of inlined calls of a function, and which of them an address is in.
    pub(super) fn inlined(&self, function: &Function, address: u64) -> Option<(u32, u32)> {
        let n_tables = usize::try_from(self.field(function, 6)?).ok()?;
        // The function's kind, flags and number of data follow; from 1.20 on a line before them.
        let counts = match self.layout {
            Layout::Go1_20 => 9,
            _ => 8,
        };
        let n_data = self.field(function, counts)? >> 24;
        if n_tables <= INLINE_INDEX || n_data as usize <= INLINE_TREE {
            return None;
        }
        let table = self.field(function, counts + 1 + INLINE_INDEX)?;
        let tree = self.field(function, counts + 1 + n_tables.checked_add(INLINE_TREE)?)?;
        let idx = self.value(table, function.start, address)?;
        Some((tree, u32::try_from(idx).ok()?))
    }

    /// Where a tree is, if there is one.
    pub(super) fn tree_address(&self, tree: u32, gofunc: u64) -> Option<u64> {
        match (self.layout, tree) {
            (Layout::Go1_16, _) | (_, u32::MAX) => None,
            (_, offset) => gofunc.checked_add(offset.into()),
        }
    }

    /// A call of a tree.
    pub(super) fn call(&self, tree: &[u8], idx: u32) -> Option<InlinedCall> {
        let (len, name, parent) = match self.layout {
            Layout::Go1_20 => (16, 4, 8),
            _ => (20, 12, 16),
        };
        let at = usize::try_from(idx).ok()?.checked_mul(len)?;
        let word = |field: usize| {
            let bytes = tree.get(at.checked_add(field)?..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        Some(InlinedCall {
            name: word(name)?,
            parent_pc: word(parent)?,
        })
    }

    /// What a table of changes says of an address; nothing where that is negative.
    fn value(&self, table: u32, start: u64, address: u64) -> Option<i64> {
        // 0 stands for no table.
        let offset = usize::try_from(table).ok().filter(|&offset| offset != 0)?;
        let mut bytes = self.bytes.get(self.tables.checked_add(offset)?..)?;
        let (mut value, mut at, mut is_first) = (-1i64, start, true);
        loop {
            let change = varint(&mut bytes)?;
            if change == 0 && !is_first {
                return None;
            }
            is_first = false;
            let change = i64::from(change >> 1) ^ -i64::from(change & 1);
            value = value.checked_add(change)?;
            let step = u64::from(varint(&mut bytes)?) * self.quantum;
            at = at.checked_add(step)?;
            if address < at {
                return (value >= 0).then_some(value);
            }
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
mod tests;
