//! What CPUs belong to, by sysfs.

use crate::Aggregation;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What counts are added up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Global,
    Cpu(u32),
    Core {
        socket: i32,
        die: i32,
        core: i32,
    },
    Die {
        socket: i32,
        die: i32,
    },
    Socket(i32),
    Node(i32),
    /// By its number among the threads.
    Thread(usize),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => Ok(()),
            Self::Cpu(cpu) => write!(f, "CPU{cpu}"),
            Self::Core { socket, die, core } => write!(f, "S{socket}-D{die}-C{core}"),
            Self::Die { socket, die } => write!(f, "S{socket}-D{die}"),
            Self::Socket(socket) => write!(f, "S{socket}"),
            Self::Node(node) => write!(f, "N{node}"),
            Self::Thread(nth) => write!(f, "{nth}"),
        }
    }
}

/// Where a CPU is.
#[derive(Clone, Copy, Debug, Default)]
struct Location {
    socket: i32,
    die: i32,
    core: i32,
    node: i32,
}

/// Where CPUs are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology(BTreeMap<u32, Location>);

impl Topology {
    /// Reads it for these CPUs. What is not said is 0, as in perf.
    pub(crate) fn read(sysfs: &Path, cpus: &[u32]) -> Self {
        Self(
            cpus.iter()
                .map(|&cpu| (cpu, Location::read(sysfs, cpu)))
                .collect(),
        )
    }

    /// What a count of a CPU and a thread is added up for.
    pub(crate) fn key(&self, aggregation: Aggregation, cpu: Option<u32>, thread: usize) -> Key {
        let at = || {
            let location = cpu.and_then(|cpu| self.0.get(&cpu));
            location.copied().unwrap_or_default()
        };
        let Location {
            socket,
            die,
            core,
            node,
        } = at();
        match aggregation {
            Aggregation::Global => Key::Global,
            Aggregation::Cpu => cpu.map_or(Key::Global, Key::Cpu),
            Aggregation::Core => Key::Core { socket, die, core },
            Aggregation::Die => Key::Die { socket, die },
            Aggregation::Socket => Key::Socket(socket),
            Aggregation::Node => Key::Node(node),
            Aggregation::Thread => Key::Thread(thread),
        }
    }
}

impl Location {
    fn read(sysfs: &Path, cpu: u32) -> Self {
        let folder = sysfs.join(format!("devices/system/cpu/cpu{cpu}"));
        let number = |name: &str| number_in(&folder.join("topology").join(name));
        Self {
            socket: number("physical_package_id"),
            die: number("die_id"),
            core: number("core_id"),
            node: node_of(&folder),
        }
    }
}

/// 0 if there is none, or none that is known (-1).
fn number_in(path: &PathBuf) -> i32 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0).max(0)
}

/// By the link `nodeN` in a CPU's folder.
fn node_of(folder: &Path) -> i32 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let node = names.find_map(|name| name.strip_prefix("node")?.parse().ok());
    node.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn cpus_are_added_up_by_what_they_belong_to() {
        let dir = tempfile::tempdir().unwrap();
        for (cpu, socket, core, node) in [(0, "0", "0", 0), (1, "0", "1", 0), (2, "1", "0", 1)] {
            let folder = dir.path().join(format!("devices/system/cpu/cpu{cpu}"));
            fs::create_dir_all(folder.join("topology")).unwrap();
            fs::create_dir(folder.join(format!("node{node}"))).unwrap();
            fs::write(folder.join("topology/physical_package_id"), socket).unwrap();
            fs::write(folder.join("topology/core_id"), core).unwrap();
            fs::write(folder.join("topology/die_id"), "-1\n").unwrap();
        }
        let topology = Topology::read(dir.path(), &[0, 1, 2, 7]);
        let keys = |aggregation| {
            [0, 1, 2, 7].map(|cpu| topology.key(aggregation, Some(cpu), 0).to_string())
        };
        assert_eq!(keys(Aggregation::Global), ["", "", "", ""]);
        assert_eq!(keys(Aggregation::Cpu), ["CPU0", "CPU1", "CPU2", "CPU7"]);
        let cores = ["S0-D0-C0", "S0-D0-C1", "S1-D0-C0", "S0-D0-C0"];
        assert_eq!(keys(Aggregation::Core), cores);
        assert_eq!(keys(Aggregation::Die), ["S0-D0", "S0-D0", "S1-D0", "S0-D0"]);
        assert_eq!(keys(Aggregation::Socket), ["S0", "S0", "S1", "S0"]);
        assert_eq!(keys(Aggregation::Node), ["N0", "N0", "N1", "N0"]);
        let thread = topology.key(Aggregation::Thread, None, 3);
        assert_eq!(thread, Key::Thread(3));
    }
}
