//! Addresses of code in call chains: where something runs, or where a call returns to.

use crate::Avma;

/// An address of code, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeAddress {
    /// A program counter: that of a sample, or of what a signal interrupted.
    Pc(Avma),
    /// A return address. The call is before it, and may be the last instruction of its function.
    Return(Avma),
}

impl CodeAddress {
    /// An address that is one a call returns to, or is not.
    #[inline]
    pub const fn new(avma: Avma, is_return: bool) -> Self {
        if is_return {
            Self::Return(avma)
        } else {
            Self::Pc(avma)
        }
    }

    /// The address to look up: within the instruction that runs, or that calls.
    #[inline]
    pub const fn lookup(self) -> Avma {
        match self {
            Self::Pc(avma) => avma,
            Self::Return(avma) => Avma(avma.0.wrapping_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_looked_up_within_their_call() {
        assert_eq!(CodeAddress::Pc(Avma(8)).lookup(), Avma(8));
        assert_eq!(CodeAddress::Return(Avma(8)).lookup(), Avma(7));
    }
}
