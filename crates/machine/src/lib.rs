//! Who was called what, and what was mapped where, as functions of time.
//!
//! [`HistoryBuilder`] takes the sideband of a recording in the file's order; [`History`] then
//! answers for any moment ([`Key`]): which [`Epoch`] of mappings a process was in, which
//! [`AddressLocation`] an address had, which name a thread had. Answers never change, so threads
//! share it and cache what it says.
//!
//! The rules, learned from real recordings: a moment is (time, file offset), the offset alone
//! where the file has no times. EXIT ends nothing (kernel samples follow it): a task stays until
//! its id is used again. FORK inherits names and mappings, exec clears mappings, a mapping cuts
//! the ones it covers, announcing the same mapping again changes nothing. A kernel symbol that
//! goes away uncovers what lay below it. Guests have address spaces of their own.
//!
//! Memory follows the program, not the recording: equal sets of mappings are kept once, for all
//! processes and times. Each change adds one small entry to a timeline.

mod apply;
mod builder;
mod change;
mod data;
mod exec;
mod history;
mod image;
mod live;
mod ranges;
mod timeline;

pub use builder::{HistoryBuilder, JitCode, MappedJitDump};
pub use history::{AddressLocation, CommId, Epoch, History, Moment};
pub use image::{ImageId, ImageKind, Images, MovedImages, RecordedImage, is_path_of_code_log};
pub use live::{Live, Steps};
pub use timeline::Key;
