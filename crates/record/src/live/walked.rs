//! The user part of a sample's stack, walked, or taken as it is.

use super::address_space::LiveSpace;
use super::deep_stack::{Recovered, TruncatedStack};
use super::goroutine::{self, Goroutine};
use super::lost_frame_pointer::{self, Completed};
use super::parts::innermost_frame;
use super::walk::WalkContext;
use super::{DeepStacks, LiveUnwinder};
use crate::control::StackCare;
use crate::opening::stack_dump::REDUCED_BYTES;
use rprof_abi::Sample;
use rprof_base::Avma;
use rprof_machine::AddressLocation;
use rprof_unwind::{DumpEnd, Outcome, SampledStack, StackFrame, user_part};

/// A sample's stack, walked into frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    pub(super) outcome: Outcome,
    /// How many frames come before others that are missing.
    pub(super) n_before_gap: Option<usize>,
}

impl Walked {
    /// Without a gap.
    pub(super) fn to(outcome: Outcome) -> Self {
        Self {
            outcome,
            n_before_gap: None,
        }
    }

    /// Truncated by a gap.
    pub(super) fn to_gap(n_before_gap: usize) -> Self {
        Self {
            outcome: Outcome::Truncated,
            n_before_gap: Some(n_before_gap),
        }
    }
}

impl LiveUnwinder {
    /// Finds the user part of a sample's stack; `None` if it has none.
    pub(super) fn walk(&mut self, event: usize, sample: &Sample<'_>) -> Option<Walked> {
        let is_blocked = self.settings.blocked.get(event).copied().unwrap_or(false);
        let (pid, time_ns) = (sample.pid.unwrap_or(-1), sample.time_ns.unwrap_or(0));
        let epoch = self.live.epoch(pid, time_ns);
        let sampled = SampledStack::from_sample(sample)?;
        let mut registers = match sampled.registers(self.settings.machine) {
            Ok(registers) => registers,
            Err(Outcome::NoRegisters) => return None,
            Err(outcome) => {
                let frame = innermost_frame(sample.regs_user.as_ref()?)?;
                let at = self.live.resolve(epoch, Avma(frame.avma));
                if let AddressLocation::User { image, .. } = at
                    && let Some(image) = self.live.images().of(image)
                {
                    self.tables.enter(image);
                }
                self.frames.push(frame);
                return Some(Walked::to(outcome));
            }
        };
        self.tables.make_room(self.live.images().len());
        let space = LiveSpace {
            live: &self.live,
            tables: &self.tables,
            code: &self.code,
            jitdump: self.jitdumps.read_until(pid, time_ns, epoch),
            epoch,
            pid,
        };
        let SampledStack { bytes, end, .. } = sampled;
        let start = registers.sp().unwrap_or(0);
        if is_blocked {
            registers.keep_stack_pointer();
        }
        let mut context = WalkContext {
            unwinder: &mut self.unwinder,
            space: &space,
            registers: &registers,
        };
        let outcome = context.walk(sampled.stack_from(start), &mut self.frames);
        self.guessed = context.unwinder.guessed();
        self.statistics.walked += 1;
        let (reach, small) = (
            context.unwinder.reach(),
            u64::from(self.settings.small_dump_bytes),
        );
        self.statistics.large += u64::from(reach > small);
        self.statistics.half_large += u64::from(reach > small / 2);
        if is_blocked && !outcome.is_complete() {
            let completed = lost_frame_pointer::complete(
                context.unwinder,
                (&space, registers),
                (sampled.stack_from(start), bytes, start),
                &mut self.frames,
            );
            match completed {
                Some(Completed::Proved) => return Some(Walked::to(Outcome::Complete)),
                Some(Completed::Guessed { image }) => {
                    return Some(Walked::to(Outcome::Guessed { image }));
                }
                // Not the image's fault: the kernel says only where a thread waits and where its stack is.
                None if matches!(outcome, Outcome::BadInfo { .. }) && !self.frames.is_empty() => {
                    return Some(Walked::to_gap(self.frames.len()));
                }
                None => {}
            }
        }
        if let Outcome::OffStack { .. } = outcome {
            let n_inner = self.frames.len();
            let call_before = |avma| {
                self.deep_stacks
                    .call_before(self.settings.machine, &space, avma)
            };
            let user = user_part(sample.callchain.as_ref());
            let by_frame_pointers: Vec<u64> = user.into_iter().flatten().collect();
            match goroutine::append(&space, &by_frame_pointers, call_before, &mut self.frames) {
                Some(Goroutine::Complete) => return Some(Walked::to(Outcome::Complete)),
                Some(Goroutine::WithoutInnermost) => return Some(Walked::to_gap(n_inner)),
                None => {}
            }
        }
        let goes_on = match outcome {
            // So small a dump was reduced here: the kernel would not give more.
            Outcome::Truncated if end == DumpEnd::Cut && bytes.len() <= REDUCED_BYTES => false,
            Outcome::Truncated => {
                self.statistics.truncated += 1;
                true
            }
            // The kernel stops copying at a page that nobody has written to yet.
            Outcome::OffStack { .. } => !bytes.is_empty(),
            _ => false,
        };
        let is_left = self.settings.deep_stacks == DeepStacks::LeftTruncated;
        if is_left || self.care != StackCare::Full || !goes_on {
            return Some(Walked::to(outcome));
        }
        let truncated = TruncatedStack {
            pid,
            tid: sample.tid.unwrap_or(pid),
            time_ns,
            clock: self.settings.clock,
            start,
            dump: bytes,
        };
        let recovered = self
            .deep_stacks
            .recover(&mut context, truncated, &mut self.frames);
        if recovered != Recovered::Unknown && outcome != Outcome::Truncated {
            // There is more of it than was dumped: it is polled as often as a truncated one.
            self.statistics.truncated += 1;
        }
        Some(match recovered {
            Recovered::Complete => {
                self.ends.completed();
                Walked::to(Outcome::Complete)
            }
            Recovered::Gap { n_inner } => Walked::to_gap(n_inner),
            Recovered::Truncated => Walked::to(Outcome::Truncated),
            Recovered::Unknown => Walked::to(outcome),
        })
    }

    /// Takes the innermost frame, before a gap in place of its callers.
    pub(super) fn take_innermost(&mut self, sample: &Sample<'_>) -> Option<usize> {
        self.frames
            .push(innermost_frame(sample.regs_user.as_ref()?)?);
        Some(1)
    }

    /// Takes what frame pointers tell, or where the sample is; `None` if it has no user part.
    pub(super) fn take_as_it_is(&mut self, sample: &Sample<'_>) -> Option<Walked> {
        let innermost = innermost_frame(sample.regs_user.as_ref()?)?;
        self.frames.push(innermost);
        let user = user_part(sample.callchain.as_ref());
        let callers = user.into_iter().flatten().skip(1);
        self.frames.extend(callers.map(|avma| StackFrame {
            avma,
            is_return: true,
            ..innermost
        }));
        Some(Walked::to(Outcome::Truncated))
    }
}
