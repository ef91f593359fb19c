//! Compressed profiles, as tools write them.

use crate::{Error, pprof};
use flate2::read::MultiGzDecoder;
use rprof_perfdata::RecordingInput;
use rprof_untrusted::{Held, read_all};
use std::io::{BufReader, Read};

/// Whether a file begins as compressed ones do.
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Bytes that are looked at to recognize a profile.
const HEAD_BYTES: u64 = 1 << 16;

/// Unpacks a profile, as far as memory goes; `None` if there is something else in the file.
pub(crate) fn unpacked_profile(
    input: &RecordingInput,
    held: &mut Held,
) -> Result<Option<Vec<u8>>, Error> {
    let mut unpacked = MultiGzDecoder::new(BufReader::new(input.bytes()));
    let mut head = Vec::new();
    // What fails here fails again below, or is no profile.
    let _ = (&mut unpacked).take(HEAD_BYTES).read_to_end(&mut head);
    if !pprof::is_profile(&head) {
        return Ok(None);
    }
    let unpacked = MultiGzDecoder::new(BufReader::new(input.bytes()));
    let whole = read_all(unpacked, u64::MAX, held);
    let whole = whole.map_err(|error| Error::reading(input.path(), held.budget(), error))?;
    Ok(Some(whole))
}
