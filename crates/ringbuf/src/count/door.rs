//! The system calls of counting, in one place: the kernel answers them, or a test in its place.

use crate::{Counter, Cpu, OpenError, OpenWith, Target, sys};
use rprof_abi::PerfEventAttr;
use std::fmt::Debug;
use std::io;
use std::os::fd::AsFd;

/// Who answers.
pub trait Door {
    /// An open event.
    type Event: Debug;

    /// Opens an event, behind the leader of its group if it has one.
    ///
    /// # Errors
    /// [`OpenError`].
    fn open(
        &self,
        attr: &PerfEventAttr,
        target: Target,
        cpu: Cpu,
        leader: Option<&Self::Event>,
    ) -> Result<Self::Event, OpenError>;

    /// The event's id.
    ///
    /// # Errors
    /// The kernel's.
    fn id(&self, event: &Self::Event) -> io::Result<u64>;

    /// `read(2)`: how many bytes were written.
    ///
    /// # Errors
    /// The kernel's.
    fn read(&self, event: &Self::Event, into: &mut [u8]) -> io::Result<usize>;

    /// Starts or stops all of the group that the event leads.
    ///
    /// # Errors
    /// The kernel's.
    fn enable(&self, leader: &Self::Event, is_on: bool) -> io::Result<()>;

    /// Has all of the group that the event leads count from 0 again.
    ///
    /// # Errors
    /// The kernel's.
    fn reset(&self, leader: &Self::Event) -> io::Result<()>;
}

/// The running kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelDoor;

impl Door for KernelDoor {
    type Event = Counter;

    fn open(
        &self,
        attr: &PerfEventAttr,
        target: Target,
        cpu: Cpu,
        leader: Option<&Counter>,
    ) -> Result<Counter, OpenError> {
        let with = OpenWith {
            leader,
            ..OpenWith::default()
        };
        Counter::open_with(attr, target, cpu, with)
    }

    fn id(&self, event: &Counter) -> io::Result<u64> {
        event.id()
    }

    fn read(&self, event: &Counter, into: &mut [u8]) -> io::Result<usize> {
        sys::read(event.as_fd(), into)
    }

    fn enable(&self, leader: &Counter, is_on: bool) -> io::Result<()> {
        let request = if is_on {
            sys::PerfIoctl::EnableGroup
        } else {
            sys::PerfIoctl::DisableGroup
        };
        sys::perf_ioctl(leader.as_fd(), request)
    }

    fn reset(&self, leader: &Counter) -> io::Result<()> {
        sys::perf_ioctl(leader.as_fd(), sys::PerfIoctl::ResetGroup)
    }
}
