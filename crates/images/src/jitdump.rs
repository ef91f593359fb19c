//! `jit-PID.dump`: a log of the code that a compiler at run time made, with the code itself, its
//! names and lines, how its frames are left, and when it was made.
//!
//! A file goes in, records come out in the file's order. It may be large and may be written while
//! it is read: it is read in windows, code is not read at all, and the end is where the last whole
//! record ended when the file was opened, or looked at again. Either byte order.
//!
//! Source: tools/perf/Documentation/jitdump-specification.txt (v6.1).

mod record;

use crate::NoFile;
use crate::source::Source;
use rprof_abi::Machine;
use rprof_base::{Avma, FileOffset};
use rprof_untrusted::{Author, Budget};
use std::io;
use std::ops::Range;
use std::path::Path;

pub use record::{JitFrames, JitLine, JitLines, JitLoad, JitMove, JitRecord};

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
    /// Of the code that is loaded next.
    frames: Option<JitFrames>,
    /// `e_machine` of its code; 0 if it does not say.
    machine: u32,
    /// The process, by its own count.
    pub pid: u32,
    /// Whether times are of a CPU's counter, not of `CLOCK_MONOTONIC`.
    pub has_arch_times: bool,
}

const MAGIC: u32 = 0x4a69_5444;
const HEADER_LEN: u32 = 40;
const ARCH_TIMESTAMP: u64 = 1;

const PREFIX_LEN: u32 = 16;
const LOAD_LEN: u32 = PREFIX_LEN + 40;
const MOVE_LEN: u32 = PREFIX_LEN + 48;
const LINES_LEN: u32 = PREFIX_LEN + 16;
const LINE_LEN: u64 = 16;
const FRAMES_LEN: u32 = PREFIX_LEN + 24;

const JIT_CODE_LOAD: u32 = 0;
const JIT_CODE_MOVE: u32 = 1;
const JIT_CODE_DEBUG_INFO: u32 = 2;
const JIT_CODE_CLOSE: u32 = 3;
const JIT_CODE_UNWINDING_INFO: u32 = 4;

/// Bytes read at once.
const WINDOW: usize = 1 << 16;

/// Bytes of `.eh_frame` for one piece of code: that of the largest functions has some thousand.
const MAX_FRAMES: u32 = 1 << 15;

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
            frames: None,
            machine: 0,
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
        self.machine = self.u32_at(12)?;
        self.pid = self.u32_at(20)?;
        self.has_arch_times = self.u64_at(32)? & ARCH_TIMESTAMP != 0;
        self.records_at = header_len.into();
        self.next_at = self.records_at;
        Ok(())
    }

    /// Opens a log that was recorded with this inode.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn open_recorded(path: &Path, inode: Option<u64>, budget: &Budget) -> Result<Self, NoFile> {
        let dump = Self::open(path, budget).map_err(|error| match error {
            JitDumpError::Io(error) if error.kind() == io::ErrorKind::NotFound => NoFile::Missing,
            JitDumpError::Io(error) => NoFile::Unreadable(error.kind()),
            JitDumpError::NotJitDump => NoFile::NotJitDump,
        })?;
        match inode {
            Some(inode) if dump.inode() != Some(inode) => Err(NoFile::Replaced),
            _ => Ok(dump),
        }
    }

    /// User id of the file's owner.
    pub fn owner(&self) -> Option<u32> {
        self.source.meta().map(|meta| meta.owner)
    }

    /// Who may have written it.
    pub fn author(&self) -> Author {
        let meta = self.source.meta();
        meta.map_or(Author::Anybody, |meta| meta.author)
    }

    /// Whether code in it is for this machine, as far as it says (Python 3.13 does not).
    pub fn is_for(&self, machine: Machine) -> bool {
        !self.is_big_endian && [0, machine.elf_number().into()].contains(&self.machine)
    }

    /// Looks how long the file is by now: what came since is read next.
    ///
    /// # Errors
    /// If that cannot be found out, or the file was cut.
    pub fn look_again(&mut self) -> io::Result<()> {
        let len = self.source.len_now()?;
        if len < self.len {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if len > self.len {
            self.len = len;
            // What was not whole may be now.
            self.window.clear();
            if let Some(at) = self.damage.cut_at.take() {
                self.next_at = at;
            }
        }
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
        self.frames = None;
    }

    /// What could not be used of the records so far.
    pub fn damage(&self) -> JitDamage {
        self.damage
    }

    /// The machine that its code is for (`e_machine`); 0 if it does not say.
    pub fn machine_number(&self) -> u32 {
        self.machine
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
                self.next_at = u64::MAX;
                return Ok(None);
            }
            // The last record may be half written. One that is too short leads nowhere.
            if len < PREFIX_LEN || end > self.len {
                return Ok(self.end_at(at));
            }
            self.next_at = end;
            let frames = match kind {
                JIT_CODE_LOAD => self.frames.take(),
                _ => None,
            };
            let record = match kind {
                JIT_CODE_UNWINDING_INFO if self.note_frames(at, end)? => continue,
                JIT_CODE_LOAD if len > LOAD_LEN && self.u64_at(at + 40)? == 0 => continue,
                JIT_CODE_LOAD if len > LOAD_LEN => self.load(at..end, frames)?,
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

    /// Takes note of what is said of the code that is loaded next; whether it makes sense.
    fn note_frames(&mut self, at: u64, end: u64) -> io::Result<bool> {
        self.frames = None;
        let from = at + u64::from(FRAMES_LEN);
        if end < from {
            return Ok(false);
        }
        // `.eh_frame` comes first, whatever the specification says (`jit_add_eh_frame_info` in
        // tools/perf/util/genelf.c, v6.1).
        let (len, header_len) = (self.u64_at(at + 16)?, self.u64_at(at + 24)?);
        let frames_len = len.checked_sub(header_len).filter(|_| len <= end - from);
        let frames_len = frames_len.and_then(|len| u32::try_from(len).ok());
        let Some(len) = frames_len.filter(|&len| len <= MAX_FRAMES) else {
            return Ok(false);
        };
        // Code that nothing is known of has a header alone.
        self.frames = (len > 0).then_some(JitFrames { at: from, len });
        Ok(true)
    }

    fn load(
        &mut self,
        record: Range<u64>,
        frames: Option<JitFrames>,
    ) -> io::Result<Option<JitRecord>> {
        let Range { start: at, end } = record;
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
            frames,
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

    /// `.eh_frame` of a piece of code.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub fn eh_frame(&mut self, frames: JitFrames) -> io::Result<Vec<u8>> {
        let len = usize::try_from(frames.len).unwrap_or(0);
        let end = frames.at.saturating_add(len as u64);
        // What is not in the window does not move it: records are read there.
        if end > self.len || self.is_in_window(frames.at, end) {
            return Ok(self.bytes(frames.at, len)?.to_vec());
        }
        self.budget
            .read(frames.len.into())
            .map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        self.source.read_exact_at(&mut bytes, frames.at)?;
        Ok(bytes)
    }

    /// A piece of code itself; `None` if it is larger than what is read at once.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub fn code(&mut self, load: &JitLoad) -> io::Result<Option<&[u8]>> {
        match usize::try_from(load.len) {
            Ok(len) if len <= WINDOW => self.bytes(load.code.0, len).map(Some),
            _ => Ok(None),
        }
    }

    /// A piece of code of any length.
    ///
    /// # Errors
    /// If the file cannot be read any more, or the code does not fit into the budget.
    pub fn whole_code(&self, load: &JitLoad) -> io::Result<Vec<u8>> {
        let end = load.code.0.checked_add(load.len);
        if end.is_none_or(|end| end > self.len) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        self.budget.read(load.len).map_err(io::Error::other)?;
        let mut code = vec![0; usize::try_from(load.len).unwrap_or(usize::MAX)];
        self.source.read_exact_at(&mut code, load.code.0)?;
        Ok(code)
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
        Ok(if self.is_big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn u64_at(&mut self, at: u64) -> io::Result<u64> {
        let bytes = self.array_at(at)?;
        Ok(if self.is_big_endian {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        })
    }

    fn array_at<const N: usize>(&mut self, at: u64) -> io::Result<[u8; N]> {
        let bytes = self.bytes(at, N)?;
        let array = bytes.first_chunk().copied();
        array.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }

    /// Whether a part of the file is at hand.
    fn is_in_window(&self, at: u64, end: u64) -> bool {
        at >= self.window_at && end <= self.window_at + self.window.len() as u64
    }

    /// A part of the file, no longer than a window.
    fn bytes(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = at.saturating_add(len as u64);
        if !self.is_in_window(at, end) {
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
