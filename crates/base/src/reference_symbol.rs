//! The symbol that tells where a kernel was in memory.

use crate::Avma;

/// perf's `ref_reloc_sym` (`_text` or `_stext`): its address tells boots of a kernel apart, and how far
/// the kernel was from its file's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceSymbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Where it was in memory.
    pub avma: Avma,
}
