//! The stacks of calls, each once, as names of functions: so they mean the same in recordings that follow each other.

use foldhash::fast::RandomState;
use rprof_analysis::SyscallStack;
use rprof_base::Interner;
use rprof_untrusted::Untrusted;

/// Stacks by number.
#[derive(Debug, Default)]
pub(crate) struct CallStacks {
    functions: Interner<u32, String, RandomState>,
    /// Numbers of functions, innermost first.
    stacks: Interner<u32, Box<[u32]>, RandomState>,
    /// Of the stack at hand.
    frames: Vec<u32>,
}

/// Number of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallStackId(u32);

/// Stacks that are told apart: what comes then is one.
const MOST_STACKS: usize = 1 << 16;

/// Frames that are told apart, innermost first.
const MOST_FRAMES: usize = 127;

/// Functions that are told apart.
const MOST_FUNCTIONS: usize = 1 << 18;

/// Stands for what has no room.
const OTHERS: &str = "[others]";

impl CallStacks {
    /// The number of a stack; `None` of none.
    pub(crate) fn number(&mut self, stack: SyscallStack<'_>) -> Option<CallStackId> {
        if stack.is_empty() {
            return None;
        }
        self.frames.clear();
        let Self {
            functions, frames, ..
        } = self;
        stack.for_each_function(&mut |name| {
            if frames.len() >= MOST_FRAMES {
                return;
            }
            let name = name.into_raw();
            let known = functions.find(name.as_str());
            let number = match known {
                Some(number) => number,
                None if functions.len() < MOST_FUNCTIONS => functions.intern(name),
                None => functions.intern(OTHERS.to_owned()),
            };
            frames.push(number);
        });
        if self.stacks.len() >= MOST_STACKS && self.stacks.find(self.frames.as_slice()).is_none() {
            self.frames.clear();
            self.frames.push(self.functions.intern(OTHERS.to_owned()));
        }
        Some(CallStackId(self.stacks.intern_ref(self.frames.as_slice())))
    }

    /// The names of a stack's functions, innermost first.
    pub(crate) fn functions(&self, stack: CallStackId) -> impl Iterator<Item = Untrusted<&str>> {
        let frames = self.stacks.get(stack.0).map_or(&[][..], |frames| frames);
        let names = frames.iter().filter_map(|&frame| self.functions.get(frame));
        names.map(|name| Untrusted::new(name.as_str()))
    }
}
