//! Files of other tools as recordings: folded stacks, pprof profiles and tables of query engines become a `perf.data` in
//! a temporary file, which every reader takes.
//!
//! ```
//! use rprof_perfdata::RecordingInput;
//! use rprof_untrusted::Allowed;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("stacks.folded");
//! std::fs::write(&path, "app;main;parse 41\napp;main 1\n")?;
//! let input = RecordingInput::open(&path, Allowed::default())?;
//! let imported = rprof_import::open(&input, Allowed::default())?.expect("these are folded stacks");
//! assert_eq!(imported.reader.events()[0].name.raw(), "samples");
//! # Ok(())
//! # }
//! ```

mod error;
mod folded;
mod gzip;
mod names;
mod pprof;
mod recording;
mod table_folder;
#[cfg(feature = "parquet")]
mod tables;

pub use error::Error;
pub use recording::Imported;
pub use table_folder::is_table_folder;
#[cfg(feature = "parquet")]
pub use tables::TableFolder;

use rprof_perfdata::RecordingInput;
use rprof_untrusted::{Allowed, Budget, Limits};
use std::io::{BufReader, Read};

/// Makes a recording of a file of another tool; `None` if it is something else.
///
/// # Errors
/// [`Error`]: it cannot be read; a line in it is no stack with a count, or the profile in it is damaged.
pub fn open(input: &RecordingInput, allowed: Allowed) -> Result<Option<Imported>, Error> {
    if input.is_recording()? {
        return Ok(None);
    }
    let path = input.path();
    let budget = Budget::new(Limits::for_recording(input.stored(), allowed));
    let io = Error::io(path);
    let head = head(input.bytes()).map_err(&io)?;
    if folded::is_folded(&head) {
        let reader = folded::import(path, BufReader::new(input.bytes()), &budget, allowed)?;
        let warnings = Vec::new();
        return Ok(Some(Imported { reader, warnings }));
    }
    let mut held = budget.hold_nothing();
    let profile = if gzip::is_compressed(&head) {
        gzip::unpacked_profile(input, &mut held)?
    } else if pprof::is_profile(&head) {
        let whole = rprof_untrusted::read_all(input.bytes(), u64::MAX, &mut held);
        Some(whole.map_err(|error| Error::reading(path, &budget, error))?)
    } else {
        None
    };
    drop(head);
    let Some(profile) = profile else {
        return Ok(None);
    };
    pprof::import(path, &profile, &budget, allowed).map(Some)
}

/// The beginning of a file.
fn head(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(folded::MOST_BYTES + 1).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rprof_perfdata::Reader;
    use std::path::Path;

    fn opened(bytes: &[u8]) -> Result<Option<Reader>, Error> {
        let input = RecordingInput::from_bytes(Path::new("file"), bytes.to_vec());
        let imported = open(&input, Allowed::default())?;
        Ok(imported.map(|imported| imported.reader))
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
