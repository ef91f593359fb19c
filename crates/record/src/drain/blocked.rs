//! What /proc says of a thread that waits, where the kernel takes no samples of switches: the system call, the
//! function of the kernel that it waits in, and where it is in user space. Of this, the sample is made that the kernel
//! would have taken.

use crate::drain::waited_files::{Descriptor, ProcCalls, hex};
use foldhash::HashMap;
use rprof_abi::record::{Ksymbol, Record};
use rprof_abi::registers::{RegisterTable, Registers};
use rprof_abi::sample::{StackDump, context};
use rprof_abi::{
    Callchain, Encoder, Endian, Misc, RawRecord, RecordKind, Sample, SampleId, SampleLayout,
};
use std::env::consts::ARCH;
use std::fs;

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockedThread {
    /// Functions of the kernel, innermost first.
    pub(crate) functions: Vec<String>,
    /// Where it is in user space, if this user may know.
    pub(crate) user: Option<UserPlace>,
    /// The descriptor that its system call may wait for.
    pub(crate) fd: Option<u32>,
}

/// Where a thread left user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserPlace {
    pub(crate) sp: u64,
    pub(crate) ip: u64,
}

/// Looks at threads.
#[derive(Debug, Default)]
pub(crate) struct ProcReader {
    calls: ProcCalls,
}

impl ProcReader {
    /// The descriptor that a thread may wait for.
    pub(super) fn descriptor(&self, pid: i32, tid: i32) -> Option<Descriptor> {
        self.calls.descriptor(pid, tid)
    }

    /// Looks at a thread; `None` if it runs, or if nothing of it may be known.
    pub(crate) fn look(&self, pid: i32, tid: i32) -> Option<BlockedThread> {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{file}")).ok();
        // The number of the call, its arguments, where it was called: needs the right to trace the process.
        let call = read("syscall");
        // A name alone: needs the right to read its memory maps.
        let function = read("wchan");
        self.thread(call.as_deref(), function.as_deref())
    }

    fn thread(&self, call: Option<&str>, function: Option<&str>) -> Option<BlockedThread> {
        let words: Vec<&str> = call.unwrap_or_default().split_whitespace().collect();
        if words.first() == Some(&"running") {
            return None;
        }
        let user = match words[..] {
            [_, .., sp, ip] => hex(sp).zip(hex(ip)),
            _ => None,
        };
        let user = user.map(|(sp, ip)| UserPlace { sp, ip });
        let is_name = |name: &&str| !matches!(*name, "" | "0");
        let innermost = function.map(str::trim).filter(is_name);
        // -1: it was interrupted, or faulted.
        let name = self.calls.name(&words);
        // The kernel's own names of its functions differ by release and machine.
        let entry = name.map(|name| format!("sys_{name}"));
        let functions: Vec<String> = innermost
            .map(str::to_owned)
            .into_iter()
            .chain(entry)
            .collect();
        (user.is_some() || !functions.is_empty()).then_some(BlockedThread {
            functions,
            user,
            fd: self.calls.fd(&words),
        })
    }
}

/// Whose sample is made, and of which event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleOf {
    pub(crate) id: u64,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) cpu: u32,
    pub(crate) time_ns: u64,
}

/// Makes the sample of a thread as it left its CPU; `addr` is its field of that name, `stack` what was read of its stack,
/// and whether that is all.
pub(crate) fn sample(
    of: SampleOf,
    (user, functions, addr): (Option<UserPlace>, &[u64], Option<u64>),
    (stack, is_whole): (&[u8], bool),
    layout: &SampleLayout,
) -> Option<Vec<u8>> {
    let mut chain = Vec::new();
    if let Some((innermost, callers)) = functions.split_first() {
        // Callers are looked up one byte before where they go on.
        let callers = callers.iter().map(|start| start + 1);
        let kernel = [context::KERNEL, *innermost].into_iter().chain(callers);
        chain.extend(kernel.flat_map(u64::to_ne_bytes));
    }
    let table = RegisterTable::of(ARCH)?;
    let registers = user.map(|place| registers(table, place));
    // What does not fill its room is whole.
    let mut data = stack.to_vec();
    if is_whole {
        data.resize(stack.len() + 8, 0);
    }
    let misc = if functions.is_empty() {
        Misc::USER
    } else {
        Misc::KERNEL
    };
    let sample = Sample {
        id: Some(of.id),
        ip: functions.first().copied().or(user.map(|place| place.ip)),
        pid: Some(of.pid),
        tid: Some(of.tid),
        time_ns: Some(of.time_ns),
        addr,
        cpu: Some(of.cpu),
        period: Some(1),
        callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
        regs_user: Some(registers.as_deref().map_or(Registers::NONE, |values| {
            Registers::from_encoded(table.user_mask, values, Endian::NATIVE)
        })),
        stack_user: Some(StackDump {
            data: &data,
            dyn_size: stack.len() as u64,
        }),
        ..Sample::default()
    };
    let mut body = Vec::new();
    layout.encode_sample(&sample, &mut Encoder::new(&mut body, Endian::NATIVE));
    let raw = RawRecord {
        kind: RecordKind::SAMPLE,
        misc,
        body: &body,
    };
    let mut record = Vec::new();
    raw.encode(&mut record, Endian::NATIVE).ok()?;
    Some(record)
}

/// The registers of user space, encoded: those that are not known are zero.
fn registers(table: &RegisterTable, place: UserPlace) -> Vec<u8> {
    let value = |register: u32| match register {
        _ if register == table.stack_pointer => place.sp,
        _ if register == table.instruction_pointer => place.ip,
        _ => 0,
    };
    let recorded = (0..u64::BITS).filter(|register| table.user_mask >> register & 1 == 1);
    recorded
        .flat_map(|register| value(register).to_ne_bytes())
        .collect()
}

/// The functions of the kernel that threads wait in. Where they are is a secret of the kernel, so each gets an address
/// of its own, which a KSYMBOL record names.
#[derive(Debug, Default)]
pub(crate) struct KernelFunctions {
    addresses: HashMap<String, u64>,
    /// Names that no record tells of yet.
    untold: Vec<(u64, String)>,
}

/// Nothing of the kernel is in its last two megabytes, on any architecture: the end of the address space.
const FIRST_ADDRESS: u64 = (-0x20_0000_i64).cast_unsigned();

/// Bytes of each.
const FUNCTION_BYTES: u32 = 16;

/// More are not named: the kernel has fewer in which threads can wait.
const MOST_FUNCTIONS: usize = 1 << 16;

impl KernelFunctions {
    /// The address that stands for a function; `None` if there are too many.
    pub(crate) fn address(&mut self, name: &str) -> Option<u64> {
        if let Some(&known) = self.addresses.get(name) {
            return Some(known);
        }
        let number = self.addresses.len();
        if number == MOST_FUNCTIONS {
            return None;
        }
        let address = FIRST_ADDRESS + number as u64 * u64::from(FUNCTION_BYTES);
        self.addresses.insert(name.to_owned(), address);
        self.untold.push((address, name.to_owned()));
        Some(address)
    }

    /// Records that name functions, each once.
    pub(crate) fn tell(&mut self, layout: &SampleLayout) -> Vec<Vec<u8>> {
        let untold = std::mem::take(&mut self.untold);
        let records = untold.iter().filter_map(|(addr, name)| {
            let symbol = Record::Ksymbol(Ksymbol {
                addr: *addr,
                len: FUNCTION_BYTES,
                ksym_type: Ksymbol::UNKNOWN,
                flags: 0,
                name: name.as_bytes(),
            });
            // It was there before the recording.
            let id = SampleId {
                time_ns: Some(0),
                ..SampleId::default()
            };
            let mut record = Vec::new();
            symbol.encode(Misc(0), &id, layout, &mut record).ok()?;
            Some(record)
        });
        records.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{PerfEventAttr, SampleType};
    use rprof_syscalls::{SyscallAbi, SyscallNames};

    #[test]
    fn texts_of_proc_are_read() {
        let reader = ProcReader::default();
        let thread = |call, function| reader.thread(call, function);
        assert_eq!(thread(Some("running\n"), Some("0")), None);
        assert_eq!(thread(None, None), None);
        assert_eq!(thread(None, Some("0")), None);
        let known = thread(None, Some("pipe_read")).unwrap();
        assert_eq!(known.functions, ["pipe_read"]);
        assert_eq!(known.user, None);
        let fault = thread(
            Some("-1 0x7ffc00000010 0x401000\n"),
            Some("folio_wait_bit_common\n"),
        )
        .unwrap();
        assert_eq!(fault.functions, ["folio_wait_bit_common"]);
        let place = UserPlace {
            sp: 0x7ffc_0000_0010,
            ip: 0x40_1000,
        };
        assert_eq!(fault.user, Some(place));
        let read = SyscallNames::of(SyscallAbi::of_machine(ARCH)).numbers("read");
        let number = read[0];
        let call = format!("{number} 0x0 0x1 0x2 0x3 0x4 0x5 0x7ffc00000010 0x401000\n");
        let known = thread(Some(&call), Some("0")).unwrap();
        assert!(known.functions[0].ends_with("sys_read"), "{known:?}");
        assert_eq!((known.user, known.fd), (Some(place), Some(0)));
        let of_32_bits = format!("{number} 0x0 0x1 0x2 0x3 0x4 0x5 0xffb0c010 0x401000\n");
        assert!(
            thread(Some(&of_32_bits), Some("0"))
                .unwrap()
                .functions
                .is_empty()
        );
    }

    #[test]
    fn a_function_is_told_once_and_has_one_address() {
        let mut functions = KernelFunctions::default();
        let first = functions.address("pipe_read").unwrap();
        let second = functions.address("futex_do_wait").unwrap();
        assert_eq!(functions.address("pipe_read"), Some(first));
        assert!(second >= first + u64::from(FUNCTION_BYTES) && first < context::MAX);
        let attr = PerfEventAttr {
            sample_type: SampleType::TID.with(SampleType::TIME),
            flags: rprof_abi::AttrFlags::SAMPLE_ID_ALL,
            ..PerfEventAttr::default()
        };
        let layout = SampleLayout::new(&attr, Endian::NATIVE);
        let told = functions.tell(&layout);
        assert_eq!(told.len(), 2);
        let raw = RawRecord::parse(&told[1], Endian::NATIVE).unwrap();
        let Ok((Record::Ksymbol(symbol), _)) = Record::parse(raw, &layout) else {
            panic!("no symbol")
        };
        assert_eq!((symbol.addr, symbol.name), (second, &b"futex_do_wait"[..]));
        assert!(functions.tell(&layout).is_empty());
    }

    #[test]
    fn a_sample_has_what_is_known() {
        let Some(table) = RegisterTable::of(ARCH) else {
            return;
        };
        let mut attr = PerfEventAttr {
            sample_type: SampleType::TID
                .with(SampleType::TIME)
                .with(SampleType::ADDR)
                .with(SampleType::IDENTIFIER),
            ..PerfEventAttr::default()
        };
        crate::opening::stack_dump::ask_for(
            &mut attr,
            8,
            crate::opening::stack_dump::UserChain::Excluded,
        );
        let layout = SampleLayout::new(&attr, Endian::NATIVE);
        let of = SampleOf {
            id: 7,
            pid: 1,
            tid: 2,
            cpu: 3,
            time_ns: 4,
        };
        let place = UserPlace {
            sp: 0x1000,
            ip: 0x2000,
        };
        let stack = [1; 16];
        let record = sample(
            of,
            (Some(place), &[0x10, 0x20], Some(9)),
            (&stack, true),
            &layout,
        )
        .unwrap();
        let raw = RawRecord::parse(&record, Endian::NATIVE).unwrap();
        let parsed = layout.parse_sample(raw.body).unwrap();
        assert_eq!(
            (parsed.tid, parsed.time_ns, parsed.id, parsed.addr),
            (Some(2), Some(4), Some(7), Some(9))
        );
        let chain: Vec<u64> = parsed.callchain.unwrap().entries().collect();
        assert_eq!(chain, [context::KERNEL, 0x10, 0x21]);
        let registers = parsed.regs_user.unwrap();
        assert_eq!(registers.value(table.stack_pointer), Some(0x1000));
        assert_eq!(registers.value(table.instruction_pointer), Some(0x2000));
        let dump = parsed.stack_user.unwrap();
        assert_eq!((dump.stack(), dump.data.len()), (&stack[..], 24));
        // Nothing of user space may be known.
        let record = sample(of, (None, &[0x10], None), (&[], false), &layout).unwrap();
        let raw = RawRecord::parse(&record, Endian::NATIVE).unwrap();
        let parsed = layout.parse_sample(raw.body).unwrap();
        assert_eq!(parsed.regs_user, Some(Registers::NONE));
    }
}
