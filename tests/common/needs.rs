//! What tests need and this machine may lack: said aloud, each time, and never a silent success.

use super::{Ran, rprof, run, scratch, tool};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The test that this thread runs: its name without its modules. The harness gives each test a thread of that name.
///
/// # Panics
/// In a thread that a test has started.
#[track_caller]
pub fn test_name() -> String {
    let thread = std::thread::current();
    let path = thread.name().expect("a thread of the test harness");
    path.rsplit("::").next().unwrap_or_default().to_owned()
}

/// Says that a test, or the rest of it, did not run because something is not here. Where everything
/// has to be there (`RPROF_SKIP_IS_FAILURE`), that is a failure.
#[track_caller]
pub fn skipped(needs: &str) {
    let test = test_name();
    say(&format!("skipped: {test} needs {needs}\n"));
    assert!(
        std::env::var_os("RPROF_SKIP_IS_FAILURE").is_none(),
        "{test} needs {needs}"
    );
}

/// Says that a test, or the rest of it, did not run for a reason that is no failure anywhere.
pub fn not_run(why: &str) {
    say(&format!("not run: {}: {why}\n", test_name()));
}

/// What the test or helper that begins so needs: where something is missing, that is said, and it returns what its
/// type has for nothing. Rights, tools in packages, and a place among live tests, which is kept until it ends:
/// `needs!(root, perf, "c++" in "g++", live)`.
macro_rules! needs {
    (@one live) => { let Some(_live) = $crate::common::live() else { return Default::default() }; };
    (@one alone) => { let Some(_live) = $crate::common::live_alone() else { return Default::default() }; };
    (@one perf) => { needs!(@one "perf" in "linux-perf"); };
    (@one cc) => { needs!(@one "cc" in "gcc"); };
    (@one $tool:literal in $package:literal) => { needs!(@if $crate::common::has($tool, $package)); };
    (@one root) => { needs!(@if $crate::common::is_root()); };
    (@one x86_64) => { needs!(@if $crate::common::is_x86_64()); };
    (@one wide) => { needs!(@if $crate::common::is_wide()); };
    (@one kernel) => { needs!(@if $crate::common::records_kernel()); };
    (@one all_cpus) => { needs!(@if $crate::common::records_all()); };
    (@if $has:expr) => { if !$has { return Default::default(); } };
    ($($need:tt $(in $package:literal)?),+) => { $(needs!(@one $need $(in $package)?);)+ };
}
pub(crate) use needs;

/// A line for whoever looks at the tests, which the test harness does not keep to itself; also into
/// the file that `RPROF_SKIPS` names.
fn say(line: &str) {
    // There is nobody else to tell that it cannot be told.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("RPROF_SKIPS") {
        let mut options = std::fs::File::options();
        let mut file = options.append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// What may be recorded here.
#[derive(Debug)]
pub(super) struct Rights {
    /// Why nothing may.
    pub(super) nothing: Option<String>,
    /// Samples in the kernel may.
    kernel: bool,
    /// Everything on all CPUs may.
    all: bool,
}

/// Found by trying.
pub(super) fn rights() -> &'static Rights {
    static RIGHTS: OnceLock<Rights> = OnceLock::new();
    RIGHTS.get_or_init(|| {
        let dir = scratch();
        let record = |args: &[&str]| {
            let mut record = rprof(["record", "-o"]);
            record.arg(dir.path().join("perf.data")).args(args);
            run(record.arg("true"))
        };
        let own = record(&[]);
        // Whatever else fails is for the tests to say.
        let is_forbidden = |ran: &Ran| {
            let words = ["EACCES", "EPERM", "ENOSYS", "mlock_kb"];
            let says = |word: &&str| ran.stderr.contains(*word);
            !ran.status.success() && words.iter().any(says) || says(&"sampling by ptrace")
        };
        Rights {
            nothing: is_forbidden(&own).then(|| {
                let error = own.stderr.lines().last().unwrap_or_default();
                error.to_owned()
            }),
            kernel: !own.stderr.contains("not permitted to sample the kernel"),
            all: !is_forbidden(&record(&["-a"])),
        }
    })
}

/// Whether samples in the kernel may be recorded; to be asked by who has the machine's place.
#[track_caller]
pub fn records_kernel() -> bool {
    let may = rights().kernel;
    if !may {
        skipped("root, or kernel.perf_event_paranoid=1");
    }
    may
}

/// Whether everything on all CPUs may be recorded; to be asked by who has the machine's place.
#[track_caller]
pub fn records_all() -> bool {
    let may = rights().all;
    if !may {
        skipped("root, or kernel.perf_event_paranoid=0");
    }
    may
}

/// Whether a tool is there; if not, says so, and fails where that counts as failure (CI).
#[track_caller]
pub fn has(tool: &str, package: &str) -> bool {
    // Some are scripts that look for the real one: that of this kernel, or of the user's home.
    let asks = |word: &str| run(super::tool(tool).arg(word)).status.success();
    let is_here = in_path(tool).is_some()
        && match tool {
            "perf" | "node" | "rustc" | "python3.13" => asks("--version"),
            "go" => asks("version"),
            _ => true,
        };
    if !is_here {
        skipped(package);
    }
    is_here
}

/// Where a tool is.
pub fn in_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|dir| dir.join(tool));
    places.find(|path| path.is_file())
}

/// Whether the C compiler takes these options, such as for kinds of linking that need more packages.
#[track_caller]
pub fn links(options: &[&str], package: &str) -> bool {
    if !has("cc", "gcc") {
        return false;
    }
    let dir = scratch();
    let source = dir.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut cc = tool("cc");
    cc.args(options).arg("-o").arg(dir.path().join("empty"));
    let links = run(cc.arg(&source)).status.success();
    if !links {
        skipped(package);
    }
    links
}

/// Whether this is the one CPU that a test knows code of.
pub fn is_x86_64() -> bool {
    let is = cfg!(target_arch = "x86_64");
    if !is {
        not_run("it is for x86-64");
    }
    is
}

/// Whether tests run that need compilers and linkers few have (`cargo xtask ci --wide`).
pub fn is_wide() -> bool {
    let is_wide = std::env::var_os("RPROF_WIDE").is_some();
    if !is_wide {
        // Not a failure: one machine that runs them is enough.
        not_run("RPROF_WIDE is not set");
    }
    is_wide
}

/// Whether we are root, said by nobody.
pub fn am_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// Whether we may do what only root may.
#[track_caller]
pub fn is_root() -> bool {
    let is_root = am_root();
    if !is_root {
        skipped("root");
    }
    is_root
}

/// Whether we may attach to processes that are not our children (Yama's `ptrace_scope`).
pub fn attaches() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let may = match scope.trim() {
        "" | "0" => true,
        "1" | "2" => am_root(),
        _ => false,
    };
    if !may {
        not_run(&format!("kernel.yama.ptrace_scope={}", scope.trim()));
    }
    may
}

/// The folder with recordings by other tools.
pub fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("RPROF_CORPUS").map(PathBuf::from);
    if dir.is_none() {
        // Not a failure: the folder is not part of the project.
        not_run("RPROF_CORPUS is not set");
    }
    dir
}

/// How commands see tracefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracefs {
    /// It is mounted.
    Mounted,
    /// It is mounted for each command alone: nothing of that stays.
    Private,
}

/// Tracepoints, if they can be used here; if not, says so.
#[track_caller]
pub fn tracefs() -> Option<Tracefs> {
    if !am_root() {
        skipped("root");
        return None;
    }
    if Path::new("/sys/kernel/tracing/events/sched").exists() {
        return Some(Tracefs::Mounted);
    }
    let private = Tracefs::Private;
    if in_path("unshare").is_some() && run(&mut private.within(&tool("true"))).status.success() {
        return Some(private);
    }
    not_run("no tracefs, and none can be mounted");
    None
}

impl Tracefs {
    /// The same command, with tracefs.
    pub fn within(self, command: &Command) -> Command {
        let mut words = vec!["sh", "-c", "exec \"$@\"", "sh"];
        if self == Self::Private {
            let mount = "mount -t tracefs nodev /sys/kernel/tracing && exec \"$@\"";
            words = vec!["unshare", "-m", "sh", "-c", mount, "sh"];
        }
        let mut wrapped = Command::new(words[0]);
        wrapped.args(&words[1..]).arg(command.get_program());
        wrapped.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(name, value),
                None => wrapped.env_remove(name),
            };
        }
        if let Some(dir) = command.get_current_dir() {
            wrapped.current_dir(dir);
        }
        wrapped
    }
}
