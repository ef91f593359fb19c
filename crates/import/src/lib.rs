//! Files of other tools as recordings: folded stacks become a `perf.data` in a temporary file, which every reader takes.
//!
//! ```
//! use rprof_untrusted::Allowed;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("stacks.folded");
//! std::fs::write(&path, "app;main;parse 41\napp;main 1\n")?;
//! let reader = rprof_import::open(&path, Allowed::default())?.expect("these are folded stacks");
//! assert_eq!(reader.events()[0].name.raw(), "samples");
//! # Ok(())
//! # }
//! ```

mod error;
mod folded;
mod recording;

pub use error::Error;

use folded::{FoldedStack, Lines, MOST_BYTES};
use recording::{AddError, Recording};
use rprof_perfdata::Reader;
use rprof_untrusted::{Allowed, Seen};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Opens a file as a recording, if it holds folded stacks; `None` if it is something else.
///
/// # Errors
/// [`Error`]: it cannot be read, or a line in it is no stack with a count.
pub fn open(path: &Path, allowed: Allowed) -> Result<Option<Reader>, Error> {
    let io = Error::io(path);
    let seen = Seen::at(path).map_err(&io)?;
    if !seen.meta().is_file() {
        return Ok(None);
    }
    let mut file = seen.open_regular(File::options().read(true)).map_err(&io)?;
    let mut head = Vec::new();
    (&mut file)
        .take(MOST_BYTES + 1)
        .read_to_end(&mut head)
        .map_err(&io)?;
    if !folded::is_folded(&head) {
        return Ok(None);
    }
    file.rewind().map_err(&io)?;
    let mut recording = Recording::start(path)?;
    let mut lines = Lines::new(BufReader::new(file), path);
    let mut line = String::new();
    while lines.read(&mut line)? {
        let stack = FoldedStack::parse(&line).map_err(|what| lines.bad(what))?;
        if let Some(stack) = stack {
            recording.add(&stack).map_err(|what| match what {
                AddError::Stack(what) => lines.bad(what),
                AddError::Write(error) => error.into(),
            })?;
        }
    }
    recording.finish(allowed).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn opened(bytes: &[u8]) -> Result<Option<Reader>, Error> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        open(&path, Allowed::default())
    }

    #[test]
    fn only_folded_stacks_are_taken() {
        let are_folded = |bytes: &[u8]| opened(bytes).unwrap().is_some();
        assert!(are_folded(b"a;b 1\n"));
        assert!(are_folded(b"# made by a query\n\nmain 12"));
        for other in [
            &b""[..],
            b"\n\n",
            b"PERFILE2",
            b"a text without counts\n",
            b"a;b\0 1\n",
            b"\x1f\x8b\x08\0\0",
            b"12\n",
            b"# a comment 1\n",
        ] {
            assert!(!are_folded(other), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_recording_or_an_error(lines in prop::collection::vec("[a-c;# 0-9\\t]{0,12}", 0..9)) {
            let text = lines.join("\n");
            if let Ok(Some(reader)) = opened(text.as_bytes()) {
                prop_assert!(reader.warnings().is_empty());
                prop_assert!(reader.data().end > reader.data().start);
            }
        }
    }

    #[test]
    fn an_error_names_the_line() {
        let error = opened(b"a;b 1\n\na;c\n").unwrap_err().to_string();
        assert!(
            error.ends_with("file:3: no count at the end of the line"),
            "{error}"
        );
        let said = |text: &str| opened(text.as_bytes()).unwrap_err().to_string();
        let deep = "f;".repeat(9000) + "f 1\n";
        let said_of_deep = said(&format!("a 1\n{deep}"));
        assert!(
            said_of_deep.ends_with(":2: more than 8000 functions"),
            "{said_of_deep}"
        );
        let long = "a 1\n".to_owned() + &"x".repeat(2 << 20) + " 1\n";
        assert!(said(&long).ends_with(":2: more than 1048576 bytes"));
        let largest = u64::MAX;
        assert!(
            said(&format!("a {largest}\nb 1\n"))
                .ends_with(":2: the sum of all counts is over 2^64")
        );
        assert!(said("a;b 10 20\n").ends_with(":1: two counts: differential stacks are not read"));
        for count in ["-3", "1.5", "99999999999999999999"] {
            let said = said(&format!("a {count}\n"));
            assert!(
                said.ends_with(":1: the count is not a whole number below 2^64"),
                "{said}"
            );
        }
        assert!(said("a;b 0\n").ends_with(": no stack has a count above 0"));
    }
}
