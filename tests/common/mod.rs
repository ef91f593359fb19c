//! What all tests through the binary share: running it under a watchdog, scratch folders,
//! needs that are said aloud, and one live test at a time.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program uses a part of it"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// No command of a test takes longer; one that does is killed and the test fails.
const WATCHDOG: Duration = Duration::from_secs(60);

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_rprof"));
    command.args(args).env_remove("DEBUGINFOD_URLS");
    command
}

/// Runs a command to its end, under the watchdog.
#[track_caller]
pub fn run(command: &mut Command) -> Ran {
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
pub fn finish(mut child: Child) -> Ran {
    let pid = child.id();
    let read_all = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_end(&mut bytes).unwrap();
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = read_all(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read_all(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let (done, ended) = channel();
    let waiter = std::thread::spawn(move || {
        let status = child.wait().unwrap();
        // The other side is gone only if the watchdog barked.
        let _ = done.send(status);
    });
    let status = match ended.recv_timeout(WATCHDOG) {
        Ok(status) => status,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            signal(pid, "KILL");
            panic!("still running after {WATCHDOG:?}");
        }
    };
    waiter.join().unwrap();
    Ran {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

/// Sends a signal by name.
pub fn signal(pid: u32, name: &str) {
    let pid = pid.to_string();
    Command::new("kill")
        .args(["-s", name, &pid])
        .status()
        .unwrap();
}

/// A scratch folder, removed at the end.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Recordings are made one at a time: `-a` sees its neighbours, and rings share one budget.
pub fn live() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next one could not bear.
    ONE.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether a tool is there; if not, says so, and fails where that counts as failure (CI).
#[track_caller]
pub fn has(test: &str, tool: &str, package: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|dir| dir.join(tool).is_file()) {
        return true;
    }
    skipped(test, package);
    false
}

/// Whether tests run that need compilers and linkers few have (`cargo xtask ci --wide`).
pub fn is_wide(test: &str) -> bool {
    let is_wide = std::env::var_os("RPROF_WIDE").is_some();
    if !is_wide {
        // Not a failure: one machine that runs them is enough.
        println!("{test}: not run, RPROF_WIDE is not set");
    }
    is_wide
}

/// Whether we may do what only root may.
#[track_caller]
pub fn is_root(test: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    if !is_root {
        skipped(test, "root");
    }
    is_root
}

/// The folder with recordings by other tools.
#[track_caller]
pub fn corpus(test: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("RPROF_CORPUS").map(PathBuf::from);
    if dir.is_none() {
        // Not a failure: the folder is not part of the project.
        println!("{test}: not run, RPROF_CORPUS is not set");
    }
    dir
}

#[track_caller]
fn skipped(test: &str, needs: &str) {
    println!("skipped: {test} needs {needs}");
    assert!(
        std::env::var_os("RPROF_SKIP_IS_FAILURE").is_none(),
        "{test} needs {needs}"
    );
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

/// Compiles a C program with frame pointers.
#[track_caller]
pub fn compile_c(dir: &Path, name: &str, source: &str) -> PathBuf {
    let (input, output) = (dir.join(format!("{name}.c")), dir.join(name));
    std::fs::write(&input, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args([
        "-O1",
        "-g",
        "-fno-omit-frame-pointer",
        "-fno-optimize-sibling-calls",
        "-pthread",
        "-o",
    ]);
    run(cc.arg(&output).arg(&input)).ok();
    output
}

/// A number in front of a word in a line of text: `samples(" 12 samples in ..", "samples")`.
pub fn number_before(text: &str, word: &str) -> Option<u64> {
    let before = text
        .split(word)
        .next()
        .filter(|before| before.len() < text.len())?;
    before.split_whitespace().next_back()?.parse().ok()
}

/// The value behind a heading such as `# Samples: `.
pub fn number_after(text: &str, heading: &str) -> Option<u64> {
    let rest = text.split(heading).nth(1)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// An empty stdout nobody reads, and one that is closed at once.
pub fn closed_pipe() -> Stdio {
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let pipe = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    Stdio::from(pipe)
}

/// Creates a file of these bytes.
pub fn write(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// Burns CPU until it is killed, after a line that says it runs.
pub const SPIN: &str = "echo ready; while :; do :; done";

/// Samples, by the recorder's last line.
#[track_caller]
pub fn samples(stderr: &str) -> u64 {
    number_before(stderr, " samples in").expect(stderr)
}

/// A recording's report.
#[track_caller]
pub fn report(path: &Path, args: &[&str]) -> String {
    let path = path.to_str().unwrap();
    run(&mut rprof(["report", "-i", path].iter().chain(args)))
        .ok()
        .stdout
}
