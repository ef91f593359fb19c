//! Times since the first line, or the one before. Lines are made by many threads, and which lines there are is known
//! only when they are put together: until then, a time is a mark.

use crate::text;

/// What the times of lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Times {
    /// As recorded.
    #[default]
    Recorded,
    /// Since the first line.
    SinceStart,
    /// Since the line before.
    SincePrevious,
}

/// Before a time. Names that are printed have no such byte.
const MARK: u8 = 0;

/// Appends a time that is known later.
pub(crate) fn mark(time_ns: u64, out: &mut Vec<u8>) {
    out.push(MARK);
    out.extend_from_slice(&time_ns.to_le_bytes());
}

/// Puts times where the marks are.
#[derive(Debug)]
pub(crate) struct Clock {
    times: Times,
    nanoseconds: bool,
    /// Of the first line or the last; 0 if there was none.
    since_ns: u64,
}

impl Clock {
    pub(crate) fn new(times: Times, nanoseconds: bool) -> Self {
        Self {
            times,
            nanoseconds,
            since_ns: 0,
        }
    }

    /// Appends text with its times.
    pub(crate) fn append(&mut self, lines: &[u8], out: &mut Vec<u8>) {
        let mut rest = lines;
        while let Some((before, after)) = split_at_mark(rest)
            && let Some((time, after)) = after.split_first_chunk()
        {
            out.extend_from_slice(before);
            let time_ns = u64::from_le_bytes(*time);
            text::seconds(out, self.since(time_ns), self.nanoseconds);
            rest = after;
        }
        out.extend_from_slice(rest);
    }

    fn since(&mut self, time_ns: u64) -> u64 {
        let is_first = self.since_ns == 0;
        let since = if is_first {
            0
        } else {
            time_ns.wrapping_sub(self.since_ns)
        };
        if is_first || self.times == Times::SincePrevious {
            self.since_ns = time_ns;
        }
        since
    }
}

fn split_at_mark(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&byte| byte == MARK)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(times: Times) -> String {
        let mut clock = Clock::new(times, true);
        let mut out = Vec::new();
        // In two parts, as threads hand them over; times have bytes that are marks, too.
        for part in [&[0, 256, 300][..], &[65_536]] {
            let mut text = b"a ".to_vec();
            for &time_ns in part {
                mark(time_ns, &mut text);
                text.extend_from_slice(b" b ");
            }
            clock.append(&text, &mut out);
        }
        String::from_utf8(out)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn times_are_since_the_first_line_or_the_one_before() {
        let start = "a 0.000000000 b 0.000000000 b 0.000000044 b a 0.000065280 b";
        assert_eq!(shown(Times::SinceStart), start);
        let previous = "a 0.000000000 b 0.000000000 b 0.000000044 b a 0.000065236 b";
        assert_eq!(shown(Times::SincePrevious), previous);
    }
}
