//! What files that others made may cost, in sum: memory, reading, temporary files.
//!
//! Whatever a length in a file claims, room is made only for what the file really has, and only as
//! long as the budget lasts. What does not fit is left out, and said to be; the rest goes on.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most that files may cost, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Held in memory at once.
    pub memory: u64,
    /// Read of files that are only looked through: logs, maps of names, checksums.
    pub read: u64,
    /// Written to temporary files.
    pub spool: u64,
}

impl Limits {
    /// For unwinding while recording: the recorder stays small, whatever is mapped.
    pub const RECORDER: Self = Self::of_memory(96 << 20);

    /// For build ids of what is mapped while recording, whose headers and notes are small, and for
    /// checksums of what has none.
    pub const BUILD_IDS: Self = Self {
        read: 256 << 20,
        ..Self::of_memory(16 << 20)
    };

    /// For jitdumps, read while recording: some 50,000 functions.
    pub const CODE_LOGS: Self = Self {
        read: 256 << 20,
        ..Self::of_memory(16 << 20)
    };

    /// Memory for reading a recording of no size.
    const LEAST_MEMORY: u64 = 512 << 20;
    /// What a recording of no size may be unpacked to.
    const LEAST_SPOOL: u64 = 256 << 20;

    /// For reading a recording of this many bytes, unless the user says otherwise.
    pub fn for_recording(stored: u64, allowed: Allowed) -> Self {
        let memory = stored.saturating_mul(8).saturating_add(Self::LEAST_MEMORY);
        let spool = stored.saturating_mul(64).saturating_add(Self::LEAST_SPOOL);
        Self {
            spool: allowed.spool.unwrap_or(spool),
            ..Self::of_memory(allowed.memory.unwrap_or(memory))
        }
    }

    /// With so much memory; nothing is spooled.
    pub const fn of_memory(memory: u64) -> Self {
        Self {
            memory,
            read: memory.saturating_mul(4),
            spool: 0,
        }
    }
}

/// What the user says that files may cost, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// In memory at once (`--mem`).
    pub memory: Option<u64>,
    /// In temporary files (`--max-spool`).
    pub spool: Option<u64>,
}

/// A thing does not fit any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget;

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more than the memory budget allows")
    }
}

impl std::error::Error for OverBudget {}

/// What is left of [`Limits`], for all that share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Left>);

#[derive(Debug)]
struct Left {
    limits: Limits,
    memory: AtomicU64,
    read: AtomicU64,
    spool: AtomicU64,
}

impl Default for Budget {
    /// For a recording of no size.
    fn default() -> Self {
        Self::new(Limits::for_recording(0, Allowed::default()))
    }
}

impl Budget {
    /// All of it.
    pub fn new(limits: Limits) -> Self {
        Self(Arc::new(Left {
            limits,
            memory: AtomicU64::new(limits.memory),
            read: AtomicU64::new(limits.read),
            spool: AtomicU64::new(limits.spool),
        }))
    }

    /// What it was made with.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// Memory that is held now, bytes.
    pub fn held(&self) -> u64 {
        let left = self.0.memory.load(Ordering::Relaxed);
        self.0.limits.memory.saturating_sub(left)
    }

    /// Nothing is held yet.
    pub fn hold_nothing(&self) -> Held {
        Held {
            budget: self.clone(),
            bytes: 0,
        }
    }

    /// Takes memory, until what is returned is dropped.
    ///
    /// # Errors
    /// [`OverBudget`]; nothing was taken then.
    pub fn hold(&self, bytes: u64) -> Result<Held, OverBudget> {
        let mut held = self.hold_nothing();
        held.grow(bytes)?;
        Ok(held)
    }

    /// Counts what is read of a file that is only looked through.
    ///
    /// # Errors
    /// [`OverBudget`]: that much has been read already.
    pub fn read(&self, bytes: u64) -> Result<(), OverBudget> {
        take(&self.0.read, bytes)
    }

    /// Counts what is written to a temporary file.
    ///
    /// # Errors
    /// [`OverBudget`]: that much has been written already.
    pub fn spool(&self, bytes: u64) -> Result<(), OverBudget> {
        take(&self.0.spool, bytes)
    }
}

fn take(left: &AtomicU64, bytes: u64) -> Result<(), OverBudget> {
    let less = |left: u64| left.checked_sub(bytes);
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    taken.map(drop).map_err(|_| OverBudget)
}

/// Memory that counts until this is dropped.
#[derive(Debug)]
pub struct Held {
    budget: Budget,
    bytes: u64,
}

impl Held {
    /// Takes more of the same budget.
    ///
    /// # Errors
    /// [`OverBudget`]; what was held still is.
    pub fn grow(&mut self, bytes: u64) -> Result<(), OverBudget> {
        take(&self.budget.0.memory, bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives back what is not there any more.
    pub fn give_back(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.0.memory.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How much it is, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The budget that it is of.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

/// Reads a stream to its end, into memory that is taken as it comes; `most` bytes at most.
///
/// # Errors
/// The stream's; `OutOfMemory` if it does not fit, `FileTooLarge` if there are more.
pub fn read_all(mut from: impl Read, most: u64, held: &mut Held) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 16;
    let mut bytes = Vec::new();
    loop {
        let len = bytes.len() as u64;
        if len > most {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let step = STEP.max(len).min(most.saturating_add(1) - len);
        held.grow(step)
            .map_err(|over| io::Error::new(io::ErrorKind::OutOfMemory, over))?;
        let n = from.by_ref().take(step).read_to_end(&mut bytes)?;
        if (n as u64) < step {
            held.give_back(step - n as u64);
            return Ok(bytes);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_until_it_is_dropped() {
        let budget = Budget::new(Limits::of_memory(100));
        let mut one = budget.hold(60).unwrap();
        assert_eq!(budget.hold(41).unwrap_err(), OverBudget);
        let other = budget.clone().hold(40).unwrap();
        assert_eq!(one.grow(1), Err(OverBudget));
        drop(other);
        one.grow(40).unwrap();
        assert_eq!(one.bytes(), 100);
        drop(one);
        assert!(budget.hold(100).is_ok());
        assert!(budget.hold(u64::MAX).is_err());
    }

    #[test]
    fn a_stream_is_read_as_far_as_it_fits() {
        let kind = |result: io::Result<Vec<u8>>| result.unwrap_err().kind();
        let budget = Budget::new(Limits::of_memory(1 << 20));
        let mut held = budget.hold_nothing();
        let text = vec![7; 300_000];
        assert_eq!(read_all(&text[..], 300_000, &mut held).unwrap(), text);
        assert_eq!(held.bytes(), 300_000);
        let more = read_all(&text[..], 299_999, &mut budget.hold_nothing());
        assert_eq!(kind(more), io::ErrorKind::FileTooLarge);
        let endless = read_all(io::repeat(0), u64::MAX, &mut budget.hold_nothing());
        assert_eq!(kind(endless), io::ErrorKind::OutOfMemory);
        drop(held);
        assert_eq!(budget.held(), 0);
        assert!(budget.hold(1 << 20).is_ok());
    }

    #[test]
    fn what_is_read_counts_for_ever() {
        let budget = Budget::new(Limits::of_memory(1));
        budget.read(3).unwrap();
        assert_eq!(budget.read(2), Err(OverBudget));
        budget.read(1).unwrap();
        assert_eq!(budget.read(1), Err(OverBudget));
    }
}
