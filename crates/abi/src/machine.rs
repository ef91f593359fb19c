//! The table of machines: which there are, and by which names and numbers they are known. A crate that
//! knows more of them has it in `src/arch/`, a file or folder for each, found by [`for_machine`].

use crate::registers::{self, RegisterTable};

// A macro that makes a macro has to be given the dollar sign.
macro_rules! machines {
    (($d:tt) $($machine:ident = $folder:ident, $name:literal, $elf:literal, $registers:ident, $doc:literal;)*) => {
        /// A machine whose code and stacks are known. All are 64-bit and little-endian.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Machine {
            $(#[doc = $doc] $machine,)*
        }

        impl Machine {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$machine),*];

            /// Its name in `uname -m`, as recordings have it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$machine => $name,)*
                }
            }

            /// Its number in ELF files (`e_machine`) and in jitdumps.
            pub const fn elf_number(self) -> u16 {
                match self {
                    $(Self::$machine => $elf,)*
                }
            }

            /// Its registers, as samples have them.
            pub const fn registers(self) -> &'static RegisterTable {
                match self {
                    $(Self::$machine => &registers::$registers::TABLE,)*
                }
            }

            /// The machine that runs this program.
            pub const fn native() -> Option<Self> {
                $(if cfg!(all(target_arch = $name, target_endian = "little")) {
                    return Some(Self::$machine);
                })*
                None
            }
        }

        /// Runs code for a machine, with the type that stands for it in `src/arch/` of the calling crate
        /// under a name of the caller's.
        #[expect(clippy::crate_in_macro_def, reason = "what a crate knows of machines is its own")]
        #[macro_export]
        macro_rules! for_machine {
            ($d machine:expr, $d arch:ident => $d run:expr) => {
                match $d machine {
                    $($crate::Machine::$machine => {
                        type $d arch = crate::arch::$folder::$machine;
                        $d run
                    })*
                }
            };
        }
    };
}

// Its file or folder in `src/arch/`, its name in `uname -m`, `EM_*`, and its file in `registers`.
machines! { ($)
    X86_64 = x86_64, "x86_64", 62, x86, "x86-64.";
    Aarch64 = aarch64, "aarch64", 183, arm64, "64-bit ARM.";
    Riscv64 = riscv64, "riscv64", 243, riscv, "64-bit RISC-V.";
}

impl Machine {
    /// The machine with this name in `uname -m`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|machine| machine.name() == name)
    }

    /// The machine with this number in ELF files.
    pub fn of_elf(number: u16) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|machine| machine.elf_number() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_found_by_their_names_and_numbers() {
        for &machine in Machine::ALL {
            assert_eq!(Machine::named(machine.name()), Some(machine));
            assert_eq!(Machine::of_elf(machine.elf_number()), Some(machine));
            let registers = RegisterTable::of(machine.name());
            assert_eq!(registers, Some(machine.registers()), "{machine:?}");
        }
        // 32-bit x86 and ARM, and no machine.
        for number in [3, 40, 0] {
            assert_eq!(Machine::of_elf(number), None);
        }
        assert_eq!(Machine::named("aarch64_be"), None);
    }
}
