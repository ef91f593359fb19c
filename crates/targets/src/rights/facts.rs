//! What `/proc` and `/sys` say of this process and its machine.

use super::Container;
use rprof_events::{Sources, online_cpus};
use std::path::{Path, PathBuf};

/// Capabilities that matter here (`include/uapi/linux/capability.h`, v6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// CAP_IPC_LOCK: memory for rings without a limit.
    IpcLock = 14,
    /// CAP_SYS_PTRACE: other users' processes.
    SysPtrace = 19,
    /// CAP_SYS_ADMIN: nearly everything.
    SysAdmin = 21,
    /// CAP_SYSLOG: addresses of the kernel.
    Syslog = 34,
    /// CAP_PERFMON: events of everybody (5.8).
    Perfmon = 38,
}

/// Filters of system calls on this process (`Seccomp:` in `/proc/self/status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seccomp {
    /// None.
    Off,
    /// One at least.
    Filter,
    /// It is not said.
    Unknown,
}

/// What is known; `None` where a file is not there or cannot be read.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Below it files are read; `/` but in tests.
    pub root: PathBuf,
    /// `kernel.perf_event_paranoid`.
    pub paranoid: Option<i32>,
    /// Effective capabilities, one bit each.
    pub effective: u64,
    /// Capabilities that it could make effective.
    pub permitted: u64,
    /// What programs of this process can have at most.
    bounding: u64,
    /// Not the first user namespace: capabilities of this one do not count for events.
    pub in_user_namespace: bool,
    /// Filters of system calls.
    pub seccomp: Seccomp,
    /// `integrity` or `confidentiality`.
    pub lockdown: Option<String>,
    /// The container that it runs in.
    pub container: Option<Container>,
    /// CPUs that are online.
    pub n_cpus: u64,
}

impl Facts {
    /// Of this process.
    pub fn now() -> Self {
        Self::below(Path::new("/"))
    }

    /// As files below `root` say.
    pub fn below(root: &Path) -> Self {
        let mut facts = Self {
            root: root.to_owned(),
            paranoid: None,
            effective: 0,
            permitted: 0,
            bounding: 0,
            in_user_namespace: false,
            seccomp: Seccomp::Unknown,
            lockdown: None,
            container: Container::find(root),
            n_cpus: 1,
        };
        facts.paranoid = facts.number("proc/sys/kernel/perf_event_paranoid");
        let set = |name| u64::from_str_radix(&facts.status(name)?, 16).ok();
        let sets = ["CapEff:", "CapPrm:", "CapBnd:"].map(set);
        [facts.effective, facts.permitted, facts.bounding] = sets.map(Option::unwrap_or_default);
        facts.seccomp = match facts.status("Seccomp:").as_deref() {
            Some("0") => Seccomp::Off,
            Some("2" | "1") => Seccomp::Filter,
            _ => Seccomp::Unknown,
        };
        facts.in_user_namespace = facts.text("proc/self/uid_map").is_some_and(|map| {
            let first: Vec<&str> = map.split_whitespace().take(3).collect();
            !first.is_empty() && first != ["0", "0", "4294967295"]
        });
        let lockdown = facts
            .text("sys/kernel/security/lockdown")
            .unwrap_or_default();
        let chosen = lockdown
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        facts.lockdown = chosen
            .map(|(chosen, _)| chosen.to_owned())
            .filter(|mode| mode != "none");
        let cpus = online_cpus(&facts.sources());
        facts.n_cpus = cpus.map_or(1, |cpus| cpus.len().max(1) as u64);
        facts
    }

    /// sysfs and tracefs below the root.
    pub fn sources(&self) -> Sources {
        if self.root == Path::new("/") {
            Sources::default()
        } else {
            Sources {
                sysfs: self.root.join("sys"),
                tracefs: self.root.join("sys/kernel/tracing"),
            }
        }
    }

    /// A small file below the root.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim().to_owned())
    }

    /// A file that holds one number.
    pub fn number<N: std::str::FromStr>(&self, path: &str) -> Option<N> {
        self.text(path)?.parse().ok()
    }

    fn status(&self, name: &str) -> Option<String> {
        let status = self.text("proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().to_owned())
    }

    /// The soft limit of a resource, by its name in `/proc/self/limits`; `None` if there is none.
    pub fn soft_limit(&self, name: &str) -> Option<u64> {
        self.limit(name, 0)
    }

    /// The hard one.
    pub fn hard_limit(&self, name: &str) -> Option<u64> {
        self.limit(name, 1)
    }

    fn limit(&self, name: &str, column: usize) -> Option<u64> {
        let limits = self.text("proc/self/limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(column)?.parse().ok()
    }

    /// Whether this process has a capability that counts for the whole machine.
    pub fn has(&self, capability: Capability) -> bool {
        !self.in_user_namespace && is_in(self.effective, capability)
    }

    /// Whether its user could get the capability here: root has it.
    pub fn can_have(&self, capability: Capability) -> bool {
        !self.in_user_namespace && is_in(self.bounding, capability)
    }
}

/// CAP_SYS_ADMIN stands for CAP_PERFMON, as in older kernels.
fn is_in(set: u64, capability: Capability) -> bool {
    let bit = |capability: Capability| set >> (capability as u32) & 1 == 1;
    bit(capability) || capability == Capability::Perfmon && bit(Capability::SysAdmin)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs;

    /// Facts of a made-up machine: a user without rights, unless files say otherwise.
    pub(crate) fn facts(files: &[(&str, &str)]) -> (tempfile::TempDir, Facts) {
        let dir = tempfile::tempdir().unwrap();
        let usual = [
            ("proc/sys/kernel/perf_event_paranoid", "2"),
            (
                "proc/self/status",
                "Name:\trprof\nCapPrm:\t0\nCapEff:\t0\nSeccomp:\t0\n",
            ),
            ("proc/self/uid_map", "         0          0 4294967295\n"),
            ("sys/devices/system/cpu/online", "0-1"),
        ];
        for (path, text) in usual.iter().chain(files) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let facts = Facts::below(dir.path());
        (dir, facts)
    }

    #[test]
    fn files_say_what_a_process_may() {
        let (_dir, plain) = facts(&[]);
        assert_eq!((plain.paranoid, plain.n_cpus), (Some(2), 2));
        assert_eq!((plain.seccomp, plain.container), (Seccomp::Off, None));
        assert!(!plain.in_user_namespace && !plain.has(Capability::Perfmon));
        let status = "CapPrm:\t0000004000000000\nCapEff:\t0000004000000000\nSeccomp:\t2\n";
        let (_dir, granted) = facts(&[
            ("proc/self/status", status),
            (
                "sys/kernel/security/lockdown",
                "none [integrity] confidentiality",
            ),
            ("run/.containerenv", ""),
        ]);
        assert!(granted.has(Capability::Perfmon) && !granted.has(Capability::Syslog));
        assert_eq!(granted.seccomp, Seccomp::Filter);
        assert_eq!(granted.lockdown.as_deref(), Some("integrity"));
        assert_eq!(granted.container, Some(Container::Podman));
    }

    #[test]
    fn capabilities_of_a_user_namespace_do_not_count() {
        let (_dir, inside) = facts(&[
            (
                "proc/self/status",
                "CapEff:\t000001ffffffffff\nSeccomp:\t0\n",
            ),
            ("proc/self/uid_map", "         0      65534          1\n"),
        ]);
        assert!(inside.in_user_namespace && !inside.has(Capability::Perfmon));
    }

    #[test]
    fn containers_are_told_by_their_marks() {
        for (path, text, expected) in [
            (".dockerenv", "", Container::Docker),
            (
                "proc/self/cgroup",
                "0::/kubepods/besteffort/pod1/x",
                Container::Kubernetes,
            ),
            (
                "proc/self/cgroup",
                "0::/machine.slice/libpod-12.scope",
                Container::Podman,
            ),
            ("proc/self/cgroup", "0::/lxc.payload.web", Container::Lxc),
        ] {
            let (_dir, facts) = facts(&[(path, text)]);
            assert_eq!(facts.container, Some(expected), "{path} {text}");
        }
    }
}
