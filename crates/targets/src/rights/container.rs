//! In what kind of container this process runs, and how that lets it open events.

use std::path::Path;

/// Who made the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// Kubernetes, with any runtime.
    Kubernetes,
    /// LXC, Incus, LXD.
    Lxc,
}

/// Parts of the path of a control group that tell.
const GROUPS: &[(&str, Container)] = &[
    ("kubepods", Container::Kubernetes),
    ("libpod", Container::Podman),
    ("docker", Container::Docker),
    ("lxc", Container::Lxc),
];

impl Container {
    /// Looks for what the makers leave below `root`; a pod of Kubernetes has marks of its runtime, too.
    pub fn find(root: &Path) -> Option<Self> {
        if root.join("var/run/secrets/kubernetes.io").exists() {
            return Some(Self::Kubernetes);
        }
        let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let by_group = GROUPS.iter().find(|(part, _)| groups.contains(part));
        if let Some((_, container)) = by_group {
            return Some(*container);
        }
        let marks = [
            ("run/.containerenv", Self::Podman),
            (".dockerenv", Self::Docker),
        ];
        let mark = marks.iter().find(|(path, _)| root.join(path).exists());
        mark.map(|(_, container)| *container)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "Docker",
            Self::Podman => "Podman",
            Self::Kubernetes => "Kubernetes",
            Self::Lxc => "LXC",
        }
    }

    /// What lets a filter pass `perf_event_open`. The runtimes' own profiles do for who has the capability.
    pub fn pass_filter(self) -> &'static str {
        match self {
            Self::Docker => {
                "docker run --cap-add PERFMON (Docker 23 or newer), or --security-opt \
                 seccomp=FILE with a profile that allows perf_event_open"
            }
            Self::Podman => {
                "podman run --cap-add PERFMON, or --security-opt seccomp=FILE with a profile that \
                 allows perf_event_open"
            }
            Self::Kubernetes => {
                "securityContext.capabilities.add: [PERFMON] of the container, or a seccompProfile of \
                 type Localhost that allows perf_event_open"
            }
            Self::Lxc => "lxc.seccomp.profile with a profile that allows perf_event_open",
        }
    }

    /// What gives it CAP_PERFMON.
    pub fn grant(self) -> &'static str {
        match self {
            Self::Docker => "docker run --cap-add PERFMON",
            Self::Podman => "sudo podman run --cap-add PERFMON",
            Self::Kubernetes => "securityContext.capabilities.add: [PERFMON] of the container",
            Self::Lxc => "a privileged container",
        }
    }
}
