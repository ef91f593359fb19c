//! Dumps of user stacks: how they are asked for, and how they are trimmed to what is in them.
//!
//! The kernel makes room in every record for the size that was asked for, however little stack there
//! is. So a dump is trimmed while it is copied out of the ring. The result is a valid record, as from a
//! kernel that was asked for just that much. A dump that holds all of its stack keeps 8 bytes more than
//! that, so that it is never taken for a truncated one.

use crate::control::DumpSize;
use crate::settings::{CallChains, SampleFields};
use rprof_abi::Machine;
use rprof_abi::registers::RegisterTable;
use rprof_abi::sample::StackDump;
use rprof_abi::{AttrFlags, PerfEventAttr, RecordHeader, SampleLayout, SampleType};
use rprof_events::{Callers, Event};
use std::env::consts::ARCH;

/// What most samples need. A larger size costs room in the rings, a smaller one more time with
/// [`LARGE_BYTES`].
pub(crate) const SMALL_BYTES: u32 = 16 << 10;

/// What most samples of hits need: small enough for thousands of them in a ring.
const SMALL_BYTES_OF_HITS: u32 = 4 << 10;

/// Hits of an event, of which each is a sample or nearly each: they may come as fast as a program runs.
const MOST_HITS_A_SAMPLE: u64 = 16;

/// Whether an event samples hits, and not at a rate.
pub(crate) fn is_of_hits(attr: &PerfEventAttr) -> bool {
    let is_frequency = attr.flags.has(AttrFlags::FREQ);
    // A group's leader takes the samples of those that have a period of 0.
    !is_frequency && attr.sample_period <= MOST_HITS_A_SAMPLE
}

/// The sizes of dumps that are large, as large as can be, or small, as stacks need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DumpSizes {
    /// Bytes of the small ones.
    pub(crate) small_bytes: u32,
    /// Which are on at first.
    pub(crate) first: DumpSize,
}

impl DumpSizes {
    /// Where samples come at a frequency.
    pub(crate) const OF_CLOCKS: Self = Self {
        small_bytes: SMALL_BYTES,
        first: DumpSize::Large,
    };

    /// Where hits are sampled.
    pub(crate) const OF_HITS: Self = Self {
        small_bytes: SMALL_BYTES_OF_HITS,
        first: DumpSize::Small,
    };
}

/// The most that can be asked for: a record's size has 16 bits.
pub const LARGE_BYTES: u32 = 65_528;

/// What is kept of each dump while the writer does not keep up.
pub(crate) const REDUCED_BYTES: usize = 4 << 10;

/// What this machine can do of what was asked for. Where stacks cannot be walked, the kernel follows frame
/// pointers.
pub(crate) fn possible(chains: CallChains) -> CallChains {
    let is_kept = matches!(chains, CallChains::Dwarf { keep: true, .. });
    let can_dump = RegisterTable::of(ARCH).is_some();
    let can_walk = Machine::native().is_some();
    match size_of(chains) {
        Some(_) if !can_dump || !can_walk && !is_kept => CallChains::FramePointers,
        _ => chains,
    }
}

/// How callers of an event are recorded: as it says, or as for all.
pub(crate) fn of_event(event: &Event, of_all: CallChains) -> CallChains {
    possible(match event.callers {
        None => of_all,
        Some(Callers::Auto) => CallChains::Auto,
        Some(Callers::Dwarf { bytes }) => CallChains::Dwarf {
            bytes: bytes.unwrap_or(LARGE_BYTES),
            keep: of_all.keeps_dumps(),
        },
        Some(Callers::FramePointers) => CallChains::FramePointers,
        Some(Callers::BranchRecords) => CallChains::BranchRecords,
        Some(Callers::No) => CallChains::None,
    })
}

/// Bytes of stack that are asked for at first; `None` if stacks are not dumped.
pub(crate) fn size_of(chains: CallChains) -> Option<u32> {
    match chains {
        CallChains::Auto => Some(LARGE_BYTES),
        CallChains::Dwarf { bytes, .. } => Some(bytes),
        CallChains::FramePointers | CallChains::BranchRecords | CallChains::None => None,
    }
}

/// Room for chains, raw data and registers beside a dump.
const OTHERS_BYTES: u32 = 8 << 10;

/// The largest dumps that go with other fields. The kernel makes a dump fit into its record, but forgets the
/// registers that come after it (perf_prepare_sample in kernel/events/core.c, v6.18): what is too long then is
/// no record any more.
pub(crate) fn most_bytes(fields: &SampleFields) -> u32 {
    match fields.registers {
        0 => LARGE_BYTES,
        _ => LARGE_BYTES - OTHERS_BYTES,
    }
}

/// The user part of the kernel's own chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserChain {
    /// What frame pointers tell.
    Included,
    Excluded,
}

/// Asks for kernel chains, user registers and a stack dump of this size with every sample.
pub(crate) fn ask_for(attr: &mut PerfEventAttr, bytes: u32, user_chain: UserChain) {
    attr.sample_type = attr
        .sample_type
        .with(SampleType::CALLCHAIN)
        .with(SampleType::REGS_USER)
        .with(SampleType::STACK_USER);
    if user_chain == UserChain::Excluded {
        attr.flags = attr.flags.with(AttrFlags::EXCLUDE_CALLCHAIN_USER);
    }
    attr.sample_regs_user |= RegisterTable::of(ARCH).map_or(0, |table| table.user_mask);
    attr.sample_stack_user = bytes;
}

/// The attr of samples that were unwound: complete chains, no stacks, and only those registers that were
/// asked for.
pub(crate) fn unwound(attr: &PerfEventAttr, user_registers: u64) -> PerfEventAttr {
    let mut attr = attr.clone();
    attr.sample_type = attr.sample_type.without(SampleType::STACK_USER);
    if user_registers == 0 {
        attr.sample_type = attr.sample_type.without(SampleType::REGS_USER);
    }
    attr.flags = attr.flags.without(AttrFlags::EXCLUDE_CALLCHAIN_USER);
    (attr.sample_regs_user, attr.sample_stack_user) = (user_registers, 0);
    attr
}

/// How much of a dump there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Full,
    Reduced,
    Nothing,
}

/// What became of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All that the kernel copied.
    All,
    /// Some of it.
    Some,
    /// Nothing.
    Nothing,
}

/// Appends a sample with its dump trimmed. A record without a dump is appended as it is.
pub(crate) fn append_trimmed(
    record: &[u8],
    layout: &SampleLayout,
    room: Room,
    out: &mut Vec<u8>,
) -> Kept {
    let body = record.get(RecordHeader::LEN..).unwrap_or_default();
    let sample = layout.parse_sample(body).ok();
    let Some(stack) = sample.and_then(|sample| sample.stack_user) else {
        out.extend_from_slice(record);
        return Kept::All;
    };
    let copied = stack.stack().len() & !7;
    let most = match room {
        Room::Full => usize::MAX,
        Room::Reduced => REDUCED_BYTES,
        Room::Nothing => 0,
    };
    let keep = copied.min(most);
    let is_truncated = keep < copied || copied >= stack.data.len();
    let Some((before, after)) = around(record, &stack) else {
        out.extend_from_slice(record);
        return Kept::All;
    };
    let start = out.len();
    out.extend_from_slice(before);
    let room_for = if is_truncated { keep } else { keep + 8 };
    out.extend_from_slice(&(room_for as u64).to_ne_bytes());
    if room_for > 0 {
        out.extend_from_slice(&stack.data[..keep]);
        out.extend_from_slice(&[0; 8][..room_for - keep]);
        out.extend_from_slice(&(keep as u64).to_ne_bytes());
    }
    out.extend_from_slice(after);
    let len = u16::try_from(out.len() - start).unwrap_or(u16::MAX);
    let size = out.get_mut(start + 6..start + 8);
    if let Some(size) = size {
        size.copy_from_slice(&len.to_ne_bytes());
    }
    match (keep, copied) {
        (keep, copied) if keep == copied => Kept::All,
        (0, _) => Kept::Nothing,
        _ => Kept::Some,
    }
}

/// The dump of switches whose stacks are read later: the smallest there is.
pub(crate) const NO_STACK_BYTES: u32 = 8;

/// A sample with another dump in place of its own; `None` if it has none, or if that is too much for a record. A whole
/// stack keeps 8 bytes more, as above.
pub(crate) fn with_dump(
    record: &[u8],
    layout: &SampleLayout,
    dump: &[u8],
    is_whole: bool,
) -> Option<Vec<u8>> {
    let sample = layout.parse_sample(record.get(RecordHeader::LEN..)?).ok()?;
    let (before, after) = around(record, &sample.stack_user?)?;
    let padding = if is_whole { 8 } else { 0 };
    let mut out = Vec::with_capacity(record.len() + dump.len() + 24);
    out.extend_from_slice(before);
    out.extend_from_slice(&((dump.len() + padding) as u64).to_ne_bytes());
    out.extend_from_slice(dump);
    out.extend_from_slice(&[0; 8][..padding]);
    out.extend_from_slice(&(dump.len() as u64).to_ne_bytes());
    out.extend_from_slice(after);
    let len = u16::try_from(out.len()).ok()?;
    out.get_mut(6..8)?.copy_from_slice(&len.to_ne_bytes());
    Some(out)
}

/// What comes before and after a dump in its record.
fn around<'r>(record: &'r [u8], stack: &StackDump<'_>) -> Option<(&'r [u8], &'r [u8])> {
    // Its size, its bytes, how many of them count (only if there are any).
    let at = stack.data.as_ptr().addr() - record.as_ptr().addr();
    let count_bytes = if stack.data.is_empty() { 0 } else { 8 };
    let before = record.get(..at.checked_sub(8)?)?;
    Some((before, record.get(at + stack.data.len() + count_bytes..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{Encoder, Endian, Misc, RawRecord, RecordKind, Sample};

    fn attr() -> PerfEventAttr {
        let mut attr = PerfEventAttr {
            sample_type: SampleType::IDENTIFIER.with(SampleType::IP),
            ..PerfEventAttr::default()
        };
        ask_for(&mut attr, SMALL_BYTES, UserChain::Excluded);
        attr.sample_type = attr
            .sample_type
            .without(SampleType::REGS_USER)
            .without(SampleType::CALLCHAIN)
            .with(SampleType::DATA_SRC)
            .with(SampleType::CODE_PAGE_SIZE);
        attr
    }

    fn record(layout: &SampleLayout, size: usize, dyn_size: u64) -> Vec<u8> {
        let data: Vec<u8> = (0..size).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let sample = Sample {
            id: Some(7),
            ip: Some(9),
            stack_user: Some(StackDump {
                data: &data,
                dyn_size,
            }),
            data_src: Some(11),
            code_page_size: Some(4096),
            ..Sample::default()
        };
        let mut body = Vec::new();
        layout.encode_sample(&sample, &mut Encoder::new(&mut body, Endian::NATIVE));
        let mut record = Vec::new();
        let raw = RawRecord {
            kind: RecordKind::SAMPLE,
            misc: Misc::USER,
            body: &body,
        };
        raw.encode(&mut record, Endian::NATIVE).unwrap();
        record
    }

    #[test]
    fn dumps_are_trimmed_to_what_is_in_them_and_still_read_as_complete_or_truncated() {
        let layout = SampleLayout::new(&attr(), Endian::NATIVE);
        // Size, bytes that count, room; what is kept of them, and whether more is told to be.
        let cases = [
            (16384, 3000, Room::Full, 3000, false, Kept::All),
            (16384, 16384, Room::Full, 16384, true, Kept::All),
            (16384, 10000, Room::Reduced, 4096, true, Kept::Some),
            (16384, 4096, Room::Reduced, 4096, false, Kept::All),
            (16384, 10000, Room::Nothing, 0, true, Kept::Nothing),
            (16384, 0, Room::Full, 0, false, Kept::All),
            (0, 0, Room::Full, 0, true, Kept::All),
        ];
        for (size, dyn_size, room, kept, is_truncated, expected) in cases {
            let mut out = vec![1, 2, 3];
            let record = record(&layout, size, dyn_size);
            assert_eq!(append_trimmed(&record, &layout, room, &mut out), expected);
            let raw = RawRecord::parse(&out[3..], Endian::NATIVE).unwrap();
            let sample = layout.parse_sample(raw.body).unwrap();
            let stack = sample.stack_user.unwrap();
            assert_eq!((sample.id, sample.ip), (Some(7), Some(9)));
            let after = (sample.data_src, sample.code_page_size);
            assert_eq!(after, (Some(11), Some(4096)));
            assert_eq!(stack.stack().len(), kept, "{size} {dyn_size} {room:?}");
            assert_eq!(stack.stack().len() >= stack.data.len(), is_truncated);
            assert!(
                stack
                    .stack()
                    .iter()
                    .zip(0usize..)
                    .all(|(&byte, n)| usize::from(byte) == n % 251)
            );
        }
    }

    #[test]
    fn unwound_samples_have_chains_and_nothing_of_the_stack() {
        let mut asked = PerfEventAttr::default();
        ask_for(&mut asked, LARGE_BYTES, UserChain::Included);
        let written = unwound(&asked, 0);
        assert_eq!(written.sample_type, SampleType::CALLCHAIN);
        assert_eq!(
            (written.sample_regs_user, written.sample_stack_user),
            (0, 0)
        );
        assert!(!written.flags.has(AttrFlags::EXCLUDE_CALLCHAIN_USER));
        let with_ip = unwound(&asked, 1 << 8);
        assert!(with_ip.sample_type.has(SampleType::REGS_USER));
        assert_eq!(with_ip.sample_regs_user, 1 << 8);
    }
}
