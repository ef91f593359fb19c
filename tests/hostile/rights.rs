//! An rprof that has more rights than its user.

use crate::common::nobody::{NOBODY, Sysctl, as_user};
use crate::common::{Running, copy_of_rprof, needs, report, run, scratch, skipped, tool};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The group of those who may record everybody.
const TEAM: u32 = 65533;

/// A copy of rprof with capabilities, in a folder where everybody comes and the other user may write.
struct Installed {
    dir: TempDir,
    binary: PathBuf,
    _paranoid: Sysctl,
}

impl Installed {
    /// For the team, with this mode and these capabilities. `None` where there are none, which is said.
    #[track_caller]
    fn new(mode: u32, capabilities: &str) -> Option<Self> {
        needs!(root, "setpriv" in "util-linux", "setcap" in "libcap2-bin");
        let dir = scratch();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let binary = copy_of_rprof(dir.path());
        // In this order: a file that changes hands loses its capabilities.
        chown(&binary, Some(0), Some(TEAM)).unwrap();
        fs::set_permissions(&binary, Permissions::from_mode(mode)).unwrap();
        if !capabilities.is_empty() {
            let set = run(tool("setcap").arg(capabilities).arg(&binary));
            if !set.status.success() {
                skipped("a file system with capabilities");
                return None;
            }
        }
        let paranoid = Sysctl::set_or_skip("kernel/perf_event_paranoid", "2")?;
        let theirs = dir.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
        Some(Self {
            dir,
            binary,
            _paranoid: paranoid,
        })
    }

    /// `rprof record`, by the other user in this group, in the folder that is theirs.
    fn record(&self, group: u32, args: &[&str]) -> Command {
        // setpriv itself executes with the rights that it has had.
        let mut command = as_user(NOBODY, group, "env");
        command.arg(&self.binary);
        command.args(["record", "-e", "cpu-clock"]).args(args);
        let theirs = self.dir.path().join("theirs");
        command.env("HOME", &theirs).current_dir(theirs);
        command
    }
}

const CAPABILITIES: &str = "cap_perfmon,cap_sys_ptrace,cap_syslog=ep";

#[test]
fn capabilities_that_everybody_could_use_are_dropped() {
    needs!(alone);
    let Some(installed) = Installed::new(0o755, CAPABILITIES) else {
        return;
    };
    let roots = Running::start(&mut tool("cat"));
    for group in [NOBODY, TEAM] {
        let roots = roots.pid().to_string();
        let error = run(&mut installed.record(group, &["-p", &roots, "--duration", "9"])).fails(1);
        assert!(error.contains("dropping its file capabilities"), "{error}");
        assert!(error.contains("another user (uid 0)"), "{error}");
        let error = run(&mut installed.record(group, &["-a", "--", "true"])).fails(1);
        assert!(error.contains("perf_event_paranoid at 0"), "{error}");
    }
    // What is one's own is recorded as ever, in user space.
    let own = run(&mut installed.record(NOBODY, &["-F", "999", "--", "true"])).ok();
    assert!(own.stderr.contains("user space only"), "{}", own.stderr);
    report(
        &installed.dir.path().join("theirs/perf.data"),
        &["-g", "none"],
    );
    let mut own = Running::start(&mut as_user(NOBODY, NOBODY, "cat"));
    // Until then it may be root's still.
    own.type_in(b"theirs\n");
    assert_eq!(own.line(), "theirs");
    let own = own.pid().to_string();
    run(&mut installed.record(NOBODY, &["-p", &own, "--duration", "0.1"])).ok();
}

#[test]
fn capabilities_count_for_the_group_that_may_run_the_file() {
    needs!(alone);
    // One that gives files away is not for recording.
    let capabilities = format!("cap_dac_override,{CAPABILITIES}");
    let Some(installed) = Installed::new(0o750, &capabilities) else {
        return;
    };
    let roots = Running::start(&mut tool("cat"));
    let roots = roots.pid().to_string();
    let watch = ["-p", &roots, "--duration", "0.1"];
    let ran = run(&mut installed.record(TEAM, &watch)).ok();
    assert!(!ran.stderr.contains("dropped"), "{}", ran.stderr);
    run(&mut installed.record(TEAM, &["-a", "--", "true"])).ok();
    let ran = run(&mut installed.record(TEAM, &["--", "grep", "^Cap", "/proc/self/status"])).ok();
    for line in ran
        .stdout
        .lines()
        .filter(|line| !line.starts_with("CapBnd"))
    {
        assert!(line.ends_with("\t0000000000000000"), "{}", ran.stdout);
    }
    // Files are still opened with the user's own rights.
    let out = installed.dir.path().join("perf.data");
    let error = run(&mut installed.record(TEAM, &["-o", out.to_str().unwrap(), "true"])).fails(1);
    assert!(error.contains("Permission denied"), "{error}");
    // Others cannot even start it.
    let others = run(&mut installed.record(NOBODY, &watch));
    assert!(others.stderr.contains("Permission denied"), "{others:?}");
}

#[test]
fn a_set_user_id_or_set_group_id_rprof_does_nothing() {
    needs!(alone);
    for mode in [0o4755, 0o2755] {
        let Some(installed) = Installed::new(mode, "") else {
            return;
        };
        let error = run(&mut installed.record(NOBODY, &["-a", "--", "true"])).fails(1);
        assert!(error.contains("set-user-id or set-group-id"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        let theirs = installed.dir.path().join("theirs");
        assert_eq!(theirs.read_dir().unwrap().count(), 0);
    }
}
