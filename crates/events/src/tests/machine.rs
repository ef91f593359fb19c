//! Folders that look like sysfs and tracefs of some machine.

use std::fs;

use tempfile::TempDir;

use crate::{Event, EventError, Sources, parse_events};

/// A machine that exists as long as its folder.
pub(crate) struct Machine {
    pub(crate) sources: Sources,
    pub(super) dir: TempDir,
}

impl Machine {
    fn with_files(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        }
        let sources = Sources {
            sysfs: dir.path().join("sys"),
            tracefs: dir.path().join("tracing"),
        };
        Self { sources, dir }
    }

    /// No PMU, no tracefs.
    pub(super) fn bare() -> Self {
        Self::with_files(&[("sys/devices/system/cpu/online", "0-1")])
    }

    /// One core PMU, two boxes of an uncore PMU, some tracepoints.
    pub(crate) fn usual() -> Self {
        Self::with_files(&[
            ("sys/devices/system/cpu/online", "0-3,8"),
            ("sys/bus/event_source/devices/cpu/type", "4"),
            (
                "sys/bus/event_source/devices/cpu/format/event",
                "config:0-7,32-35",
            ),
            (
                "sys/bus/event_source/devices/cpu/format/umask",
                "config:8-15",
            ),
            ("sys/bus/event_source/devices/cpu/format/edge", "config:18"),
            (
                "sys/bus/event_source/devices/cpu/format/ldlat",
                "config1:0-15",
            ),
            ("sys/bus/event_source/devices/cpu/format/odd", "nonsense"),
            (
                "sys/bus/event_source/devices/cpu/events/cpu-cycles",
                "event=0x3c",
            ),
            (
                "sys/bus/event_source/devices/cpu/events/mem-loads",
                "event=0xcd,umask=0x1,ldlat=3",
            ),
            (
                "sys/bus/event_source/devices/cpu/events/asked",
                "event=?,umask=2",
            ),
            ("sys/bus/event_source/devices/software/type", "1"),
            ("sys/bus/event_source/devices/i915/type", "20"),
            (
                "sys/bus/event_source/devices/i915/events/actual-frequency",
                "config=0x100000",
            ),
            (
                "sys/bus/event_source/devices/i915/events/actual-frequency.unit",
                "M",
            ),
            ("sys/bus/event_source/devices/uncore_imc_0/type", "12"),
            ("sys/bus/event_source/devices/uncore_imc_0/cpumask", "0,8"),
            (
                "sys/bus/event_source/devices/uncore_imc_0/format/event",
                "config:0-7",
            ),
            ("sys/bus/event_source/devices/uncore_imc_1/type", "13"),
            ("sys/bus/event_source/devices/uncore_imc_1/cpumask", "0,8"),
            (
                "sys/bus/event_source/devices/uncore_imc_1/format/event",
                "config:0-7",
            ),
            ("sys/bus/event_source/devices/uprobe/type", "9"),
            (
                "sys/bus/event_source/devices/uprobe/format/retprobe",
                "config:0",
            ),
            (
                "sys/bus/event_source/devices/uprobe/format/ref_ctr_offset",
                "config:32-63",
            ),
            ("sys/bus/event_source/devices/broken/type", "many"),
            ("tracing/events/enable", "0"),
            ("tracing/events/sched/enable", "0"),
            ("tracing/events/sched/filter", "none"),
            ("tracing/events/sched/sched_switch/id", "314"),
            ("tracing/events/sched/sched_wakeup/id", "316"),
            ("tracing/events/sched/sched_stat_runtime/id", "308"),
            ("tracing/events/syscalls/sys_enter_read/id", "700"),
            ("tracing/events/syscalls/broken/id", "x"),
        ])
    }

    /// Two kinds of cores.
    pub(super) fn hybrid() -> Self {
        Self::with_files(&[
            ("sys/bus/event_source/devices/cpu_atom/type", "10"),
            ("sys/bus/event_source/devices/cpu_atom/cpus", "4-5"),
            (
                "sys/bus/event_source/devices/cpu_atom/format/event",
                "config:0-7",
            ),
            (
                "sys/bus/event_source/devices/cpu_atom/events/mem-loads",
                "event=0xd0",
            ),
            ("sys/bus/event_source/devices/cpu_core/type", "4"),
            ("sys/bus/event_source/devices/cpu_core/cpus", "0-3"),
            (
                "sys/bus/event_source/devices/cpu_core/format/event",
                "config:0-7",
            ),
            (
                "sys/bus/event_source/devices/cpu_core/events/mem-loads",
                "event=0xcd",
            ),
            // A third kind, all of its CPUs off line.
            ("sys/bus/event_source/devices/cpu_lowpower/type", "11"),
            ("sys/bus/event_source/devices/cpu_lowpower/cpus", ""),
        ])
    }

    pub(super) fn parse(&self, list: &str) -> Result<Vec<Event>, EventError> {
        parse_events(list, &self.sources)
    }

    /// The only event of the list.
    pub(super) fn one(&self, list: &str) -> Event {
        let mut events = self
            .parse(list)
            .unwrap_or_else(|error| panic!("{list}: {error}"));
        assert_eq!(events.len(), 1, "{list}");
        events.remove(0)
    }

    pub(super) fn error(&self, list: &str) -> String {
        let events = self.parse(list);
        events.expect_err(list).to_string()
    }
}
