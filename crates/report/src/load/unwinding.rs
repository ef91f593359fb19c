//! User stacks that were recorded as copies (`perf record --call-graph dwarf`), unwound; and how
//! those ended that were unwound before.
//!
//! What an image says of its frames is read once, by the thread that first asks for it, and
//! shared by all; each thread walks with an [`Unwinding`] of its own. Every pass walks again:
//! to keep what was walked would take memory that grows with the recording, and a frame whose
//! rule is known costs less than the look-up of its name.

use super::Context;
use super::branch_calls;
use super::chain::{Missing, UserPart, UserStack};
use super::exact_chains;
use super::pieces::Pieces;
use super::resolve::Space;
use super::samples::Seen;
use foldhash::HashMap;
use rprof_abi::sample::StackDump;
use rprof_abi::{Callchain, Endian, SampleType, context as marker};
use rprof_base::StackEnd;
use rprof_base::{Avma, FileOffset};
use rprof_machine::{Epoch, ImageId, ImageKind, Place, RecordedImage};
use rprof_perfdata::{FeatureId, Reader, RecordedEvent};
use rprof_profile::{EndedStacks, Unwound};
use rprof_untrusted::OverBudget;
use rprof_unwind::{
    AddressSpace, Machine, Mapped, Outcome, Registers, Stack, StackFrame, TableError, UnwindTable,
    Unwinder,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// What all threads share: of each image, how its frames are left.
#[derive(Debug)]
pub(crate) struct Tables {
    machine: Machine,
    /// By number of the image.
    images: Vec<OnceLock<Described>>,
    /// Paths of images for which the budget had no room.
    refused: Mutex<BTreeSet<Vec<u8>>>,
}

impl Tables {
    /// For so many images; `None` if the recording has no stacks that could be unwound.
    pub(crate) fn of(reader: &Reader, n_images: usize) -> Option<Self> {
        if !reader.events().iter().any(has_stack) {
            return None;
        }
        Some(Self {
            machine: machine_of(reader)?,
            images: (0..n_images).map(|_| OnceLock::new()).collect(),
            refused: Mutex::default(),
        })
    }

    /// What is to be said of images for which the budget had no room.
    pub(crate) fn warnings(&self, most: u64) -> Vec<String> {
        let refused = self.refused.lock();
        let refused = refused.iter().flat_map(|refused| refused.iter());
        let warning = |path: &Vec<u8>| {
            let path = String::from_utf8_lossy(path);
            format!(
                "{path}: how it is unwound takes more memory than --mem {most}: stacks end in it"
            )
        };
        refused.map(warning).collect()
    }

    fn mapped(&self, context: &Context<'_>, id: ImageId, avma: Avma, at: FileOffset) -> Mapped<'_> {
        let slot = self.images.get(id.0 as usize);
        let table = match slot.map(|slot| slot.get_or_init(|| self.open(context, id))) {
            Some(Described::Image(table)) => Some(&**table),
            Some(Described::Log(pieces)) => pieces.table(at, || self.refuse(context, id)),
            Some(Described::Nowhere) | None => None,
        };
        match table {
            Some(table) => table.mapped(id.0, avma.0, at),
            None => {
                let recorded = context.skimmed.history.images().of(id);
                Mapped::Code {
                    image: id.0,
                    is_file: recorded.is_some_and(RecordedImage::is_file),
                }
            }
        }
    }

    fn open(&self, context: &Context<'_>, id: ImageId) -> Described {
        let image = context.skimmed.history.images().of(id);
        let Some(image) = image.filter(|image| image.kind == ImageKind::User) else {
            return Described::Nowhere;
        };
        let described = match image.is_code_log() {
            true => self.open_log(context, id, image),
            false => self.open_image(context, id, image),
        };
        described.unwrap_or_else(|error| {
            if error == TableError::Memory {
                self.refuse(context, id);
            }
            Described::Nowhere
        })
    }

    fn open_log(
        &self,
        context: &Context<'_>,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<Described, TableError> {
        let log = context.log_to_unwind(id, image);
        let log = log.ok_or(TableError::NoSection)?;
        let pieces = Pieces::of(log, self.machine, context.reader.budget());
        let pieces = pieces.map_err(|OverBudget| TableError::Memory)?;
        Ok(Described::Log(Box::new(pieces)))
    }

    fn open_image(
        &self,
        context: &Context<'_>,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<Described, TableError> {
        let located = context.locate_to_unwind(id, image);
        let located = located.map_err(|_| TableError::NoSection)?;
        let table = UnwindTable::of(&located.binary, located.debug.as_ref())?;
        if table.machine() != self.machine {
            return Err(TableError::Machine);
        }
        Ok(Described::Image(Box::new(table)))
    }

    fn refuse(&self, context: &Context<'_>, id: ImageId) {
        let image = context.skimmed.history.images().of(id);
        if let (Some(image), Ok(mut refused)) = (image, self.refused.lock()) {
            refused.insert(image.path.clone());
        }
    }
}

/// What is known of an image's frames.
#[derive(Debug)]
enum Described {
    Image(Box<UnwindTable>),
    /// By the log that the image is.
    Log(Box<Pieces>),
    Nowhere,
}

/// The machine whose stacks a recording holds; `None` if those are not walked.
fn machine_of(reader: &Reader) -> Option<Machine> {
    if reader.endian() != Endian::Little {
        return None;
    }
    match reader.feature_text(FeatureId::ARCH) {
        Some(name) => Machine::named(name.trim()),
        None => Machine::native(),
    }
}

/// What to say of a recording whose stacks are there, but cannot be unwound.
pub(crate) fn note(reader: &Reader) -> Option<String> {
    if !reader.events().iter().any(has_stack) || machine_of(reader).is_some() {
        return None;
    }
    let machine = reader.feature_text(FeatureId::ARCH);
    let machine = machine.as_deref().unwrap_or("this machine");
    Some(format!(
        "samples hold copies of user stacks, which are not unwound for {machine}: of user code \
         only where it was sampled is shown"
    ))
}

/// Whether samples of an event have what a walk begins with.
pub(crate) fn has_stack(event: &RecordedEvent) -> bool {
    let has = |bit| event.attr.sample_type.has(bit);
    has(SampleType::REGS_USER) && has(SampleType::STACK_USER)
}

/// The code of a process at one moment.
struct UserCode<'a> {
    context: &'a Context<'a>,
    tables: &'a Tables,
    epoch: Epoch,
}

impl AddressSpace for UserCode<'_> {
    fn number(&self) -> u32 {
        self.epoch.number()
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let place = self.context.skimmed.history.code(self.epoch, Avma(avma));
        let Place::User { image, offset } = place else {
            return Mapped::Nothing;
        };
        self.tables.mapped(self.context, image, Avma(avma), offset)
    }
}

/// One sample's user stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walked {
    frames: Range<usize>,
    missing: Missing,
    /// How it ended; `None` if there was nothing to unwind.
    pub(crate) end: Option<End>,
}

impl Walked {
    /// No frames, for a reason.
    fn nowhere(end: StackEnd) -> Self {
        Self {
            frames: 0..0,
            missing: missing(end),
            end: Some(End { end, image: None }),
        }
    }
}

/// How a stack ended, and in which image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(crate) end: StackEnd,
    pub(crate) image: Option<ImageId>,
}

/// One thread's walks.
#[derive(Default)]
pub(crate) struct Unwinding {
    unwinder: Option<Unwinder>,
    /// Frames of the samples at hand.
    frames: Vec<StackFrame>,
}

impl Unwinding {
    /// Forgets the frames of the samples before.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Walks the stack of a sample.
    #[inline]
    pub(crate) fn walk(&mut self, context: &Context<'_>, seen: &Seen<'_>, space: Space) -> Walked {
        if context.has_branch_calls || context.has_exact_chains {
            let start = self.frames.len();
            if self.take_recorded(context, seen).is_some() {
                return Walked {
                    frames: start..self.frames.len(),
                    missing: Missing::Nothing,
                    end: None,
                };
            }
        }
        match &context.tables {
            Some(tables) => self.walk_with(context, tables, seen, space.user()),
            None => {
                let ends = context.recorded_ends.as_ref();
                let (end, missing) = ends.and_then(|ends| ends.of_sample(seen)).unzip();
                Walked {
                    frames: 0..0,
                    missing: missing.unwrap_or_default(),
                    end,
                }
            }
        }
    }

    /// Takes the frames of a sample that needs no walk.
    fn take_recorded(&mut self, context: &Context<'_>, seen: &Seen<'_>) -> Option<()> {
        let frames = &mut self.frames;
        let calls = context
            .has_branch_calls
            .then(|| branch_calls::append_frames(context, seen, frames));
        calls.flatten().or_else(|| {
            let is_exact = context.has_exact_chains;
            is_exact.then(|| exact_chains::append_frames(context, seen, &mut self.frames))?
        })
    }

    /// Where the user part of a sample's chain is.
    #[inline]
    pub(crate) fn user_part<'c>(&'c self, seen: &Seen<'c>, walked: &Walked) -> UserStack<'c> {
        let frames = self.frames.get(walked.frames.clone()).unwrap_or_default();
        let part = match (frames, seen.deferred) {
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
        context: &Context<'_>,
        tables: &Tables,
        seen: &Seen<'_>,
        epoch: Epoch,
    ) -> Walked {
        let Some(sample) = context.whole(seen) else {
            return Walked::default();
        };
        let (Some(registers), Some(dump)) = (sample.regs_user, sample.stack_user) else {
            return Walked::default();
        };
        let registers = match Registers::of_sample(tables.machine, &registers) {
            Ok(registers) => registers,
            Err(outcome) => return Walked::nowhere(outcome.end()),
        };
        let has_user = |chain: Callchain<'_>| chain.entries().any(|entry| entry == marker::USER);
        if dump.stack().is_empty() && sample.callchain.is_some_and(has_user) {
            // What was recorded leads further than registers alone.
            return Walked::nowhere(StackEnd::NotCopied);
        }
        let code = UserCode {
            context,
            tables,
            epoch,
        };
        self.walk_copy(&code, &registers, dump)
    }

    fn walk_copy(
        &mut self,
        code: &UserCode<'_>,
        registers: &Registers,
        dump: StackDump<'_>,
    ) -> Walked {
        let bytes = dump.stack();
        let is_cut = bytes.len() >= dump.data.len();
        let stack = Stack::new(registers.sp().unwrap_or(0), bytes, is_cut);
        // A frame takes a word at least, but for signals that came on another stack.
        let possible = bytes.len() / 8 + SIGNALS;
        let wanted = code.context.chains.max_stack.unwrap_or(possible);
        let frames = &mut self.frames;
        let start = frames.len();
        let unwinder = self.unwinder.get_or_insert_default();
        let outcome = unwinder.walk(code, registers, stack, wanted.min(possible), |frame| {
            frames.push(frame);
        });
        let image = match outcome {
            Outcome::Rooted => None,
            _ if outcome.image().is_some() => outcome.image().map(ImageId),
            _ => frames.last().and_then(|last| code.image(*last)),
        };
        let end = match outcome {
            Outcome::Cut | Outcome::OffStack { .. } if bytes.is_empty() => StackEnd::NotCopied,
            _ => outcome.end(),
        };
        Walked {
            frames: start..frames.len(),
            missing: missing(end),
            end: Some(End { end, image }),
        }
    }
}

/// Signals that came during signals, each on a stack of its own.
const SIGNALS: usize = 64;

impl UserCode<'_> {
    fn image(&self, frame: StackFrame) -> Option<ImageId> {
        let avma = frame.code().lookup();
        match self.context.skimmed.history.place(self.epoch, avma) {
            Place::User { image, .. } => Some(image),
            _ => None,
        }
    }
}

/// Whether a stack that ended so has more frames than were found.
pub(crate) fn missing(end: StackEnd) -> Missing {
    match end {
        StackEnd::Rooted | StackEnd::Guess | StackEnd::MaxStack | StackEnd::NoRegisters => {
            Missing::Nothing
        }
        _ => Missing::Outermost,
    }
}

/// How stacks ended, counted.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    rooted: u64,
    others: HashMap<End, u64>,
}

impl Ends {
    /// Counts one stack.
    #[inline]
    pub(crate) fn add(&mut self, walked: &Walked) {
        match walked.end {
            None => {}
            Some(end) if end.end == StackEnd::Rooted => self.rooted += 1,
            Some(end) => *self.others.entry(end).or_default() += 1,
        }
    }

    /// Adds what another thread counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.rooted += other.rooted;
        for (end, samples) in other.others {
            *self.others.entry(end).or_default() += samples;
        }
    }

    /// By the names of images.
    pub(crate) fn named(&self, context: &Context<'_>) -> Unwound {
        let images = context.skimmed.history.images();
        let rooted = (self.rooted > 0).then_some(EndedStacks {
            end: StackEnd::Rooted,
            image: None,
            samples: self.rooted,
        });
        let others = self.others.iter().map(|(ended, &samples)| {
            let image = ended.image.and_then(|id| images.of(id));
            EndedStacks {
                end: ended.end,
                image: image.map(|one| String::from_utf8_lossy(&one.short_name()).into_owned()),
                samples,
            }
        });
        Unwound::of(rooted.into_iter().chain(others))
    }
}
