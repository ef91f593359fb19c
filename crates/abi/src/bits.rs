//! The macro that makes the kernel's bit sets.

/// Defines a newtype over `u64` whose known bits have names; unknown bits are carried along.
macro_rules! bit_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$bit_doc:meta])* $bit:ident = $at:expr, $kernel:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub u64);

        impl $name {
            $($(#[$bit_doc])* pub const $bit: Self = Self(1 << $at);)*

            /// Every known bit with the kernel's name for it, lowest bit first.
            pub const NAMES: &[(u64, &'static str)] = &[$((Self::$bit.0, $kernel)),*];

            /// The word with the names of its bits.
            pub const fn value(self) -> crate::Value<'static> {
                crate::Value::Bits { value: self.0, names: Self::NAMES }
            }

            /// Whether all bits of `other` are set.
            #[inline]
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// These bits and those of `other`.
            #[inline]
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// These bits without those of `other`.
            #[inline]
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut rest = self.0;
                let mut sep = "";
                for &(bit, name) in Self::NAMES {
                    if self.0 & bit != 0 {
                        write!(f, "{sep}{name}")?;
                        sep = "|";
                        rest &= !bit;
                    }
                }
                if rest != 0 || sep.is_empty() {
                    write!(f, "{sep}{rest:#x}")?;
                }
                Ok(())
            }
        }
    };
}

pub(crate) use bit_set;
