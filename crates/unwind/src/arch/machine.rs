//! The table of machines: a new one is its folder and one line here.

use rprof_images::ElfMachine;

// A macro that makes a macro has to be given the dollar sign.
macro_rules! machines {
    (($d:tt) $($machine:ident = $name:literal, $folder:ident, $doc:literal;)*) => {
        /// A machine whose stacks can be walked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Machine {
            $(#[doc = $doc] $machine,)*
        }

        impl Machine {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$machine),*];

            /// The machine with this name in `uname -m`, as recordings have it.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$machine),)*
                    _ => None,
                }
            }

            /// The machine that runs this program.
            pub const fn native() -> Option<Self> {
                $(if cfg!(all(target_arch = $name, target_endian = "little")) {
                    return Some(Self::$machine);
                })*
                None
            }

            /// The same, as ELF files say it.
            pub(crate) const fn elf(self) -> ElfMachine {
                match self {
                    $(Self::$machine => ElfMachine::$machine,)*
                }
            }
        }

        /// Runs code for a machine; its [`Arch`](crate::arch::Arch) has a name of the caller's in it.
        macro_rules! for_machine {
            ($d machine:expr, $d arch:ident => $d run:expr) => {
                match $d machine {
                    $($crate::arch::Machine::$machine => {
                        type $d arch = $crate::arch::$folder::$machine;
                        $d run
                    })*
                }
            };
        }
        pub(crate) use for_machine;
    };
}

// Its name in ELF files, in `uname -m`, and its folder.
machines! { ($)
    X86_64 = "x86_64", x86_64, "x86-64.";
    Aarch64 = "aarch64", aarch64, "64-bit ARM, little-endian.";
}

impl Machine {
    /// The machine that an ELF file is for.
    pub(crate) fn of_elf(elf: ElfMachine) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|machine| machine.elf() == elf)
    }
}
