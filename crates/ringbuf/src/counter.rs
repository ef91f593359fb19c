//! An open event.

use crate::{OpenError, sys};
use rprof_abi::sample::ReadValues;
use rprof_abi::{AttrFlags, Cursor, Endian, PerfEventAttr, ReadFormat};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Whom an event watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One thread, by id; 0 is the caller.
    Thread(i32),
    /// Everybody; needs a CPU.
    All,
    /// A control group, by a descriptor of its folder; needs a CPU.
    Cgroup(RawFd),
}

/// Where an event watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// One CPU.
    On(u32),
    /// Wherever the thread runs. Such an event cannot have both `inherit` and a ring.
    Any,
}

/// What an event is opened with, beside its attr.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenWith<'w> {
    /// It is counted whenever this one is, and only then: an event of the same target and CPU that has no
    /// leader itself.
    pub leader: Option<&'w Counter>,
    /// What `config1` points to while the event is opened: for probes, the path of a file or the name of a
    /// function. Such an event must not be inherited: the kernel would read the text anew, in the memory of
    /// each process that forks, and let the fork fail if it is not there (6.18).
    pub text: Option<&'w CStr>,
}

/// What a counter says of itself at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CounterValue {
    /// Events counted.
    pub count: u64,
    /// Records that did not fit into the ring, of this event and all that inherited it; needs
    /// `PERF_FORMAT_LOST` (6.0).
    pub lost: Option<u64>,
    /// Whether it counted all the time that it was on; needs both times in its format.
    pub was_always_on: bool,
}

/// No group's values are longer (`perf_event_validate_size` in `kernel/events/core.c`, v6.12).
const MOST_GROUP_BYTES: usize = 16 << 10;

/// An event that the kernel counts or samples.
#[derive(Debug)]
pub struct Counter {
    fd: OwnedFd,
    read_format: ReadFormat,
}

impl Counter {
    /// Opens an event, close-on-exec.
    ///
    /// # Errors
    /// [`OpenError`]; its variants tell apart what a user can do about it.
    pub fn open(attr: &PerfEventAttr, target: Target, cpu: Cpu) -> Result<Self, OpenError> {
        Self::open_with(attr, target, cpu, OpenWith::default())
    }

    /// Opens an event with what it needs beside its attr.
    ///
    /// # Errors
    /// [`OpenError`]; EINVAL if the event and its leader cannot be counted together, or if an event with a
    /// text is to be inherited.
    pub fn open_with(
        attr: &PerfEventAttr,
        target: Target,
        cpu: Cpu,
        with: OpenWith<'_>,
    ) -> Result<Self, OpenError> {
        if with.text.is_some() && attr.flags.has(AttrFlags::INHERIT) {
            return Err(OpenError::Invalid);
        }
        let mut bytes = Vec::new();
        attr.encode(&mut bytes, Endian::NATIVE, attr.smallest_size());
        let (pid, of_what) = match target {
            Target::Thread(tid) => (tid, sys::OpenFlags::Task),
            Target::All => (-1, sys::OpenFlags::Task),
            Target::Cgroup(folder) => (folder, sys::OpenFlags::Cgroup),
        };
        let cpu = match cpu {
            Cpu::On(cpu) => i32::try_from(cpu).unwrap_or(i32::MAX),
            Cpu::Any => -1,
        };
        let leader = with.leader.map(AsFd::as_fd);
        let fd = sys::perf_event_open(&mut bytes, pid, cpu, of_what, leader, with.text);
        let fd = fd.map_err(OpenError::from_errno)?;
        Ok(Self {
            fd,
            read_format: attr.read_format,
        })
    }

    /// Starts it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enable(&self) -> io::Result<()> {
        sys::perf_ioctl(self.fd.as_fd(), sys::PerfIoctl::Enable)
    }

    /// Stops it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn disable(&self) -> io::Result<()> {
        sys::perf_ioctl(self.fd.as_fd(), sys::PerfIoctl::Disable)
    }

    /// Samples at another period; of an event with a frequency, at another one. What has inherited it keeps
    /// its own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_period(&self, period: u64) -> io::Result<()> {
        sys::perf_event_period(self.fd.as_fd(), period)
    }

    /// Lets only those hits of a tracepoint or probe be counted and sampled that fit.
    ///
    /// # Errors
    /// The kernel's; EINVAL if it does not understand the filter.
    pub fn set_filter(&self, filter: &CStr) -> io::Result<()> {
        sys::perf_ioctl(self.fd.as_fd(), sys::PerfIoctl::SetFilter(filter))
    }

    /// Counts from 0 again; the times of its value go on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn reset(&self) -> io::Result<()> {
        sys::perf_ioctl(self.fd.as_fd(), sys::PerfIoctl::Reset)
    }

    /// Its id, as in IDENTIFIER and ID fields of its records.
    ///
    /// # Errors
    /// The kernel's.
    pub fn id(&self) -> io::Result<u64> {
        sys::perf_event_id(self.fd.as_fd())
    }

    /// Sends its records into the ring of `owner`, which must be mapped, on the same CPU and of
    /// the same clock.
    ///
    /// # Errors
    /// EINVAL if the two do not go together, EBUSY if this one has a ring itself.
    pub fn write_into(&self, owner: &Self) -> io::Result<()> {
        sys::perf_ioctl(
            self.fd.as_fd(),
            sys::PerfIoctl::SetOutput(owner.fd.as_raw_fd()),
        )
    }

    /// Has no ring from now on: what it would write is lost, and not counted. The ring that it is mapped with
    /// stays.
    ///
    /// # Errors
    /// The kernel's.
    pub fn write_nowhere(&self) -> io::Result<()> {
        sys::perf_ioctl(self.fd.as_fd(), sys::PerfIoctl::NoOutput)
    }

    /// Reads count and losses; works after the task has ended, too.
    ///
    /// # Errors
    /// The kernel's, or `InvalidData` if it wrote less than its format says.
    pub fn read(&self) -> io::Result<CounterValue> {
        let is_group = self.read_format.has(ReadFormat::GROUP);
        let mut bytes = vec![0; if is_group { MOST_GROUP_BYTES } else { 64 }];
        let len = sys::read(self.fd.as_fd(), &mut bytes)?;
        let mut cursor = Cursor::new(bytes.get(..len).unwrap_or_default(), Endian::NATIVE);
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let read = ReadValues::parse(&mut cursor, self.read_format).map_err(invalid)?;
        // Whichever event of a group is read, the values are those of all of it.
        let own = if is_group { Some(self.id()?) } else { None };
        let mut values = read.values();
        let value = values.find(|value| own.is_none() || value.id == own);
        let value = value.unwrap_or_default();
        Ok(CounterValue {
            count: value.value,
            lost: value.lost,
            was_always_on: read.enabled_ns.is_some() && read.enabled_ns == read.running_ns,
        })
    }
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
