//! Numbers at places of records, as the kernel wrote them.

/// The 8 bytes at an offset; 0 if there are fewer.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u64::from_ne_bytes(*word))
}

/// The 4 bytes at an offset; `None` if there are fewer.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map(|word| u32::from_ne_bytes(*word))
}
