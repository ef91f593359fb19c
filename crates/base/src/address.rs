//! Kinds of addresses, told apart by type.

/// An offset in a file, bytes. What a mapping's `pgoff` and an address in it give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileOffset(pub u64);

/// A stated virtual memory address: as in the ELF file's headers, symbols and DWARF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Svma(pub u64);

/// An actual virtual memory address: as in the sampled process, or in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Avma(pub u64);
