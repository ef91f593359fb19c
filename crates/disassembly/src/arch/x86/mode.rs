//! The kinds of x86 code, and what decodes them.

use iced_x86::DecoderOptions;

/// How wide addresses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Bits64,
    Bits32,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits32 => 32,
        }
    }
}

/// What is decoded beside what all processors know: MPX, and `pcommit`, which came and went.
const OPTIONS: u32 = DecoderOptions::MPX | DecoderOptions::PCOMMIT;

/// What decodes bytes at an address.
pub(super) fn decoder(mode: Mode, address: u64, bytes: &[u8]) -> iced_x86::Decoder<'_> {
    iced_x86::Decoder::with_ip(mode.bits(), bytes, address, OPTIONS)
}
