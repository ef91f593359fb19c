//! Why a stack has no more frames: one list for unwinding, for the file and for what is printed.

macro_rules! stack_ends {
    ($($(#[doc = $doc:literal])* $name:ident = $code:expr, $word:literal, $sentence:literal;)*) => {
        /// Why a stack has no more frames.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum StackEnd {
            $($(#[doc = $doc])* $name,)*
            /// For a reason that a newer rprof wrote: its number in the file.
            Other(u32),
        }

        impl StackEnd {
            /// All that have a name.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its number in rprof's section STACK_ENDS; `None` if it is not written.
            pub const fn code(self) -> Option<u32> {
                match self {
                    $(Self::$name => $code,)*
                    Self::Other(code) => Some(code),
                }
            }

            /// One word.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Other(_) => "other",
                }
            }

            /// What it means, for a list.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)*
                    Self::Other(_) => "unknown reason, written by a newer rprof",
                }
            }
        }
    };
}

stack_ends! {
    /// It is complete: the thread began there.
    Complete = None, "complete", "complete: up to the start of the thread";
    /// The thread began there, but frame pointers led through code that nothing describes: callers of
    /// functions that keep none are missing.
    Guess = Some(12), "guess",
        "by frame pointers alone, through code without unwind information";
    /// The same of a stack that does not reach where its thread began.
    PartialGuess = Some(13), "partial-guess",
        "by frame pointers alone, through code without unwind information, and not up to the start";
    /// The stack was deeper than its copy.
    Truncated = Some(1), "truncated", "truncated: the stack is deeper than its dump";
    /// There is no stack dump: the stack was not in memory, exec was replacing it, or the recorder too busy.
    NotCopied = Some(8), "no-dump",
        "no stack dump: not in memory, exec was replacing it, or the recorder had no time";
    /// Nothing describes the frames of the code.
    NoInfo = Some(3), "no-info", "no unwind information for the code";
    /// The description is damaged, or needs what was not recorded.
    BadInfo = Some(6), "bad-info",
        "damaged unwind information, or registers that were not recorded";
    /// A return address points to nothing that is mapped as code.
    Unmapped = Some(4), "unmapped", "a return address outside any code";
    /// A frame is not on this stack.
    OffStack = Some(2), "off-stack", "a frame that is not on the stack";
    /// A frame does not lie above its callee's.
    Loop = Some(5), "loop", "frames that form a loop";
    /// More frames were not asked for.
    MaxStack = None, "max-stack", "the frame limit was reached";
    /// There were more frames than a record holds: those in the middle are missing.
    Gap = Some(7), "gap", "frames missing in the middle: more than a record holds";
    /// Frames in the middle are missing, or all beyond those that are known: of a short wait, the stack is not read; of
    /// a long one, not all registers may be known.
    Hole = Some(11), "hole",
        "callers missing: the stack of a short wait is not read, or its registers are not all known";
    /// A 32-bit task.
    ThirtyTwoBit = Some(9), "32-bit", "a 32-bit task";
    /// A process whose mappings the recorder could not see: another user's, or protected.
    Unreadable = Some(10), "unreadable",
        "a process that could not be inspected: another user's, or protected";
    /// No user registers were recorded: a kernel thread, or a task on its way out.
    NoRegisters = None, "no-registers",
        "no user registers: kernel threads, tasks that ended";
}

impl StackEnd {
    /// That of a number in the file.
    pub fn of_code(code: u32) -> Self {
        let mut all = Self::ALL.iter();
        let known = all.find(|end| end.code() == Some(code));
        known.copied().unwrap_or(Self::Other(code))
    }

    /// The same of a stack in which frame pointers led through code that nothing describes: callers
    /// may be missing on the way.
    #[must_use]
    pub const fn guessed(self) -> Self {
        match self {
            Self::Complete | Self::MaxStack => Self::Guess,
            Self::Truncated
            | Self::NoInfo
            | Self::BadInfo
            | Self::Unmapped
            | Self::OffStack
            | Self::Loop => Self::PartialGuess,
            other => other,
        }
    }

    /// Whether callers may be missing on the way.
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::Guess | Self::PartialGuess)
    }

    /// Whether the code where it ended is what one wants to know.
    pub const fn lacks_info(self) -> bool {
        matches!(self, Self::NoInfo | Self::BadInfo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What frame pointers skipped is missing however the stack ends.
    #[test]
    fn a_stack_by_frame_pointers_is_a_guess_wherever_it_ends() {
        assert_eq!(StackEnd::Complete.guessed(), StackEnd::Guess);
        for end in [StackEnd::Truncated, StackEnd::NoInfo, StackEnd::OffStack] {
            assert_eq!(end.guessed(), StackEnd::PartialGuess);
            assert!(!end.is_guess() && end.guessed().is_guess());
        }
        // No frame was walked, or it is known where frames are missing.
        for end in [StackEnd::NotCopied, StackEnd::Gap, StackEnd::Hole] {
            assert_eq!(end.guessed(), end);
        }
    }

    #[test]
    fn numbers_and_names_are_of_one_end_each() {
        let codes: Vec<u32> = StackEnd::ALL.iter().filter_map(|end| end.code()).collect();
        let names: BTreeSet<&str> = StackEnd::ALL.iter().map(|end| end.name()).collect();
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
        assert_eq!(names.len(), StackEnd::ALL.len());
        for code in codes.into_iter().chain([0, 99]) {
            assert_eq!(StackEnd::of_code(code).code(), Some(code));
        }
    }
}
