//! The stack dump.

use std::fmt;

/// A stack dump: the innermost bytes of a stack.
#[derive(Clone, Copy)]
pub struct Stack<'a> {
    start: u64,
    bytes: &'a [u8],
    /// Where the frames at hand begin: on this stack, or on the one that a signal interrupted.
    floor: u64,
    is_truncated: bool,
    beyond: Option<&'a dyn MemorySource>,
    thread: Option<i32>,
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("start", &self.start)
            .field("len", &self.bytes.len())
            .field("is_truncated", &self.is_truncated)
            .finish_non_exhaustive()
    }
}

/// Memory of a stack after the end of its dump. A closure is one, too.
pub trait MemorySource {
    /// The word at an address; `None` if it is not known.
    fn word(&self, avma: u64) -> Option<u64>;
}

impl<F: Fn(u64) -> Option<u64>> MemorySource for F {
    fn word(&self, avma: u64) -> Option<u64> {
        self(avma)
    }
}

/// A stack is 8 MiB unless someone asked for more: what lies farther is somewhere else.
const FAR: u64 = 1 << 30;

/// Why a word cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It may lie beyond the end of the dump.
    Truncated,
    /// It lies right below the stack pointer, and has been there until just now.
    Below,
    /// It is not on this stack.
    Elsewhere,
}

impl<'a> Stack<'a> {
    /// A stack without a dump: all of it is read where it is, word by word.
    pub fn read_by(start_avma: u64, memory: &'a dyn MemorySource) -> Self {
        Self::truncated(start_avma, &[]).with(memory)
    }

    /// All bytes of a stack from an address (the stack pointer's) up.
    pub fn complete(start_avma: u64, bytes: &'a [u8]) -> Self {
        let is_truncated = false;
        Self::new(start_avma, bytes, is_truncated)
    }

    /// The first bytes of a stack: there was no room for more.
    pub fn truncated(start_avma: u64, bytes: &'a [u8]) -> Self {
        let is_truncated = true;
        Self::new(start_avma, bytes, is_truncated)
    }

    /// Bytes from an address (the stack pointer's) up; truncated if there was no room for more.
    pub fn new(start_avma: u64, bytes: &'a [u8], is_truncated: bool) -> Self {
        Self {
            start: start_avma,
            bytes,
            floor: start_avma,
            is_truncated,
            beyond: None,
            thread: None,
        }
    }

    /// The same, with what is after its end.
    pub fn with(self, beyond: &'a dyn MemorySource) -> Self {
        Self {
            beyond: Some(beyond),
            ..self
        }
    }

    /// The same as a thread's, whose last walk is remembered.
    pub fn of_thread(self, thread: Option<i32>) -> Self {
        Self { thread, ..self }
    }

    /// The thread whose stack it is, if that is known.
    pub(crate) fn thread(&self) -> Option<i32> {
        self.thread
    }

    /// The same after a signal that came at a stack pointer: where that is on another stack, nothing of it
    /// was dumped.
    pub(crate) fn interrupted_at(self, sp: u64) -> Self {
        if sp.wrapping_sub(self.floor) < FAR {
            self
        } else {
            Self {
                floor: sp,
                is_truncated: true,
                ..self
            }
        }
    }

    /// The little-endian word at an address.
    #[inline]
    pub(crate) fn word(&self, avma: u64) -> Result<u64, Unread> {
        let at = usize::try_from(avma.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        let word = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        match word {
            Some(word) => Ok(u64::from_le_bytes(*word)),
            None => self.word_beyond(avma),
        }
    }

    #[cold]
    fn word_beyond(&self, avma: u64) -> Result<u64, Unread> {
        let unread = self.why_unread(avma);
        let beyond = self.beyond.filter(|_| unread == Unread::Truncated);
        let word = beyond.and_then(|beyond| beyond.word(avma));
        word.ok_or(unread)
    }

    /// Bytes of less than a word, for expressions that read them.
    pub(crate) fn small(&self, avma: u64, len: u8) -> Result<u64, Unread> {
        if len >= 8 {
            return self.word(avma);
        }
        let at = usize::try_from(avma.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        let end = at.saturating_add(usize::from(len));
        let bytes = self.bytes.get(at..end);
        let bytes = bytes.ok_or_else(|| self.why_unread(avma))?;
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    #[cold]
    fn why_unread(&self, avma: u64) -> Unread {
        let into = avma.wrapping_sub(self.floor);
        if (1..FAR).contains(&into.wrapping_neg()) {
            Unread::Below
        } else if self.is_truncated && into < FAR {
            Unread::Truncated
        } else {
            Unread::Elsewhere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_where_they_are_and_nowhere_else() {
        let doubled = |avma: u64| Some(2 * avma);
        let bytes: Vec<u8> = (0..20).collect();
        let stack = Stack::truncated(0x1000, &bytes);
        assert_eq!(stack.word(0x1001), Ok(0x0807_0605_0403_0201));
        assert_eq!(stack.word(0x100c), Ok(0x1312_1110_0f0e_0d0c));
        assert_eq!(stack.word(0x100d), Err(Unread::Truncated));
        assert_eq!(stack.word(0xfff), Err(Unread::Below));
        assert_eq!(stack.word(1 << 62), Err(Unread::Elsewhere));
        assert_eq!(stack.small(0x1012, 2), Ok(0x1312));
        assert_eq!(stack.word(0x1014), Err(Unread::Truncated));
        assert_eq!(Stack::truncated(8, &[]).word(8), Err(Unread::Truncated));
        let beyond = Stack::truncated(0x1000, &bytes).with(&doubled);
        assert_eq!(beyond.word(0x1010), Ok(0x2020));
        assert_eq!(beyond.word(0x100c), Ok(0x1312_1110_0f0e_0d0c));
        assert_eq!(beyond.word(0xfff), Err(Unread::Below));
        assert_eq!(Stack::read_by(8, &doubled).word(16), Ok(32));
        let whole = Stack::complete(0x1000, &bytes);
        assert_eq!(whole.word(0x100d), Err(Unread::Elsewhere));
        let other = whole.with(&doubled).interrupted_at(1 << 40);
        assert_eq!(other.word(1 << 40), Ok(2 << 40));
        assert_eq!(other.word((1 << 40) - 8), Err(Unread::Below));
        assert_eq!(other.word(0x1001), Ok(0x0807_0605_0403_0201));
        let same = whole.interrupted_at(0x1008);
        assert_eq!(same.word(0x100d), Err(Unread::Elsewhere));
    }
}
