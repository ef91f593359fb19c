//! The user part of each sample's stack: as it was recorded, of branch records, or unwound from its stack dump.
//!
//! Each thread walks with a [`StackWalker`] of its own. Every pass walks again: to keep what was walked would take
//! memory that grows with the recording, and a frame whose rule is known costs less than the look-up of its name.

use super::chain::{UserPart, UserStack};
use super::ends::{EndInImage, Missing, missing};
use super::sources::StackSources;
use super::unwind_tables::UnwindTables;
use super::{call_addresses, lbr};
use crate::locations::Mappings;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_base::{Avma, StackEnd};
use rprof_machine::{AddressLocation, Epoch, ImageId};
use rprof_unwind::{
    AddressSpace, Mapped, Outcome, RegisterSet, SampledStack, StackFrame, Unwinder, user_part,
};
use std::ops::Range;

/// The code of a process at one moment.
struct UserCode<'a> {
    recording: &'a Recording<'a>,
    tables: &'a UnwindTables,
    epoch: Epoch,
}

impl AddressSpace for UserCode<'_> {
    fn number(&self) -> u32 {
        self.epoch.number()
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let location = self
            .recording
            .index
            .history
            .resolve_code(self.epoch, Avma(avma));
        let AddressLocation::User { image, offset } = location else {
            return Mapped::Nothing;
        };
        self.tables
            .mapped(self.recording, image, Avma(avma), offset)
    }
}

/// One sample's user stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkedStack {
    frames: Range<usize>,
    missing: Missing,
    /// How it ended; `None` if there was nothing to unwind.
    pub(crate) end: Option<EndInImage>,
}

impl WalkedStack {
    /// No frames, for a reason.
    fn nowhere(end: StackEnd) -> Self {
        Self {
            frames: 0..0,
            missing: missing(end),
            end: Some(EndInImage { end, image: None }),
        }
    }
}

/// One thread's walks.
#[derive(Debug, Default)]
pub(crate) struct StackWalker {
    unwinder: Option<Unwinder>,
    /// Frames of the samples at hand.
    frames: Vec<StackFrame>,
}

impl StackWalker {
    /// Forgets the frames of the samples before.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Walks the stack of a sample.
    #[inline]
    pub(crate) fn walk(
        &mut self,
        sources: &StackSources<'_>,
        decoded: &DecodedSample<'_>,
        mappings: Mappings,
    ) -> WalkedStack {
        if sources.has_branch_calls || sources.has_call_addresses {
            let start = self.frames.len();
            if self.take_recorded(sources, decoded).is_some() {
                return WalkedStack {
                    frames: start..self.frames.len(),
                    missing: Missing::Nothing,
                    end: None,
                };
            }
        }
        match &sources.tables {
            Some(tables) => self.walk_with(sources, tables, decoded, mappings.user()),
            None => {
                let ends = sources.recorded_ends.as_ref();
                let (end, missing) = ends.and_then(|ends| ends.of_sample(decoded)).unzip();
                WalkedStack {
                    frames: 0..0,
                    missing: missing.unwrap_or_default(),
                    end,
                }
            }
        }
    }

    /// Takes the frames of a sample that needs no walk.
    fn take_recorded(
        &mut self,
        sources: &StackSources<'_>,
        decoded: &DecodedSample<'_>,
    ) -> Option<()> {
        let frames = &mut self.frames;
        let calls = sources
            .has_branch_calls
            .then(|| lbr::append_frames(sources.recording, decoded, frames));
        calls.flatten().or_else(|| {
            let is_exact = sources.has_call_addresses;
            is_exact.then(|| {
                call_addresses::append_frames(sources.recording, decoded, &mut self.frames)
            })?
        })
    }

    /// Where the user part of a sample's chain is.
    #[inline]
    pub(crate) fn user_part<'c>(
        &'c self,
        decoded: &DecodedSample<'c>,
        walked: &WalkedStack,
    ) -> UserStack<'c> {
        let frames = self.frames.get(walked.frames.clone()).unwrap_or_default();
        let part = match (frames, decoded.deferred) {
            ([], Some(chain)) => UserPart::Later(chain),
            ([], None) => UserPart::Recorded,
            _ => UserPart::Unwound(frames),
        };
        UserStack {
            part,
            missing: walked.missing,
        }
    }

    fn walk_with(
        &mut self,
        sources: &StackSources<'_>,
        tables: &UnwindTables,
        decoded: &DecodedSample<'_>,
        epoch: Epoch,
    ) -> WalkedStack {
        let Some(sample) = decoded.all_fields(sources.recording.reader) else {
            return WalkedStack::default();
        };
        let Some(stack) = SampledStack::from_sample(&sample) else {
            return WalkedStack::default();
        };
        let registers = match stack.registers(tables.machine) {
            Ok(registers) => registers,
            Err(outcome) => return WalkedStack::nowhere(outcome.end()),
        };
        if stack.bytes.is_empty() && user_part(sample.callchain.as_ref()).is_some() {
            // What was recorded leads further than registers alone.
            return WalkedStack::nowhere(StackEnd::NotCopied);
        }
        let code = UserCode {
            recording: sources.recording,
            tables,
            epoch,
        };
        self.walk_dump(&code, (&registers, &stack), sources.chains.max_stack)
    }

    fn walk_dump(
        &mut self,
        code: &UserCode<'_>,
        (registers, stack): (&RegisterSet, &SampledStack<'_>),
        max_stack: Option<usize>,
    ) -> WalkedStack {
        // A frame takes a word at least, but for signals that came on another stack.
        let possible = stack.bytes.len() / 8 + SIGNALS;
        let wanted = max_stack.unwrap_or(possible);
        let frames = &mut self.frames;
        let start = frames.len();
        let unwinder = self.unwinder.get_or_insert_default();
        let (bytes, most) = (stack.bytes, wanted.min(possible));
        let stack = stack.stack_from(registers.sp().unwrap_or(0));
        let outcome = unwinder.walk(code, registers, stack, most, |frame| {
            frames.push(frame);
        });
        let guessed = unwinder.guessed();
        let image = match outcome {
            _ if guessed.is_some() => guessed.map(ImageId),
            Outcome::Complete => None,
            _ if outcome.image().is_some() => outcome.image().map(ImageId),
            _ => frames.last().and_then(|last| code.image(*last)),
        };
        let end = outcome.end_in_dump(bytes);
        let end = guessed.map_or(end, |_| end.guessed());
        WalkedStack {
            frames: start..frames.len(),
            missing: missing(end),
            end: Some(EndInImage { end, image }),
        }
    }
}

/// Signals that came during signals, each on a stack of its own.
const SIGNALS: usize = 64;

impl UserCode<'_> {
    fn image(&self, frame: StackFrame) -> Option<ImageId> {
        let avma = frame.code().lookup();
        match self.recording.index.history.resolve(self.epoch, avma) {
            AddressLocation::User { image, .. } => Some(image),
            _ => None,
        }
    }
}
