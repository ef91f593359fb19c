//! Many cases in one process: the test starts itself again, with less memory than anything would
//! need that follows a length in a file, and asks of every case that it ends soon.

use crate::common::{Running, scratch, test_name, tool};
use crate::damage::edits::Edit;
use crate::damage::recordings::{self, Original, Places};
use crate::damage::verbs::{Ways, read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Says that this process is the one with less memory.
const INNER: &str = "RPROF_DAMAGE";

/// Address space of it, KiB.
const MEMORY_KIB: u64 = 1 << 20;

/// No case takes longer: most take milliseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// Nor do all of them, whatever the CPU.
const ALL: Duration = Duration::from_secs(900);

/// Lists what is done to a recording.
pub(crate) type Edits = fn(&Original, &Places) -> Vec<Edit>;

/// Does all of `edits` to all recordings, one by one, in a process of its own.
#[track_caller]
pub(crate) fn run(edits: Edits) {
    if std::env::var_os(INNER).is_some() {
        return run_here(edits);
    }
    let test = test_name();
    let limit = format!("ulimit -v {MEMORY_KIB} && exec \"$@\"");
    let child = tool("sh")
        .args(["-c", &limit, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("damage::{test}"), "--nocapture"])
        .env(INNER, "1")
        .env("RUST_BACKTRACE", "0")
        // Arenas take address space, not memory.
        .env("MALLOC_ARENA_MAX", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = Running::of(child).finish_within(ALL);
    let mut cases = ran.stdout.lines().filter(|line| line.starts_with("case "));
    let last = cases.next_back().unwrap_or("none");
    assert!(
        ran.status.success(),
        "{:?}, last {last}\n{}",
        ran.status,
        ran.stderr
    );
    let done = ran.stdout.lines().find(|line| line.starts_with("done: "));
    println!("{test} {}", done.expect("the inner test says what it did"));
}

/// The cases run in a thread, so that the one that hangs can be named.
fn run_here(edits: Edits) {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let memory = limits.lines().find(|line| line.contains("address space"));
    let limit = (MEMORY_KIB << 10).to_string();
    assert!(memory.is_some_and(|line| line.contains(&limit)), "{limits}");
    let (sender, results) = channel();
    let worker = std::thread::Builder::new()
        .name(test_name())
        .spawn(move || run_all(edits, &sender))
        .unwrap();
    let mut n_cases = 0u32;
    let mut bad = Vec::new();
    loop {
        match results.recv_timeout(LIMIT) {
            Ok(result) => {
                n_cases += 1;
                bad.extend(result);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("the last case runs for {LIMIT:?}"),
        }
    }
    worker.join().expect("cases are caught one by one");
    println!("done: {n_cases} cases");
    let shown = &bad[..bad.len().min(20)];
    assert!(bad.is_empty(), "{} are bad: {shown:#?}", bad.len());
}

/// Sends for each case what is wrong with it, if something is.
fn run_all(edits: Edits, results: &Sender<Option<String>>) {
    let nowhere = scratch();
    for recording in recordings::all() {
        let Some(places) = recording.places() else {
            continue;
        };
        for (number, edit) in edits(&recording, &places).into_iter().enumerate() {
            let name = format!("{} {edit:?}", recording.name);
            println!("case {name}");
            let checked = catch_unwind(AssertUnwindSafe(|| {
                check(&recording, &edit, number, nowhere.path())
            }));
            let result = match checked {
                Ok(result) => result,
                Err(_) => Some("panics".to_owned()),
            };
            let result = result.map(|what| format!("{name}: {what}"));
            // Nobody listens any more only if the test failed already.
            let _ = results.send(result);
        }
    }
}

fn check(recording: &Original, edit: &Edit, number: usize, nowhere: &Path) -> Option<String> {
    let reader = match recording.open(edit.apply(&recording.bytes)) {
        Ok(reader) => reader,
        Err(error) => {
            let what = error.to_string();
            return (what.is_empty() || what.contains('\n')).then(|| format!("says {what:?}"));
        }
    };
    let ways = if edit.must_be_said() {
        Ways::All
    } else {
        // Edits come in threes and fours of the same place.
        Ways::Some(number + number / 3)
    };
    let root = recording.root.as_deref().unwrap_or(nowhere);
    let silent = read(&reader, root, ways);
    (edit.must_be_said() && !silent.is_empty()).then(|| format!("no word of it by {silent:?}"))
}
