//! Folded stacks: `thread;outer;inner 42`.

use crate::Error;
use crate::recording::{
    AddError, Counts, Has, ImportedEvent, Recording, Sampled, StackAddress, Start, TaskSample,
};
use rprof_perfdata::{Reader, SyntheticFunction, SyntheticIdentity};
use rprof_untrusted::{Allowed, Budget};
use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

/// Bytes of a line at most.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// A stack and how often it was seen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoldedStack<'l> {
    /// The name of the thread.
    pub(crate) thread: &'l str,
    /// Functions, outermost first; at least one.
    pub(crate) functions: Vec<&'l str>,
    pub(crate) count: u64,
}

impl<'l> FoldedStack<'l> {
    /// Takes a line apart; `None` if there is nothing in it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(line: &'l str) -> Result<Option<Self>, &'static str> {
        let line = line.trim().trim_start_matches(BYTE_ORDER_MARK);
        if line.is_empty() || line == "#" || line.starts_with("# ") {
            return Ok(None);
        }
        let split = line.rsplit_once(char::is_whitespace);
        let (stack, count) = split.ok_or("no count at the end of the line")?;
        let stack = stack.trim_end();
        let count = match count.parse::<u64>() {
            Ok(count) => count,
            Err(_) if count.parse::<f64>().is_ok() => return Err(NOT_WHOLE),
            Err(_) => return Err("no count at the end of the line"),
        };
        let (thread, functions) = stack.split_once(';').unwrap_or((stack, stack));
        let is_count = |word: &str| word.parse::<u64>().is_ok();
        let before = stack.rsplit_once(char::is_whitespace);
        if before.is_some_and(|(stack, word)| stack.contains(';') && is_count(word)) {
            return Err(TWO_COUNTS);
        }
        Ok(Some(Self {
            thread: shown(thread),
            functions: functions.split(';').map(shown).collect(),
            count,
        }))
    }
}

/// What some tools begin a text with.
const BYTE_ORDER_MARK: char = '\u{feff}';

const TWO_COUNTS: &str = "two counts: differential stacks are not read";

const NOT_WHOLE: &str = "the count is not a whole number below 2^64";

/// An element without a name gets one.
fn shown(element: &str) -> &str {
    match element.trim() {
        "" => "[unknown]",
        name => name,
    }
}

/// A recording of folded stacks: each line is a sample of one event.
pub(crate) fn import(
    path: &Path,
    from: impl BufRead,
    budget: &Budget,
    allowed: Allowed,
) -> Result<Reader, Error> {
    let samples = ImportedEvent {
        name: "samples".to_owned(),
        counts: Counts::Other,
        sampled: Sampled::Every(1),
    };
    let mut recording = Recording::start(&Start {
        path,
        events: &[samples],
        has: Has::default(),
        budget,
    })?;
    let image = SyntheticIdentity::in_brackets(b"[folded]");
    let image = recording.images.image(image).unwrap_or_default();
    let mut lines = Lines::new(from, path);
    let mut line = String::new();
    let mut addresses = Vec::new();
    while lines.read(&mut line)? {
        let stack = FoldedStack::parse(&line).map_err(|what| lines.bad(what))?;
        let Some(stack) = stack else {
            continue;
        };
        let added = add(&mut recording, image, &stack, &mut addresses);
        added.map_err(|error| match error {
            AddError::Sample(what) => lines.bad(what),
            AddError::Recording(error) => error,
        })?;
    }
    recording.finish(allowed)
}

fn add(
    recording: &mut Recording,
    image: u32,
    stack: &FoldedStack<'_>,
    addresses: &mut Vec<StackAddress>,
) -> Result<(), AddError> {
    if stack.count == 0 {
        return Ok(());
    }
    addresses.clear();
    for name in stack.functions.iter().rev() {
        let function = SyntheticFunction {
            name: name.as_bytes(),
            line: None,
        };
        let frame = recording.images.frame(None, function);
        let address = recording.images.address(image, Some(frame));
        let address = address.ok_or_else(|| AddError::Sample("too many functions".to_owned()))?;
        addresses.push(StackAddress {
            address: address.0,
            image,
            is_kernel: false,
        });
    }
    let pid = recording.process(stack.thread.as_bytes())?;
    let sample = TaskSample {
        event: 0,
        pid,
        tid: pid,
        comm: stack.thread.as_bytes(),
        time_ns: 0,
        cpu: None,
        weight: stack.count,
    };
    recording.add(&sample, addresses)
}

/// Whether the beginning of a file is that of folded stacks: its first line with text is one, whatever its count.
pub(crate) fn is_folded(head: &[u8]) -> bool {
    let parsed = |line| FoldedStack::parse(std::str::from_utf8(line).map_err(|_| "not text")?);
    let mut lines = head.split(|&byte| byte == b'\n').map(parsed);
    let first = lines.find(|line| !matches!(line, Ok(None)));
    !head.contains(&0) && matches!(first, Some(Ok(_) | Err(NOT_WHOLE | TWO_COUNTS)))
}

/// The lines of a file.
pub(crate) struct Lines<'p, R> {
    from: R,
    path: &'p Path,
    /// Number of the line that was read last, from 1.
    number: u64,
}

impl<'p, R: BufRead> Lines<'p, R> {
    pub(crate) fn new(from: R, path: &'p Path) -> Self {
        Self {
            from,
            path,
            number: 0,
        }
    }

    /// Reads the next one; whether there was one.
    ///
    /// # Errors
    /// [`Error`]: it cannot be read, is too long, or no UTF-8.
    pub(crate) fn read(&mut self, line: &mut String) -> Result<bool, Error> {
        line.clear();
        self.number += 1;
        let read = (&mut self.from).take(MOST_BYTES + 1).read_line(line);
        match read {
            Ok(n_bytes) if n_bytes as u64 > MOST_BYTES => {
                Err(self.bad(format_args!("more than {MOST_BYTES} bytes")))
            }
            Ok(n_bytes) => Ok(n_bytes > 0),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(self.bad("not UTF-8")),
            Err(error) => Err(Error::io(self.path)(error)),
        }
    }

    /// An error in the line that was read last.
    pub(crate) fn bad(&self, what: impl ToString) -> Error {
        Error::Line {
            path: self.path.to_owned(),
            line: self.number,
            what: what.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(line: &str) -> Option<(&str, Vec<&str>, u64)> {
        let stack = FoldedStack::parse(line).unwrap()?;
        Some((stack.thread, stack.functions, stack.count))
    }

    #[test]
    fn the_first_element_is_the_thread() {
        assert_eq!(parsed("a;b;c d 7"), Some(("a", vec!["b", "c d"], 7)));
        assert_eq!(parsed("a;b\t7"), Some(("a", vec!["b"], 7)));
        assert_eq!(parsed("main 0\r\n"), Some(("main", vec!["main"], 0)));
        assert_eq!(parsed("  "), None);
        assert_eq!(parsed("# a 1"), None);
        assert_eq!(parsed("#w;main 1"), Some(("#w", vec!["main"], 1)));
        assert_eq!(
            parsed("\u{feff}a;;b 1"),
            Some(("a", vec!["[unknown]", "b"], 1))
        );
        assert_eq!(
            parsed("worker 7 12"),
            Some(("worker 7", vec!["worker 7"], 12))
        );
        assert!(FoldedStack::parse("a;b").is_err());
        assert!(FoldedStack::parse("a;b -1").is_err());
        assert!(FoldedStack::parse("7").is_err());
    }

    proptest! {
        #[test]
        fn what_was_folded_is_parsed(names in prop::collection::vec("[a-z<>:]{1,5}( x)?", 2..9), count: u64) {
            let line = format!("{} {count}", names.join(";"));
            let (thread, functions, n) = parsed(&line).unwrap();
            prop_assert_eq!(thread, &names[0]);
            prop_assert_eq!(functions, names[1..].iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(n, count);
        }
    }
}
