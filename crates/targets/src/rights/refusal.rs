//! Refusals of the kernel's, each with its cause and the smallest step that would help: the one table
//! that `record`, `stat` and `doctor` take their words from.
//!
//! A capability of rprof's file comes before a sysctl, which is for everybody; and
//! `perf_event_paranoid` at -1 is no advice at all.

use super::{Capability, Container, Facts, Seccomp};
use rprof_ringbuf::OpenError;
use rprof_ringbuf::sys::page_size;

/// Above it, nothing is allowed to users without rights (a patch of Debian, Ubuntu, Android).
pub const MOST_PARANOID: i32 = 2;

/// Rings with room for some of the largest stack dumps.
pub const USUAL_RING_BYTES: u64 = 2 << 20;

/// Data pages of a sideband ring: a build's worth of mappings between two drains.
pub const SIDEBAND_PAGES: usize = 32;

/// What gives rings enough memory, the smallest step first.
pub fn rings() -> String {
    more_memory(locked_kib(USUAL_RING_BYTES))
}

/// What gives each CPU this much memory for rings, the smallest step first.
pub fn more_memory(kib: u64) -> String {
    format!(
        "raise ulimit -l, give rprof's file CAP_IPC_LOCK (README.md, \"For a team\"), or sudo sysctl \
         kernel.perf_event_mlock_kb={kib}"
    )
}

/// What a CPU's rings lock: one of samples, of this size, and one of sideband, each with a page of the
/// kernel's.
pub fn locked_kib(ring_bytes: u64) -> u64 {
    let pages = (SIDEBAND_PAGES + 2).saturating_mul(page_size());
    ring_bytes.saturating_add(pages as u64).div_ceil(1024)
}

/// What was to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// User space of one's own processes.
    OwnUser,
    /// The kernel, while it works for them.
    OwnKernel,
    /// Everything on all CPUs.
    AllCpus,
    /// Tracepoints, which show the kernel's data.
    Tracepoint,
    /// Probes in files, which change the code of every program that has them mapped.
    FileProbe,
    /// What only CAP_PERFMON allows, at any level.
    Privileged,
}

impl Wanted {
    /// The highest `perf_event_paranoid` that allows it to everybody.
    const fn level(self) -> i32 {
        match self {
            Self::OwnUser => MOST_PARANOID,
            Self::OwnKernel => 1,
            Self::AllCpus => 0,
            Self::Tracepoint | Self::FileProbe | Self::Privileged => -1,
        }
    }

    const fn needs(self) -> &'static str {
        match self {
            Self::OwnUser => "profiling your own programs needs",
            Self::OwnKernel => "profiling the kernel needs",
            Self::AllCpus => "system-wide profiling needs",
            Self::Tracepoint => "tracepoints need",
            Self::FileProbe => "probes in files need",
            Self::Privileged => "this needs",
        }
    }
}

/// Why an event could not be opened, and what to do.
pub fn of(error: &OpenError, wanted: Wanted, facts: &Facts) -> String {
    match error {
        OpenError::Access => access(wanted, facts),
        // So the kernel answers of tracepoints (perf_allow_tracepoint, v6.12).
        OpenError::Forbidden
            if wanted == Wanted::Tracepoint
                && facts.seccomp != Seccomp::Filter
                && !facts.has(Capability::Perfmon) =>
        {
            access(wanted, facts)
        }
        OpenError::Forbidden => forbidden(facts),
        OpenError::NoSystemCall => match facts.seccomp {
            Seccomp::Filter => filtered(facts),
            _ => "this kernel was built without CONFIG_PERF_EVENTS".to_owned(),
        },
        OpenError::NoSuchEvent => {
            "this machine (or virtual machine) cannot count it: try -e cpu-clock".to_owned()
        }
        OpenError::TooManyFiles => {
            "each event of each thread on each CPU needs an open file: raise ulimit -n".to_owned()
        }
        OpenError::NoSuchTask => "it has ended".to_owned(),
        OpenError::Busy => "stop the other user of the counter (perf, a debugger)".to_owned(),
        _ => "try other settings, or -e cpu-clock".to_owned(),
    }
}

/// EACCES of a probe in a file. CAP_SYS_ADMIN it takes before Linux 5.8, and since 6.16, from which stable kernels have
/// it, too ("perf: Revert to requiring CAP_SYS_ADMIN for uprobes"); CAP_PERFMON in between.
fn file_probe(facts: &Facts) -> String {
    let fix = allow(Wanted::FileProbe, facts);
    if facts.has(Capability::Perfmon) {
        format!(
            "CAP_PERFMON is not enough for probes in files on this kernel, they need CAP_SYS_ADMIN: {fix}"
        )
    } else {
        format!(
            "probes in files need CAP_SYS_ADMIN (from Linux 5.8 to 6.15 CAP_PERFMON is enough): {fix}"
        )
    }
}

/// EACCES: `perf_event_paranoid`, or something that answers in its place.
fn access(wanted: Wanted, facts: &Facts) -> String {
    if wanted == Wanted::FileProbe && !facts.has(Capability::SysAdmin) {
        return file_probe(facts);
    }
    let is_paranoid = facts.paranoid.is_none_or(|level| level > wanted.level());
    if !is_paranoid || facts.has(Capability::Perfmon) {
        return match facts.seccomp {
            Seccomp::Filter => filtered(facts),
            _ => "kernel.perf_event_paranoid would allow it, but a security module does not (see the kernel \
                log for SELinux or AppArmor)"
                .to_owned(),
        };
    }
    let is = facts
        .paranoid
        .map_or("unknown".to_owned(), |level| level.to_string());
    let needs = wanted.needs();
    let fix = allow(wanted, facts);
    match wanted {
        Wanted::Tracepoint | Wanted::FileProbe | Wanted::Privileged => {
            format!("{needs} CAP_PERFMON: {fix}")
        }
        _ => format!(
            "{needs} kernel.perf_event_paranoid at {} or below (it is {is}), or CAP_PERFMON: {fix}",
            wanted.level()
        ),
    }
}

/// The smallest step that allows what paranoia forbids.
pub fn allow(wanted: Wanted, facts: &Facts) -> String {
    let level = wanted.level();
    let mut steps = Vec::new();
    let capability = match wanted {
        Wanted::FileProbe => Capability::SysAdmin,
        _ => Capability::Perfmon,
    };
    let confining = facts.container.filter(|_| !facts.can_have(capability));
    steps.push(match (facts.in_user_namespace, confining) {
        (true, _) => "privileges inside a user namespace do not count: run rprof outside it",
        (false, Some(_)) if wanted == Wanted::FileProbe => {
            "run rprof outside the container, as root"
        }
        (false, Some(container)) => container.grant(),
        (false, None) if matches!(wanted, Wanted::Tracepoint | Wanted::FileProbe) => {
            "run with sudo"
        }
        (false, None) => {
            "run with sudo, or give rprof's file CAP_PERFMON (README.md, \"For a team\")"
        }
    });
    let sysctl = format!("sudo sysctl kernel.perf_event_paranoid={level}");
    if level >= 0 {
        steps.push(&sysctl);
    }
    if wanted == Wanted::AllCpus {
        steps.push("record a command");
    }
    steps.join("; or ")
}

/// EPERM: a filter of system calls, lockdown, or a security module.
fn forbidden(facts: &Facts) -> String {
    match (facts.seccomp, facts.lockdown.as_deref()) {
        (Seccomp::Filter, _) => filtered(facts),
        (_, Some("confidentiality")) => {
            "the kernel is locked down (confidentiality): boot without lockdown=confidentiality"
                .to_owned()
        }
        _ => "a security module forbids it (see the kernel log for SELinux or AppArmor)".to_owned(),
    }
}

/// That a seccomp filter forbids it, and what lets it pass.
fn filtered(facts: &Facts) -> String {
    let pass = facts.container.map_or(
        "allow the system call (systemd services: SystemCallFilter=perf_event_open; containers: --cap-add \
         PERFMON), or run rprof where no filter applies",
        Container::pass_filter,
    );
    format!("a seccomp filter forbids perf_event_open: {pass}")
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::facts;
    use super::*;

    const FILTERED: (&str, &str) = ("proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");

    #[test]
    fn each_refusal_has_its_cause() {
        let (_dir, plain) = facts(&[]);
        let kernel = of(&OpenError::Access, Wanted::OwnKernel, &plain);
        assert!(
            kernel.contains("perf_event_paranoid at 1 or below (it is 2)"),
            "{kernel}"
        );
        assert!(
            kernel.contains("sudo sysctl kernel.perf_event_paranoid=1"),
            "{kernel}"
        );
        let own = of(&OpenError::Access, Wanted::OwnUser, &plain);
        assert!(own.contains("security module"), "{own}");
        let (_dir, debian) = facts(&[("proc/sys/kernel/perf_event_paranoid", "3")]);
        let own = of(&OpenError::Access, Wanted::OwnUser, &debian);
        assert!(own.contains("at 2 or below (it is 3)"), "{own}");
        let tracepoint = of(&OpenError::Forbidden, Wanted::Tracepoint, &plain);
        assert!(tracepoint.contains("need CAP_PERFMON"), "{tracepoint}");
        let missing = of(&OpenError::NoSystemCall, Wanted::OwnUser, &plain);
        assert!(missing.contains("CONFIG_PERF_EVENTS"), "{missing}");
    }

    #[test]
    fn nobody_is_told_to_give_what_is_given() {
        let (_dir, plain) = facts(&[]);
        let said = of(&OpenError::Access, Wanted::FileProbe, &plain);
        assert!(
            said.starts_with("probes in files need CAP_SYS_ADMIN"),
            "{said}"
        );
        assert!(said.ends_with(": run with sudo"), "{said}");
        let perfmon = ("proc/self/status", "CapEff:\t0000004000000000\n");
        let (_dir, team) = facts(&[perfmon]);
        let said = of(&OpenError::Access, Wanted::FileProbe, &team);
        assert!(said.starts_with("CAP_PERFMON is not enough"), "{said}");
        assert!(!said.contains("give rprof's file"), "{said}");
    }

    #[test]
    fn memory_is_for_the_rings_and_what_comes_with_them() {
        let page_kib = page_size() as u64 / 1024;
        let others_kib = (SIDEBAND_PAGES as u64 + 2) * page_kib;
        assert_eq!(locked_kib(64 << 20), (64 << 10) + others_kib);
        let said = rings();
        let enough = format!("kernel.perf_event_mlock_kb={}", 2048 + others_kib);
        assert!(said.ends_with(&enough), "{said}");
    }

    #[test]
    fn a_filter_is_passed_as_its_container_lets_it() {
        for (mark, words) in [
            (".dockerenv", "docker run --cap-add PERFMON"),
            ("run/.containerenv", "podman run --cap-add PERFMON"),
            (
                "var/run/secrets/kubernetes.io/x",
                "securityContext.capabilities.add: [PERFMON]",
            ),
            ("x", "SystemCallFilter=perf_event_open"),
        ] {
            let (_dir, inside) = facts(&[FILTERED, (mark, "")]);
            for error in [
                OpenError::Forbidden,
                OpenError::NoSystemCall,
                OpenError::Access,
            ] {
                let text = of(&error, Wanted::OwnUser, &inside);
                assert!(
                    text.contains("a seccomp filter") && text.contains(words),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn lockdown_is_no_filter() {
        let lockdown = "none integrity [confidentiality]";
        let (_dir, locked) = facts(&[("sys/kernel/security/lockdown", lockdown)]);
        let text = of(&OpenError::Forbidden, Wanted::OwnKernel, &locked);
        assert!(text.contains("locked down"), "{text}");
    }

    #[test]
    fn nobody_is_told_to_be_less_paranoid_than_none() {
        let (_dir, plain) = facts(&[]);
        let (_dir, inside) = facts(&[("proc/self/uid_map", "0 1000 1")]);
        for wanted in [
            Wanted::OwnUser,
            Wanted::OwnKernel,
            Wanted::AllCpus,
            Wanted::Tracepoint,
        ] {
            for facts in [&plain, &inside] {
                let text = of(&OpenError::Access, wanted, facts);
                assert!(!text.contains("=-1"), "{text}");
                assert!(!text.contains("at -1"), "{text}");
            }
            let text = allow(wanted, &inside);
            assert!(text.contains("user namespace"), "{text}");
        }
    }
}
