//! What all tests through the binary share: running it under a watchdog, scratch folders, programs
//! to record ([`program`]) that do work which is measured ([`work`]), recordings ([`recording`]),
//! programs that end with the test ([`running`], [`cleanup`]), needs that are said aloud ([`needs`]), and
//! live tests that run beside others, or alone ([`place`]).

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each test program uses a part of it"
)]

pub mod attr_dump;
mod cleanup;
mod needs;
pub mod nobody;
mod perf_probe;
mod place;
mod program;
mod recording;
mod running;
pub mod server;
pub mod signals;
pub mod work;

pub use cleanup::{MARK, shared_folder};
pub use needs::*;
pub use perf_probe::PerfProbe;
pub use place::*;
pub use program::*;
pub use recording::Recording;
pub use running::{Running, both, record_while, until};

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// No command of a test takes longer, on a slow and busy machine either; one that does hangs: it is
/// killed and the test fails.
pub const WATCHDOG: Duration = Duration::from_secs(240);

/// Runs a command that reads a file from its standard input.
#[track_caller]
pub fn run_from(command: &mut Command, input: &Path) -> Ran {
    let child = command
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    finish(child.unwrap())
}

/// How a command ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Its output, if it ended well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(
            self.status.success(),
            "{:?}\nstderr: {}",
            self.status,
            self.stderr
        );
        self
    }

    /// Its error line, if it failed with this code and without a panic.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.status.code(), Some(code), "stderr: {}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }
}

/// The binary under test. It asks no servers, whatever the machine is set up to.
pub fn rprof<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = tool(env!("CARGO_BIN_EXE_rprof"));
    command.args(args);
    command
}

/// perf, which keeps nothing of what it records.
pub fn perf<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = tool("perf");
    command.args(args);
    command
}

/// Settings that a user may have for rprof and other tools. Tests run without them.
const SETTINGS: &[&str] = &[
    "COLUMNS",
    "PERF_CONFIG",
    "SUDO_GID",
    "SUDO_UID",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "DEBUGINFOD_CACHE_PATH",
    "DEBUGINFOD_MAXSIZE",
    "DEBUGINFOD_MAXTIME",
    "DEBUGINFOD_PROGRESS",
    "DEBUGINFOD_TIMEOUT",
    "DEBUGINFOD_URLS",
    "DEBUGINFOD_VERBOSE",
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
];

/// Any other program, in a home of its own and in English. It asks no servers either.
pub fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = signals::command(program);
    command.env("HOME", home()).env("LC_ALL", "C");
    for name in SETTINGS {
        command.env_remove(name);
    }
    cleanup::mark(&mut command);
    // What Go compiles is named by all that it is made of.
    command.env(
        "GOCACHE",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-build"),
    );
    // Compilers are looked for there.
    if let (None, Some(home)) = (std::env::var_os("RUSTUP_HOME"), std::env::var_os("HOME")) {
        command.env("RUSTUP_HOME", Path::new(&home).join(".rustup"));
    }
    command
}

/// The home of whatever tests run: the folder `RPROF_TEST_HOME`, or one among what is built.
pub fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = std::env::var_os("RPROF_TEST_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("home"));
        if let Err(error) = furnish(&home) {
            panic!(
                "{}: {error}; RPROF_TEST_HOME may name another",
                home.display()
            );
        }
        home
    })
}

fn furnish(home: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(home)?;
    let settings = home.join(".perfconfig");
    // Without this perf copies every program that it records to ~/.debug.
    let text = "[record]\n\tbuild-id = no-cache\n";
    match std::fs::read_to_string(&settings) {
        Ok(there) if there == text => Ok(()),
        _ => std::fs::write(settings, text),
    }
}

/// Runs a command to its end, under the watchdog.
#[track_caller]
pub fn run(command: &mut Command) -> Ran {
    // A few times if perf aborts over build ids: while anybody records with them, Linux (6.18) marks
    // the mappings in everybody's recordings as having some, and perf (6.1) believes it.
    let is_marked = |ran: &Ran| ran.status.signal() == Some(6) && ran.stderr.contains("build-id.c");
    let mut ran = run_once(command);
    for _ in 0..4 {
        if is_marked(&ran) {
            ran = run_once(command);
        }
    }
    ran
}

#[track_caller]
fn run_once(command: &mut Command) -> Ran {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    finish(child)
}

/// Waits for a command that was started with piped output, under the watchdog.
#[track_caller]
pub fn finish(child: Child) -> Ran {
    Running::of(child).finish()
}

/// What comes from a thread, unless it takes too long.
pub fn end_of<T>(receiver: &Receiver<T>, until: Instant) -> Option<T> {
    let left = until.saturating_duration_since(Instant::now());
    receiver.recv_timeout(left).ok()
}

/// Sends a signal by name. It may have come too late.
pub fn signal(pid: u32, name: &str) {
    // Not every machine has a program for it; shells do it themselves.
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -s \"$0\" \"$1\"", name, &pid.to_string()]);
    let _ = shell.stderr(Stdio::null()).status();
}

/// A scratch folder, removed at the end.
pub fn scratch() -> tempfile::TempDir {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    let base = BASE.get_or_init(|| {
        let base = std::env::temp_dir();
        if can_execute(&base) {
            base
        } else {
            // Mounted noexec: programs can run where this one was built.
            PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        }
    });
    let dir = tempfile::tempdir_in(base).unwrap();
    // Mounted nosuid, root's programs below it are a stranger's, and their sources must be everybody's to read.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// Whether programs run that lie below a folder.
fn can_execute(base: &Path) -> bool {
    let dir = tempfile::tempdir_in(base).unwrap();
    // Copied by another process: ours may be duplicated while it has the file open for writing.
    let copy = "cp \"$(command -v cat)\" \"$0\" && \"$0\" /dev/null";
    let mut shell = Command::new("sh");
    shell.args(["-c", copy]).arg(dir.path().join("cat"));
    run(&mut shell).status.success()
}

/// A copy of the binary under test, where everybody comes to it.
pub fn copy_of_rprof(dir: &Path) -> PathBuf {
    let copy = dir.join("rprof");
    run(tool("cp").arg(env!("CARGO_BIN_EXE_rprof")).arg(&copy)).ok();
    copy
}

/// Folder of the project's fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Compares with a golden file; with `RPROF_BLESS` set, writes it instead.
#[track_caller]
pub fn golden(path: &Path, actual: &str) {
    if std::env::var_os("RPROF_BLESS").is_some() {
        std::fs::write(path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        actual == expected,
        "{} differs (cargo xtask bless rewrites it)\n--- expected\n{expected}\n--- actual\n{actual}",
        path.display()
    );
}

/// A number in front of a word in a line of text: `samples(" 12 samples in ..", "samples")`.
pub fn number_before(text: &str, word: &str) -> Option<u64> {
    let before = text
        .split(word)
        .next()
        .filter(|before| before.len() < text.len())?;
    before.split_whitespace().next_back()?.parse().ok()
}

/// The value after a heading such as `# Samples: `.
pub fn number_after(text: &str, heading: &str) -> Option<u64> {
    let rest = text.split(heading).nth(1)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// A stdout that nobody reads.
pub fn closed_pipe() -> Stdio {
    let (_, writer) = std::io::pipe().unwrap();
    Stdio::from(writer)
}

/// Creates a file of these bytes.
pub fn write(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// Samples, by the recorder's last line.
#[track_caller]
pub fn samples(stderr: &str) -> u64 {
    let many = number_before(stderr, " samples in");
    many.or_else(|| number_before(stderr, " sample in"))
        .expect(stderr)
}

/// A recording's report.
#[track_caller]
pub fn report(path: &Path, args: &[&str]) -> String {
    let path = path.to_str().unwrap();
    run(&mut rprof(["report", "-i", path].iter().chain(args)))
        .ok()
        .stdout
}

/// The path of the C library that this test runs with, by the names that glibc and musl have for it.
///
/// # Panics
/// If it is linked statically.
pub fn libc() -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_libc = |path: &&str| {
        let name = path.rsplit('/').next().unwrap();
        let names = ["libc.so", "libc-", "ld-musl-"];
        path.starts_with('/') && names.iter().any(|start| name.starts_with(start))
    };
    let mut words = maps.split_whitespace();
    words.find(is_libc).unwrap().to_owned()
}
