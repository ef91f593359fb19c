//! Whether a recording has what a dimension is of.

use super::account::tells_of_locks;
use super::waited_files::tells_of_files;
use crate::Error;
use crate::samples::{has_switches, sockets};
use rprof_abi::{AttrFlags, SampleType, event_type, sw, waits};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::Dimension;

/// Refuses a dimension in which no sample has a value.
pub(super) fn check(reader: &Reader, dimension: Dimension) -> Result<(), Error> {
    const WEIGHTS: &[SampleType] = &[SampleType::WEIGHT, SampleType::WEIGHT_STRUCT];
    if dimension == Dimension::Parallelism {
        return if has_switches(reader) {
            Ok(())
        } else {
            Err(not_recorded(
                "context switches",
                "parallelism",
                " --latency",
            ))
        };
    }
    if dimension == Dimension::CgroupId {
        let mut events = reader.events().iter();
        return if events.any(|event| event.attr.flags.has(AttrFlags::NAMESPACES)) {
            Ok(())
        } else {
            Err(not_recorded("namespaces", "cgroup_id", " --namespaces"))
        };
    }
    if dimension == Dimension::Lock {
        return if tells_of_locks(reader) {
            Ok(())
        } else {
            Err(not_recorded("locks", "lock", " --off-cpu --lock"))
        };
    }
    if dimension == Dimension::File {
        return if tells_of_files(reader) {
            Ok(())
        } else {
            Err(not_recorded("waited-for files", "file", " --off-cpu"))
        };
    }
    let (bits, what, flag): (&[SampleType], _, _) = match dimension {
        Dimension::Cpu | Dimension::Socket => (&[SampleType::CPU], "CPUs", " --sample-cpu"),
        Dimension::Time => (&[SampleType::TIME], "times", " -T"),
        Dimension::Trace | Dimension::TraceField(_) => (
            &[SampleType::RAW],
            "raw data of tracepoints",
            " -e SYSTEM:EVENT",
        ),
        Dimension::LocalWeight
        | Dimension::Weight
        | Dimension::LocalInsLat
        | Dimension::InsLat
        | Dimension::LocalPStageCyc
        | Dimension::PStageCyc
        | Dimension::LocalRetireLat
        | Dimension::RetireLat => (WEIGHTS, "weights", " -W"),
        Dimension::Transaction => (
            &[SampleType::TRANSACTION][..],
            "transactions",
            " --transaction",
        ),
        Dimension::CodePageSize => (
            &[SampleType::CODE_PAGE_SIZE],
            "code page sizes",
            " --code-page-size",
        ),
        Dimension::DataPageSize => (
            &[SampleType::DATA_PAGE_SIZE],
            "data page sizes",
            " --data-page-size",
        ),
        Dimension::PhysDaddr => (
            &[SampleType::PHYS_ADDR][..],
            "physical addresses",
            " --phys-data",
        ),
        Dimension::DsoFrom
        | Dimension::DsoTo
        | Dimension::SymbolFrom
        | Dimension::SymbolTo
        | Dimension::SrclineFrom
        | Dimension::SrclineTo
        | Dimension::Mispredict
        | Dimension::InTx
        | Dimension::Abort
        | Dimension::Cycles => (&[SampleType::BRANCH_STACK][..], "branch stacks", " -b"),
        Dimension::Mem
        | Dimension::Snoop
        | Dimension::Tlb
        | Dimension::Locked
        | Dimension::Blocked => (&[SampleType::DATA_SRC][..], "data sources", " -d"),
        Dimension::SymbolDaddr | Dimension::DsoDaddr | Dimension::Dcacheline => {
            let mut events = reader.events().iter();
            return if events.any(has_data_addresses) {
                Ok(())
            } else {
                Err(not_recorded("data addresses", dimension.name(), " -d"))
            };
        }
        Dimension::Addr
        | Dimension::SymbolIaddr
        | Dimension::DsoSize
        | Dimension::SymSize
        | Dimension::SymStart
        | Dimension::SymOff => (&[SampleType::IP][..], "code addresses", ""),
        // What perf shows without them is an answer, too.
        Dimension::Pid
        | Dimension::Tid
        | Dimension::CommNoDigit
        | Dimension::Machine
        | Dimension::Recording
        | Dimension::Parent
        | Dimension::Cgroup
        | Dimension::CgroupId
        | Dimension::Parallelism
        | Dimension::State
        | Dimension::Cause
        | Dimension::Critical
        | Dimension::Waker
        | Dimension::Wakee
        | Dimension::Lock
        | Dimension::File
        // The index says whether processes had marker files.
        | Dimension::Span => return Ok(()),
    };
    if dimension == Dimension::Socket && sockets(reader).is_empty() {
        return Err(not_recorded("sockets of CPUs", "socket", ""));
    }
    let mut events = reader.events().iter();
    if events.any(|event| bits.iter().any(|&bit| event.attr.sample_type.has(bit))) {
        Ok(())
    } else {
        Err(not_recorded(what, dimension.name(), flag))
    }
}

/// Whether samples of an event have addresses of data. Switches have none: what threads wait for may be in their place
/// ([`rprof_perfdata::feature::WaitedFd`]).
pub(crate) fn has_data_addresses(event: &RecordedEvent) -> bool {
    let attr = &event.attr;
    let is_switch = match attr.kind {
        event_type::TRACEPOINT => event.name.raw() == waits::SWITCH,
        event_type::SOFTWARE => attr.config == sw::CONTEXT_SWITCHES,
        _ => false,
    };
    attr.sample_type.has(SampleType::ADDR) && !is_switch
}

fn not_recorded(what: &'static str, key: &'static str, flag: &'static str) -> Error {
    Error::KeyNotRecorded { what, key, flag }
}
