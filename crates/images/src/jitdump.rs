//! `jit-PID.dump`: a log of the code that a compiler at run time made, with the code itself, its
//! names and lines, and when it was made.
//!
//! A file goes in, records come out in the file's order. It may be large and may be written while
//! it is read: it is read in windows, code is not read at all, and the end is where the last whole
//! record ended when the file was opened. Either byte order.
//!
//! Source: tools/perf/Documentation/jitdump-specification.txt (v6.1).

use crate::source::Source;
use crate::{Avma, FileOffset};
use rprof_untrusted::Budget;
use std::io;
use std::path::Path;

/// A file is no such log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JitDumpError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not begin as one.
    #[error("not a jitdump file")]
    NotJitDump,
}

/// What could not be used of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitDamage {
    /// Records that make no sense, or are of unknown kinds.
    pub n_bad: u64,
    /// Where a record begins that is not whole, or leads nowhere: nothing is read from there on.
    pub cut_at: Option<u64>,
}

/// Such a log, open.
#[derive(Debug)]
pub struct JitDump {
    source: Source,
    budget: Budget,
    len: u64,
    window: Vec<u8>,
    /// Where the window begins in the file.
    window_at: u64,
    is_big_endian: bool,
    records_at: u64,
    next_at: u64,
    damage: JitDamage,
    /// The process, by its own count.
    pub pid: u32,
    /// Whether times are of a CPU's counter, not of `CLOCK_MONOTONIC`.
    pub has_arch_times: bool,
}

/// What records say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JitRecord {
    /// Code was made.
    Load(JitLoad),
    /// Code was moved.
    Move(JitMove),
    /// Lines of the code that is loaded next.
    Lines(JitLines),
}

/// `JIT_CODE_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLoad {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// Address of the code.
    pub start: Avma,
    /// Its bytes.
    pub len: u64,
    /// A number of its own.
    pub index: u64,
    /// Where the code is in this file: no two have the same place, so it stands for the function.
    pub code: FileOffset,
    /// Where its name is in this file.
    name_at: u64,
}

/// `JIT_CODE_MOVE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitMove {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// Address that the code has now.
    pub start: Avma,
    /// Its bytes.
    pub len: u64,
    /// The number of the code that was moved.
    pub index: u64,
}

/// `JIT_CODE_DEBUG_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLines {
    /// Address of the function.
    pub start: Avma,
    n_entries: u64,
    entries_at: u64,
    end: u64,
}

/// From an address on, code is of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLine<'a> {
    /// The address.
    pub start: Avma,
    /// Line, from 1.
    pub line: u32,
    /// File; empty where it is the one before.
    pub file: &'a [u8],
}

const MAGIC: u32 = 0x4a69_5444;
const HEADER_LEN: u32 = 40;
const ARCH_TIMESTAMP: u64 = 1;

const PREFIX_LEN: u32 = 16;
const LOAD_LEN: u32 = PREFIX_LEN + 40;
const MOVE_LEN: u32 = PREFIX_LEN + 48;
const LINES_LEN: u32 = PREFIX_LEN + 16;
const LINE_LEN: u64 = 16;

const JIT_CODE_LOAD: u32 = 0;
const JIT_CODE_MOVE: u32 = 1;
const JIT_CODE_DEBUG_INFO: u32 = 2;
const JIT_CODE_CLOSE: u32 = 3;
const JIT_CODE_UNWINDING_INFO: u32 = 4;

/// Bytes read at once.
const WINDOW: usize = 1 << 16;

/// Names are cut here.
const MAX_NAME: u64 = 1 << 14;

impl JitDump {
    /// Opens a log, which must be a regular file. What is read of it is of the budget.
    ///
    /// # Errors
    /// [`JitDumpError`] if it cannot be read or is something else.
    pub fn open(path: &Path, budget: &Budget) -> Result<Self, JitDumpError> {
        let source = Source::open(path)?;
        let len = source.meta().map_or(0, |meta| meta.len);
        let mut dump = Self {
            source,
            budget: budget.clone(),
            len,
            window: Vec::new(),
            window_at: 0,
            is_big_endian: false,
            records_at: 0,
            next_at: 0,
            damage: JitDamage::default(),
            pid: 0,
            has_arch_times: false,
        };
        dump.read_header()?;
        Ok(dump)
    }

    fn read_header(&mut self) -> Result<(), JitDumpError> {
        if self.len < HEADER_LEN.into() {
            return Err(JitDumpError::NotJitDump);
        }
        self.is_big_endian = match self.u32_at(0)? {
            MAGIC => false,
            magic if magic.swap_bytes() == MAGIC => true,
            _ => return Err(JitDumpError::NotJitDump),
        };
        let header_len = self.u32_at(8)?;
        if header_len < HEADER_LEN {
            return Err(JitDumpError::NotJitDump);
        }
        self.pid = self.u32_at(20)?;
        self.has_arch_times = self.u64_at(32)? & ARCH_TIMESTAMP != 0;
        self.records_at = header_len.into();
        self.next_at = self.records_at;
        Ok(())
    }

    /// Inode of the open file.
    pub fn inode(&self) -> Option<u64> {
        self.source.inode()
    }

    /// Goes back to the first record.
    pub fn rewind(&mut self) {
        self.next_at = self.records_at;
        self.damage = JitDamage::default();
    }

    /// What could not be used of the records so far.
    pub fn damage(&self) -> JitDamage {
        self.damage
    }

    /// The next record that says something of code, and `None` at the end. Code without a name or
    /// without its bytes in the file is passed over.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub fn next_record(&mut self) -> io::Result<Option<JitRecord>> {
        loop {
            let at = self.next_at;
            if at >= self.len {
                return Ok(None);
            }
            if self.len - at < PREFIX_LEN.into() {
                return Ok(self.end_at(at));
            }
            let kind = self.u32_at(at)?;
            let len = self.u32_at(at + 4)?;
            let end = at + u64::from(len);
            if kind == JIT_CODE_CLOSE {
                self.next_at = self.len;
                return Ok(None);
            }
            // The last record may be half written. One that is too short leads nowhere.
            if len < PREFIX_LEN || end > self.len {
                return Ok(self.end_at(at));
            }
            self.next_at = end;
            let record = match kind {
                JIT_CODE_UNWINDING_INFO => continue,
                JIT_CODE_LOAD if len > LOAD_LEN && self.u64_at(at + 40)? == 0 => continue,
                JIT_CODE_LOAD if len > LOAD_LEN => self.load(at, end)?,
                JIT_CODE_MOVE if len >= MOVE_LEN => self.moved(at)?,
                JIT_CODE_DEBUG_INFO if len >= LINES_LEN => self.lines(at, end)?,
                _ => None,
            };
            if record.is_some() {
                return Ok(record);
            }
            self.damage.n_bad += 1;
        }
    }

    /// Nothing can be read from here on.
    fn end_at(&mut self, at: u64) -> Option<JitRecord> {
        self.damage.cut_at = Some(at);
        self.next_at = self.len;
        None
    }

    fn load(&mut self, at: u64, end: u64) -> io::Result<Option<JitRecord>> {
        let len = self.u64_at(at + 40)?;
        let name_at = at + u64::from(LOAD_LEN);
        // The name has an end of its own.
        let code = end.checked_sub(len).filter(|&code| code > name_at);
        let start = self.u64_at(at + 32)?;
        let (Some(code), Some(_)) = (code, start.checked_add(len)) else {
            return Ok(None);
        };
        if self.bytes(code - 1, 1)? != [0] {
            return Ok(None);
        }
        Ok(Some(JitRecord::Load(JitLoad {
            time_ns: self.u64_at(at + 8)?,
            start: Avma(start),
            len,
            index: self.u64_at(at + 48)?,
            code: FileOffset(code),
            name_at,
        })))
    }

    fn moved(&mut self, at: u64) -> io::Result<Option<JitRecord>> {
        let (start, len) = (self.u64_at(at + 40)?, self.u64_at(at + 48)?);
        if len == 0 || start.checked_add(len).is_none() {
            return Ok(None);
        }
        Ok(Some(JitRecord::Move(JitMove {
            time_ns: self.u64_at(at + 8)?,
            start: Avma(start),
            len,
            index: self.u64_at(at + 56)?,
        })))
    }

    fn lines(&mut self, at: u64, end: u64) -> io::Result<Option<JitRecord>> {
        Ok(Some(JitRecord::Lines(JitLines {
            start: Avma(self.u64_at(at + 16)?),
            n_entries: self.u64_at(at + 24)?,
            entries_at: at + u64::from(LINES_LEN),
            end,
        })))
    }

    /// The name of loaded code.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub fn name(&mut self, load: &JitLoad) -> io::Result<&[u8]> {
        self.text_at(load.name_at, load.code.0)
    }

    /// Shows lines in the file's order.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub fn for_each_line(
        &mut self,
        lines: &JitLines,
        mut visit: impl FnMut(JitLine<'_>),
    ) -> io::Result<()> {
        let mut at = lines.entries_at;
        for _ in 0..lines.n_entries {
            if lines.end.saturating_sub(at) <= LINE_LEN {
                break;
            }
            let start = Avma(self.u64_at(at)?);
            let line = self.u32_at(at + 8)?;
            let file = self.text_at(at + LINE_LEN, lines.end)?;
            at += LINE_LEN + file.len() as u64 + 1;
            // tools/perf/util/jitdump.h (v6.1): the file of the entry before.
            let file = if file == b"\xff" { b"" } else { file };
            visit(JitLine { start, line, file });
        }
        Ok(())
    }

    /// A text that a zero ends, before `end`.
    fn text_at(&mut self, at: u64, end: u64) -> io::Result<&[u8]> {
        let len = end.saturating_sub(at).min(MAX_NAME);
        let bytes = self.bytes(at, usize::try_from(len).unwrap_or(0))?;
        let text = bytes.split(|&byte| byte == 0).next();
        Ok(text.unwrap_or_default())
    }

    fn u32_at(&mut self, at: u64) -> io::Result<u32> {
        let bytes = self.array_at(at)?;
        Ok(match self.is_big_endian {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        })
    }

    fn u64_at(&mut self, at: u64) -> io::Result<u64> {
        let bytes = self.array_at(at)?;
        Ok(match self.is_big_endian {
            true => u64::from_be_bytes(bytes),
            false => u64::from_le_bytes(bytes),
        })
    }

    fn array_at<const N: usize>(&mut self, at: u64) -> io::Result<[u8; N]> {
        let bytes = self.bytes(at, N)?;
        let array = bytes.first_chunk().copied();
        array.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }

    /// A part of the file, no longer than a window.
    fn bytes(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = at.saturating_add(len as u64);
        let window_end = self.window_at + self.window.len() as u64;
        if at < self.window_at || end > window_end {
            if end > self.len {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            let ahead = usize::try_from(self.len - at).unwrap_or(WINDOW);
            let ahead = ahead.min(WINDOW);
            self.budget.read(ahead as u64).map_err(io::Error::other)?;
            self.window.resize(ahead, 0);
            self.window_at = at;
            if let Err(error) = self.source.read_exact_at(&mut self.window, at) {
                self.window.clear();
                return Err(error);
            }
        }
        let from = usize::try_from(at - self.window_at).unwrap_or(0);
        Ok(self.window.get(from..from + len).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
