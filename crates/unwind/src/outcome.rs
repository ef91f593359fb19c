//! Why a walk ended.

use rprof_base::StackEnd;

/// Why a walk along a stack ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// At the frame where the thread began: its return address is undefined by CFI or zero, or it
    /// is the program's entry point.
    Complete,
    /// Also there, but frame pointers led through code of this image, whose file is missing: where a
    /// function does not keep one, its caller is missing.
    Guessed {
        /// The caller's number of the image: the innermost.
        image: u32,
    },
    /// The stack is deeper than its dump.
    Truncated,
    /// What the frame says lies outside of the stack, although all of that was dumped.
    OffStack {
        /// The frame's address (AVMA).
        avma: u64,
    },
    /// Nothing describes the frames of this image's code at the address, and frame pointers lead
    /// nowhere.
    NoInfo {
        /// The caller's number of the image.
        image: u32,
        /// The address (AVMA).
        avma: u64,
    },
    /// A return address points to nothing that is mapped as code.
    Unmapped {
        /// The address (AVMA); not among those given out.
        avma: u64,
    },
    /// The caller's frame does not lie above its callee's.
    Loop,
    /// The image's description is damaged at this address, or needs what was not recorded.
    BadInfo {
        /// The caller's number of the image.
        image: u32,
        /// The address (AVMA).
        avma: u64,
    },
    /// There are more frames than were asked for.
    Full,
    /// No registers were recorded: a kernel thread, or a task that was going away.
    NoRegisters,
    /// A 32-bit task; its frames are not walked.
    ThirtyTwoBit,
}

impl Outcome {
    /// The same without where it was.
    pub fn end(self) -> StackEnd {
        match self {
            Self::Complete => StackEnd::Complete,
            Self::Guessed { .. } => StackEnd::Guess,
            Self::Truncated => StackEnd::Truncated,
            Self::OffStack { .. } => StackEnd::OffStack,
            Self::NoInfo { .. } => StackEnd::NoInfo,
            Self::Unmapped { .. } => StackEnd::Unmapped,
            Self::Loop => StackEnd::Loop,
            Self::BadInfo { .. } => StackEnd::BadInfo,
            Self::Full => StackEnd::MaxStack,
            Self::NoRegisters => StackEnd::NoRegisters,
            Self::ThirtyTwoBit => StackEnd::ThirtyTwoBit,
        }
    }

    /// The image to blame, by the caller's number.
    pub fn image(self) -> Option<u32> {
        match self {
            Self::Guessed { image } | Self::NoInfo { image, .. } | Self::BadInfo { image, .. } => {
                Some(image)
            }
            _ => None,
        }
    }

    /// Whether the stack is complete.
    pub fn is_complete(self) -> bool {
        self == Self::Complete
    }
}
