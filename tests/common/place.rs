//! Places of live tests: which of them run beside one another, and which alone.

use super::needs::{am_root, rights, skipped};
use std::cell::Cell;
use std::io::{ErrorKind, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU32, Ordering};

/// A place among the live tests of the machine, whichever checkout and user they are of: one test has it alone, or
/// several share it. It is free when this goes away, or the test program ends.
#[derive(Debug)]
pub struct Live {
    _socket: UnixListener,
}

thread_local! {
    /// Whether this thread has one: it stays there, as a lock is dropped by who has taken it.
    static HAS_PLACE: Cell<bool> = const { Cell::new(false) };
    /// Whether it has the place alone.
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread's test has the place alone.
pub fn is_alone() -> bool {
    IS_ALONE.get()
}

impl Drop for Live {
    fn drop(&mut self) {
        HAS_PLACE.set(false);
        IS_ALONE.set(false);
    }
}

/// The abstract socket of an exclusive test; each test takes it for a moment to begin. Names of sharers begin with it.
const PLACE: &str = "rprof-live-tests";

/// A place that other live tests may share, for a test that records its own programs and asks for nothing that
/// neighbours change. `None` if nothing can be recorded here, which is said.
#[track_caller]
pub fn live() -> Option<Live> {
    may_record(shared())
}

/// The place alone, for a test that samples what all do, sets what is the whole machine's, or compares what two
/// recorders say: `-a` sees its neighbours, and perf does not bear a recorder beside it. `None` if nothing can be
/// recorded here, which is said.
#[track_caller]
pub fn live_alone() -> Option<Live> {
    may_record(alone())
}

/// The place alone, for those who run perf and record nothing.
///
/// # Panics
/// If this thread has a place already: it would wait for itself.
#[track_caller]
pub fn alone() -> Live {
    begin();
    let _socket = take(PLACE);
    // Nobody joins those who share it now.
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    let names = sockets.lines().filter_map(|line| line.split('@').nth(1));
    for name in names.filter(|name| name.starts_with(&format!("{PLACE}-"))) {
        while has_waited_for(&address(name)) {}
    }
    IS_ALONE.set(true);
    Live { _socket }
}

/// A place with others, for a test that has asked before whether it may record.
#[track_caller]
pub fn shared() -> Live {
    // The rings of a user who is not root share one budget.
    if !am_root() {
        return alone();
    }
    static N_SHARED: AtomicU32 = AtomicU32::new(0);
    begin();
    let _turn = take(PLACE);
    let number = N_SHARED.fetch_add(1, Ordering::Relaxed);
    Live {
        _socket: take(&format!("{PLACE}-{}-{number}", std::process::id())),
    }
}

#[track_caller]
fn begin() {
    assert!(
        !HAS_PLACE.replace(true),
        "this test has the place for live tests already"
    );
}

fn address(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name).unwrap()
}

/// Takes a socket's name that one process at a time can have, and that is free when that ends.
#[track_caller]
fn take(name: &str) -> UnixListener {
    let name = address(name);
    loop {
        match UnixListener::bind_addr(&name) {
            Ok(listener) => return listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse => has_waited_for(&name),
            Err(error) => panic!("live tests take turns by abstract sockets: {error}"),
        };
    }
}

/// Waits until the owner of a socket's name is done; returns whether there was one.
fn has_waited_for(name: &SocketAddr) -> bool {
    match UnixStream::connect_addr(name) {
        Ok(mut other) => {
            // Nobody answers: it ends when the other one is done.
            let _ = other.read(&mut [0]);
            true
        }
        Err(_) => false,
    }
}

/// A place, where something can be recorded; if not, says why.
#[track_caller]
fn may_record(place: Live) -> Option<Live> {
    match &rights().nothing {
        Some(why) => {
            skipped(&format!("perf_event_open ({why})"));
            None
        }
        None => Some(place),
    }
}
