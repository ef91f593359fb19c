//! Waits in Firefox Profiler's format: markers from their beginning to their end, with cause and waker.

use super::record_events;
use super::waiting::{SWITCHES, milliseconds, of_sched, stretches};
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use serde_json::Value;
use std::collections::BTreeSet;

/// The markers of a thread: name, times in nanoseconds, and what they say.
fn markers(thread: &Value) -> Vec<(usize, u64, Option<u64>, &Value)> {
    let table = &thread["markers"];
    let column = |name: &str| table[name].as_array().unwrap();
    let ns = |millis: &Value| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a whole number"
        )]
        millis.as_f64().map(|millis| (millis * 1e6).round() as u64)
    };
    let n_rows = usize::try_from(table["length"].as_u64().unwrap()).unwrap();
    let row = |at: usize| {
        let end_ns = ns(&column("endTime")[at]);
        assert_eq!(column("phase")[at], u64::from(end_ns.is_some()));
        let name = column("name")[at].as_u64().unwrap();
        let start_ns = ns(&column("startTime")[at]).unwrap();
        (
            usize::try_from(name).unwrap(),
            start_ns,
            end_ns,
            &column("data")[at],
        )
    };
    (0..n_rows).map(row).collect()
}

#[test]
fn waits_are_markers_with_their_cause_and_who_ended_them() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("waits");
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    let events = format!("cpu-clock,{SWITCHES}");
    let file = record_events(
        tracefs,
        dir.path(),
        (&events, "fp"),
        program.to_str().unwrap(),
    );
    let out = dir.path().join("profile.json");
    run(rprof(["export", "--format", "firefox", "-o"])
        .arg(&out)
        .arg("-i")
        .arg(&file))
    .ok();
    let profile: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let strings = profile["shared"]["stringArray"].as_array().unwrap();
    let text = |number: &Value| {
        let number = number
            .as_u64()
            .map(|number| usize::try_from(number).unwrap());
        number.map_or("", |number| strings[number].as_str().unwrap())
    };
    let schemas = profile["meta"]["markerSchema"].as_array().unwrap().iter();
    let schemas: BTreeSet<&str> = schemas.map(|one| one["name"].as_str().unwrap()).collect();
    let threads = || profile["threads"].as_array().unwrap().iter();
    let of_sched = of_sched(&file);
    assert!(of_sched.len() >= 10, "{of_sched:?}");
    for (tid, [_, runnable, sleeping, ..]) in of_sched {
        let is_its = |thread: &&Value| {
            let id = thread["tid"].as_str().unwrap();
            id.split('.').next() == Some(&tid.to_string())
        };
        let (mut slept, mut waited) = (0, 0);
        for thread in threads().filter(is_its) {
            for (name, start_ns, end_ns, data) in markers(thread) {
                assert!(schemas.contains(data["type"].as_str().unwrap()), "{data}");
                if data["type"] != "Waiting" {
                    continue;
                }
                let ns = end_ns.unwrap() - start_ns;
                assert_eq!(strings[name].as_str(), Some(text(&data["cause_"])));
                match text(&data["state"]) {
                    "sleeping" => slept += ns,
                    "runnable" | "preempted" => waited += ns,
                    _ => {}
                }
            }
        }
        for (own, of_sched) in [(slept, sleeping), (waited, runnable)] {
            let own = milliseconds(own);
            assert!((own - of_sched).abs() < 0.0005, "{tid} {own} {of_sched}");
        }
    }
    for cause in ["pipe", "socket", "eventfd", "epoll", "poll", "select"] {
        let name = format!("in_{cause}");
        let of_thread = threads().filter(|thread| thread["name"].as_str() == Some(&name));
        let slept = of_thread
            .flat_map(markers)
            .filter(|(.., data)| data["type"] == "Waiting" && text(&data["state"]) == "sleeping");
        let wakers: Vec<(&str, &str)> = slept
            .map(|(.., data)| (text(&data["cause_"]), text(&data["waker"])))
            .collect();
        let right = wakers.iter().filter(|&&one| one == (cause, "waker"));
        assert!(right.count() >= 2, "{name} {wakers:?}");
        let wakes = threads()
            .filter(|thread| thread["name"] == "waker")
            .flat_map(markers);
        let wakes = wakes.filter(|(_, _, end_ns, data)| {
            end_ns.is_none() && data["type"] == "Wakes" && text(&data["wakee"]) == name
        });
        assert!(wakes.count() >= 2, "{name}");
    }
    check_idle_times(threads());
    // Of all time, threads use CPUs as long as they run.
    run(rprof(["export", "--wall", "--format", "firefox", "-o"])
        .arg(&out)
        .arg("-i")
        .arg(&file))
    .ok();
    let profile: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let threads = profile["threads"].as_array().unwrap().iter();
    let used = threads.flat_map(|thread| thread["samples"]["threadCPUDelta"].as_array().unwrap());
    let used: u64 = used.map(|ns| ns.as_u64().unwrap()).sum();
    let all = stretches(&file, "--wall");
    let ran = all.iter().filter(|one| one.state == "running");
    assert_eq!(used, ran.map(|one| one.ns).sum::<u64>());
}

/// Checks that waits end with samples that count nothing, so that the page shows no CPU use in them.
#[track_caller]
fn check_idle_times<'v>(threads: impl Iterator<Item = &'v Value>) {
    let (mut n_idle, mut n_busy) = (0, 0);
    for thread in threads {
        let Some(deltas) = thread["samples"]["threadCPUDelta"].as_array() else {
            continue;
        };
        let stacks = thread["samples"]["stack"].as_array().unwrap();
        assert_eq!(deltas.len(), stacks.len());
        for (delta, stack) in deltas.iter().zip(stacks) {
            if *delta == 0 {
                assert!(stack.is_null());
                n_idle += 1;
            } else {
                n_busy += 1;
            }
        }
    }
    assert!(n_idle > 0 && n_busy > 0, "{n_idle} {n_busy}");
}
