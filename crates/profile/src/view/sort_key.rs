//! What rows are grouped by: perf's sort keys.

use super::RowKey;
use crate::{EventProfile, FrameId, Group, Profile, StrId};
use std::cmp::Ordering;

/// One column that makes rows differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Name of the thread.
    Comm,
    /// Process.
    Pid,
    /// Thread.
    Tid,
    /// CPU.
    Cpu,
    /// Image.
    Dso,
    /// Function.
    Symbol,
}

/// What tells samples of one event apart, beside their stacks and names of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupParts {
    /// Their process.
    pub pid: bool,
    /// Their thread.
    pub tid: bool,
    /// Their CPU.
    pub cpu: bool,
}

/// Name on the command line (with perf's alias), key, heading.
const TABLE: &[(&str, &str, SortKey, &str)] = &[
    ("comm", "comm", SortKey::Comm, "Command"),
    ("pid", "pid", SortKey::Pid, "    Pid"),
    ("tid", "tid", SortKey::Tid, "    Tid"),
    ("cpu", "cpu", SortKey::Cpu, "CPU"),
    ("dso", "dso", SortKey::Dso, "Shared Object"),
    ("sym", "symbol", SortKey::Symbol, "Symbol"),
];

impl SortKey {
    /// perf's default: `comm,dso,sym`.
    pub const DEFAULT: &[Self] = &[Self::Comm, Self::Dso, Self::Symbol];

    /// The key with a name.
    pub fn parse(name: &str) -> Option<Self> {
        let mut rows = TABLE.iter();
        let row = rows.find(|(short, long, ..)| *short == name || *long == name)?;
        Some(row.2)
    }

    /// All names, for messages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.0)
    }

    /// The column's heading.
    pub fn heading(self) -> &'static str {
        let mut rows = TABLE.iter();
        rows.find(|row| row.2 == self).map_or("", |row| row.3)
    }

    /// Puts this key's part of a function in a group into a row's key.
    pub(super) fn fill(self, row: &mut RowKey, group: &Group, frame: FrameId, profile: &Profile) {
        match self {
            Self::Comm => row.comm = Some(group.comm),
            Self::Pid => row.pid = group.pid,
            Self::Tid => row.tid = group.tid,
            Self::Cpu => row.cpu = group.cpu,
            Self::Dso => row.image = Some(profile.frames.of(frame).image),
            Self::Symbol => row.frame = Some(frame),
        }
    }

    /// The cell of a row in this key's column, as it is displayed.
    pub fn cell(self, row: &RowKey, profile: &Profile) -> String {
        let number = |n: Option<i32>| n.map_or_else(String::new, |n| format!("{n:>7}"));
        let text =
            |id: Option<_>| id.map_or_else(String::new, |id| profile.strings.of(id).to_string());
        match self {
            Self::Comm => text(row.comm),
            Self::Pid => number(row.pid),
            Self::Tid => number(row.tid),
            Self::Cpu => row.cpu.map_or_else(String::new, |cpu| format!("{cpu:03}")),
            Self::Dso => text(row.image),
            Self::Symbol => row
                .frame
                .map_or_else(String::new, |id| symbol_cell(id, profile)),
        }
    }

    /// Orders two rows by this key as their cells would be, without making them.
    pub(super) fn compare(self, a: &RowKey, b: &RowKey, profile: &Profile) -> Ordering {
        let text = |id: Option<StrId>| id.map(|id| profile.strings.of(id));
        match self {
            Self::Comm => text(a.comm).cmp(&text(b.comm)),
            Self::Pid => a.pid.cmp(&b.pid),
            Self::Tid => a.tid.cmp(&b.tid),
            Self::Cpu => a.cpu.cmp(&b.cpu),
            Self::Dso => text(a.image).cmp(&text(b.image)),
            Self::Symbol => {
                let symbol = |row: &RowKey| {
                    let frame = profile.frames.of(row.frame?);
                    Some((text(frame.name), frame.start, frame.level, frame.is_inlined))
                };
                symbol(a).cmp(&symbol(b))
            }
        }
    }

    /// What samples must be told apart by for these keys.
    pub fn group_parts(keys: &[Self]) -> GroupParts {
        let has = |key| keys.contains(&key);
        GroupParts {
            pid: has(Self::Pid),
            tid: has(Self::Tid),
            cpu: has(Self::Cpu),
        }
    }

    /// The group of a node.
    pub(super) fn group(event: &EventProfile, number: u32) -> Option<&Group> {
        event.groups.get(number as usize)
    }
}

fn symbol_cell(id: FrameId, profile: &Profile) -> String {
    let frame = profile.frames.of(id);
    let sign = frame.level.sign();
    match frame.name {
        Some(name) if frame.is_inlined => {
            format!("[{sign}] {} (inlined)", profile.strings.of(name))
        }
        Some(name) => format!("[{sign}] {}", profile.strings.of(name)),
        None => match frame.start {
            Some(address) => format!("[{sign}] {address:#018x}"),
            None => format!("[{sign}] [unknown]"),
        },
    }
}
