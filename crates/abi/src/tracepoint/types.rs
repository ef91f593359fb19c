//! The C types that casts, `sizeof` and array elements name.

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntType {
    /// Bytes; 0 for those of a `long`, which the recording knows.
    pub(super) size: u8,
    /// Whether it is signed.
    pub(super) is_signed: bool,
}

impl IntType {
    /// The type that these words name, qualifiers among them; `None` for structs and for
    /// typedefs of a subsystem.
    pub(super) fn from_words<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut size = None;
        let mut is_signed = true;
        for word in words {
            match word {
                "const" | "volatile" | "signed" => {}
                "unsigned" => is_signed = false,
                "int" => {
                    size.get_or_insert(4);
                }
                "char" => size = Some(1),
                "short" => size = Some(2),
                // The second of `long long`.
                "long" if size == Some(0) => size = Some(8),
                "long" => size = Some(0),
                _ => {
                    let (bytes, signed) = typedef(word)?;
                    size = Some(bytes);
                    is_signed = signed;
                }
            }
        }
        // `unsigned` alone is one of `int`.
        let size = size.or((!is_signed).then_some(4))?;
        Some(Self { size, is_signed })
    }

    /// `bits` as this type holds them, sign-extended if it is signed.
    pub(super) fn truncate(self, bits: u64, long_size: u8) -> u64 {
        let unused = 64 - 8 * u32::from(self.size_or(long_size).clamp(1, 8));
        let high = bits << unused;
        if self.is_signed {
            (high.cast_signed() >> unused).cast_unsigned()
        } else {
            high >> unused
        }
    }

    /// Bytes, those of a `long` filled in.
    pub(super) fn size_or(self, long_size: u8) -> u8 {
        if self.size == 0 { long_size } else { self.size }
    }
}

fn typedef(word: &str) -> Option<(u8, bool)> {
    Some(match word {
        "u8" | "__u8" | "uint8_t" | "bool" | "_Bool" => (1, false),
        "u16" | "__u16" | "uint16_t" | "__be16" | "__le16" | "umode_t" => (2, false),
        "u32" | "__u32" | "uint32_t" | "__be32" | "__le32" | "uint" => (4, false),
        "u64" | "__u64" | "uint64_t" | "__be64" | "__le64" => (8, false),
        "s8" | "__s8" | "int8_t" => (1, true),
        "s16" | "__s16" | "int16_t" => (2, true),
        "s32" | "__s32" | "int32_t" | "pid_t" => (4, true),
        "s64" | "__s64" | "int64_t" | "loff_t" | "ktime_t" => (8, true),
        "size_t" | "uintptr_t" | "ino_t" | "pgoff_t" | "ulong" => (0, false),
        "ssize_t" | "intptr_t" | "ptrdiff_t" => (0, true),
        _ => return None,
    })
}
