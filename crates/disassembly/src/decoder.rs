//! A machine's name goes in; what decodes its code comes out.

use crate::arch::{aarch64, x86};
use crate::{Instruction, Syntax};

/// Decodes the code of one machine.
#[derive(Clone, Debug)]
pub struct Decoder {
    machine: CodeKind,
    syntax: Syntax,
}

/// Whose instructions they are.
#[derive(Clone, Copy, Debug)]
enum CodeKind {
    X86(x86::Mode),
    Aarch64,
}

/// Code of this machine is not decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "code of machine {machine:?} cannot be decoded: rprof decodes x86_64, i386 to i686, and aarch64"
)]
pub struct UnknownMachine {
    /// Its name, as it was given.
    pub machine: String,
}

impl Decoder {
    /// What decodes the code of `machine`: its name as `uname -m` and recordings have it. Programs of
    /// 32 bits on `x86_64` are code of `i686`. The syntax matters for x86 only.
    ///
    /// # Errors
    /// [`UnknownMachine`], which says what is known.
    pub fn of(machine: &str, syntax: Syntax) -> Result<Self, UnknownMachine> {
        let machine = match machine {
            "x86_64" | "amd64" => CodeKind::X86(x86::Mode::Bits64),
            "i386" | "i486" | "i586" | "i686" | "x86" => CodeKind::X86(x86::Mode::Bits32),
            "aarch64" | "arm64" => CodeKind::Aarch64,
            other => {
                let machine = other.to_owned();
                return Err(UnknownMachine { machine });
            }
        };
        Ok(Self { machine, syntax })
    }

    /// The instructions of `bytes`, the first of which is at `address`: one after the other, to the end.
    /// The sum of their lengths is the number of bytes; bytes that are no instruction are shown as
    /// such, and the next ones are decoded.
    pub fn decode(&self, address: u64, bytes: &[u8]) -> Vec<Instruction> {
        self.decode_some(address, bytes, &|_| true)
    }

    /// The same where texts are wanted of some instructions, by their addresses: texts take most of the time. Those of
    /// others may be empty, unless they are what compilers fill gaps with (`nop`, `int3`).
    pub fn decode_some(
        &self,
        address: u64,
        bytes: &[u8],
        is_wanted: &dyn Fn(u64) -> bool,
    ) -> Vec<Instruction> {
        match self.machine {
            CodeKind::X86(mode) => x86::decode((mode, self.syntax), address, bytes, is_wanted),
            CodeKind::Aarch64 => aarch64::decode(address, bytes),
        }
    }
}
