//! Events in, lines out.

use super::*;
use rprof_analysis::SyscallStack;
use rprof_untrusted::Untrusted;

fn tracer(is_live: bool) -> Tracer {
    let form = TraceForm::Lines;
    Tracer::new(
        "x86_64",
        TraceOptions {
            form,
            is_live,
            selection: None,
            fit: None,
        },
    )
}

fn held(tracer: &mut Tracer, time_ns: u64, step: SyscallStep, comm: &str) -> HeldEvent {
    tracer.traced.newest_ns = tracer.traced.newest_ns.max(time_ns);
    tracer.hold(&SyscallEvent {
        time_ns,
        pid: 7,
        tid: 7,
        step,
        comm: Untrusted::new(comm),
        stack: SyscallStack::default(),
    })
}

fn enter(number: i64) -> SyscallStep {
    SyscallStep::Enter {
        number,
        args: [0; 6],
    }
}

fn leave(number: i64, result: i64) -> SyscallStep {
    SyscallStep::Leave { number, result }
}

/// The lines of events of a thread; each is a second after the one before.
fn lines(events: &[(SyscallStep, &str)]) -> Vec<String> {
    let mut tracer = tracer(false);
    let mut lines = Lines::new(true);
    for (time_s, &(step, comm)) in (0..).zip(events) {
        let event = held(&mut tracer, time_s * 1_000_000_000, step, comm);
        tracer.take(&event, &mut lines);
    }
    let mut out = Vec::new();
    lines.write_all(&mut out).unwrap();
    words(&out)
}

/// Lines with single spaces.
fn words(out: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(out).unwrap().lines();
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_name_may_become_none() {
    let found = lines(&[
        (enter(39), "a"),
        (leave(39, 7), "a"),
        (SyscallStep::Fork { parent: 1 }, ""),
        (enter(39), "a"),
        (leave(39, 7), ""),
    ]);
    let expected = [
        "0.000 (1000.000 ms): a/7 getpid() = 7",
        "3000.000 (1000.000 ms): /7 getpid() = 7",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_call_during_which_events_were_lost_has_no_time() {
    let found = lines(&[
        (enter(39), "a"),
        (SyscallStep::Lost, ""),
        (leave(39, 7), "a"),
    ]);
    let expected = [
        "0.000 ( ): a/7 getpid() = ? (lost)",
        "? ( ): a/7 getpid(...) = 7",
    ];
    assert_eq!(found, expected);
}

#[test]
fn nor_has_one_where_a_part_is_missing() {
    let mut tracer = tracer(true);
    let mut lines = Lines::new(true);
    let mut out = Vec::new();
    let event = held(&mut tracer, 1000, enter(39), "a");
    tracer.held.push(event);
    tracer.release(&mut lines, &mut out).unwrap();
    tracer.lose();
    let event = held(&mut tracer, 5000, leave(39, 7), "a");
    tracer.held.push(event);
    tracer.release(&mut lines, &mut out).unwrap();
    tracer.end(&mut out).unwrap();
    let expected = [
        "0.000 ( ): a/7 getpid() = ? (lost)",
        "? ( ): a/7 getpid(...) = 7",
    ];
    assert_eq!(words(&out), expected);
}

#[test]
fn calls_of_x32_are_those_of_the_64_bit_kernel() {
    let vdso = SyscallStep::Vdso {
        address: 0xf7f0_0000,
    };
    let found = lines(&[
        (vdso, ""),
        (enter(0x4000_0000 + 39), "a"),
        (leave(0x4000_0000 + 39, 7), "a"),
        (enter(20), "a"),
        (leave(20, 7), "a"),
    ]);
    let expected = [
        "0.000 (1000.000 ms): a/7 getpid[x32]() = 7",
        "2000.000 (1000.000 ms): a/7 getpid[32-bit](0, 0, 0, 0, 0, 0) = 7",
    ];
    assert_eq!(found, expected);
}
