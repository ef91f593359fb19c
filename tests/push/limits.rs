//! Servers that take less than others: messages are split, one that is never taken lets others pass, and a signal waits
//! for an answer.

use super::collector::{Collector, Received, Reply};
use super::delivery::{n_samples, record};
use super::{copied, push, pushed};
use crate::common::{Running, both, run, scratch, tool, until};
use crate::export::otlp;
use crate::push::protocols::unpacked;
use prost::Message;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The rows of a message.
fn n_rows(request: &Received) -> usize {
    let message = otlp::Request::decode(&*unpacked(&request.body)).unwrap();
    message.profiles().next().unwrap().samples.len()
}

/// A server that takes so many rows at once, and answers more with this status.
fn limited(status: u16, most: usize) -> Collector {
    Collector::new(move |request, _| {
        if n_rows(request) > most {
            Reply::status(status)
        } else {
            Reply::ok()
        }
    })
}

/// Samples of messages of at most so many rows, each as often as it came.
fn n_taken(server: &Collector, most: usize) -> u64 {
    let received = server.received().into_iter();
    let taken = received.filter(|request| n_rows(request) <= most);
    taken.map(|request| n_samples(&[request])).sum()
}

#[test]
fn what_is_too_large_for_a_server_is_split() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 5000, 3);
    let server = limited(413, 1000);
    let ran = pushed(&server.url, "otlp", &file);
    let said = "pushed 1 recording (5000 samples, 8 messages)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(n_taken(&server, 1000), 5000);
    assert_eq!(server.received().len(), 15);
}

#[test]
fn a_server_whose_limit_was_raised_gets_nothing_twice() {
    static MOST: AtomicUsize = AtomicUsize::new(600);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 2000, 3);
    let server = Collector::new(|request, nth| {
        if nth == 3 {
            Reply::Silence
        } else if n_rows(request) > MOST.load(Ordering::SeqCst) {
            Reply::status(413)
        } else {
            Reply::ok()
        }
    });
    let running = Running::start(&mut push(&server.url, "otlp", &file));
    server.wait_for(4);
    drop(running);
    MOST.store(usize::MAX, Ordering::SeqCst);
    pushed(&server.url, "otlp", &file);
    let received = server.received();
    let rows: Vec<_> = received.iter().map(n_rows).collect();
    // Two are refused, one has no answer; what it is a half of is not sent any more.
    assert_eq!(rows, [2000, 1000, 500, 500, 500, 1000]);
    assert_eq!(n_samples(&received[2..]), 2000);
}

#[test]
fn what_cannot_be_split_any_more_is_set_aside() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 3, 3);
    let server = limited(413, 0);
    let error = run(&mut push(&server.url, "otlp", &file)).fails(1);
    assert!(error.contains("(status 413, too large)"), "{error}");
    assert_eq!(server.received().len(), 5);
}

/// Pyroscope answers 429 to what is larger than its burst, whenever it comes.
#[test]
fn what_is_always_too_much_for_a_server_is_split() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 16_000, 3);
    let server = limited(429, 9000);
    let ran = pushed(&server.url, "otlp", &file);
    let said = "pushed 1 recording (16000 samples, 2 messages)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(n_taken(&server, 9000), 16_000);
}

#[test]
fn a_message_that_is_never_taken_lets_others_pass() {
    let dir = scratch();
    copied("dwarf", dir.path(), "1.data");
    for name in ["2.data", "3.data"] {
        copied("spin", dir.path(), name);
    }
    record(&dir.path().join("4.data"), 7, 3);
    let poison = Mutex::new(None);
    let server = Collector::new(move |request, _| {
        let mut poison = poison.lock().unwrap();
        let first = poison.get_or_insert_with(|| request.body.clone());
        if *first == request.body {
            Reply::status(503)
        } else {
            Reply::ok()
        }
    });
    let mut command = push(&server.url, "otlp", dir.path());
    let error = run(command.args(["--give-up-after", "0"])).fails(1);
    assert!(error.contains("1.data is put off"), "{error}");
    let said = "1 recording could not be delivered";
    assert!(error.contains(said), "{error}");
    // 2 and 3 are the same.
    assert_eq!(server.received().len(), 3);
    // A server that takes nothing is left alone after the second try.
    let gone = Collector::new(|_, _| Reply::status(503));
    let mut command = push(&gone.url, "otlp", dir.path());
    run(command.args(["--give-up-after", "0"])).fails(1);
    assert_eq!(gone.received().len(), 2);
}

/// A service that is restarted in the middle of a message does not send it twice.
#[test]
fn a_signal_waits_for_the_answer() {
    for (follow, code) in [(&[][..], 143), (&["--follow"][..], 0)] {
        let dir = scratch();
        copied("spin", dir.path(), "1.data");
        let (go, gone) = mpsc::channel();
        let gone = Mutex::new(gone);
        let server = Collector::new(move |_, _| {
            gone.lock().unwrap().recv().unwrap();
            Reply::ok()
        });
        let mut command = push(&server.url, "otlp", dir.path());
        let mut running = Running::start(&mut both(command.args(follow)));
        server.wait_for(1);
        terminate(&running);
        until(&mut running, "ending after the message");
        go.send(()).unwrap();
        let ran = running.finish();
        assert_eq!(ran.status.code(), Some(code), "{}", ran.stdout);
        let ran = pushed(&server.url, "otlp", dir.path());
        assert!(ran.stderr.contains(", 0 messages)"), "{}", ran.stderr);
        assert_eq!(server.received().len(), 1);
    }
}

/// What a server asks for holds for all messages, and a signal does not wait for it.
#[test]
fn a_server_that_wants_nothing_for_a_while_gets_nothing() {
    let dir = scratch();
    copied("spin", dir.path(), "1.data");
    copied("dwarf", dir.path(), "2.data");
    let server = Collector::new(|_, _| Reply::Is(503, "Retry-After: 200\r\n", Vec::new()));
    let mut command = push(&server.url, "otlp", dir.path());
    let mut running = Running::start(&mut both(command.arg("--follow")));
    let said = until(&mut running, "it wants nothing now; trying again");
    assert!(said.contains("1.data is put off"), "{said}");
    assert_eq!(server.received().len(), 1);
    terminate(&running);
    let ran = running.finish_within(Duration::from_secs(60));
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stdout);
}

fn terminate(running: &Running) {
    let mut shell = tool("sh");
    run(shell.args(["-c", "kill $0"]).arg(running.pid().to_string())).ok();
}
