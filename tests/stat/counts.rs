//! Counts of programs that always do the same are those of perf.

use crate::common::{PerfProbe, Tracefs, needs, not_run, rprof, run, tool, tracefs};
use crate::stat::{HIT, both, said, work};

/// Counts by event, from `-x,`.
fn counts(text: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Some(((*fields.get(2)?).to_owned(), (*fields.first()?).to_owned()))
    };
    text.lines().filter_map(of).collect()
}

#[test]
fn faults_and_hits_of_breakpoints_are_those_of_perf() {
    let Some(program) = work() else { return };
    needs!(perf, alone);
    let path = program.path();
    let hit = format!("mem:{HIT:#x}:x");
    // In user code: the kernel's own, while it executes the program, differ by where the stack is.
    let events = format!("page-faults:u,minor-faults:u,{hit}");
    let all = said(&["-x,", "-e", &events, path.to_str().unwrap()]);
    let [ours, perfs] = all.each_ref().map(|text| counts(text));
    assert_eq!(ours, perfs);
    assert_eq!(ours[2], (hit.clone(), "1000".to_owned()));
    let faults: u64 = ours[0].1.parse().unwrap();
    assert!(faults >= 100, "{faults}");

    // In a group, and of each of three runs.
    let group = format!("{{page-faults:u,{hit}}}");
    let again = said(&["-r", "3", "-x,", "-e", &group, path.to_str().unwrap()]);
    let [ours_again, perfs_again] = again.each_ref().map(|text| counts(text));
    // The kernel may take a page away while it runs: of three runs, faults need not be the same.
    assert_eq!(ours_again[1], perfs_again[1]);
    assert_eq!(ours_again[1], (hit, "1000".to_owned()));
}

#[test]
fn system_calls_are_those_of_perf() {
    let Some(program) = work() else { return };
    let Some(tracefs) = tracefs() else { return };
    needs!(perf, alone);
    let path = program.path();
    let words = [
        "-x,",
        "-e",
        "raw_syscalls:sys_enter",
        path.to_str().unwrap(),
    ];
    let [ours, perfs] = both(&words).map(|command| {
        let ran = run(&mut Tracefs::within(tracefs, &command)).ok();
        counts(&ran.stderr)
    });
    assert_eq!(ours, perfs);
    // mmap, ten for its id, and its end; execve was entered before.
    assert_eq!(ours[0].1, "12");
}

#[test]
fn only_hits_that_fit_the_filter_are_counted_as_by_perf() {
    let Some(program) = work() else { return };
    let Some(tracefs) = tracefs() else { return };
    needs!(perf, alone);
    let path = program.path();
    // Twice, in processes that inherit the event.
    let script = format!("{} & {}; wait", path.display(), path.display());
    // getpid is the program's; the shell's own are of another name.
    let comm = path.file_name().unwrap().to_str().unwrap();
    let comm: String = comm.chars().take(15).collect();
    let ids = format!("id == 39 && comm == \"{comm}\"");
    let enter = "raw_syscalls:sys_enter";
    for (flags, expected) in [
        (&["-e", enter, "--filter", ids.as_str()][..], &["20"][..]),
        (
            &[
                "-e",
                enter,
                "--filter",
                &ids,
                "-e",
                enter,
                "--filter",
                "id == 9999",
            ],
            &["20", "0"],
        ),
    ] {
        let words = [&["-x,"], flags, &["sh", "-c", &script]].concat();
        let [ours, perfs] = both(&words).map(|command| {
            let ran = run(&mut Tracefs::within(tracefs, &command)).ok();
            counts(&ran.stderr)
        });
        assert_eq!(ours, perfs, "{flags:?}");
        let ours: Vec<&str> = ours.iter().map(|(_, count)| count.as_str()).collect();
        assert_eq!(ours, expected, "{flags:?}");
    }
    for (event, filter, expected) in [
        (enter, "idd == 39", "idd"),
        ("page-faults:u", "id == 39", "page-faults:u"),
    ] {
        let ours = rprof(["stat", "-e", event, "--filter", filter, "true"]);
        let said = run(&mut Tracefs::within(tracefs, &ours)).fails(2);
        assert!(said.contains(expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn hits_of_probes_are_those_of_perf() {
    let Some(program) = work() else { return };
    let Some(tracefs) = tracefs() else { return };
    needs!(perf, alone);
    if tracefs != Tracefs::Mounted {
        return not_run("perf's probes would stay in a tracefs that goes away");
    }
    let path = program.path();
    let probe = PerfProbe::new(&path, "hit");
    // One after the other: on a busy machine, Linux (6.18) does not count all hits of two at a time, for perf
    // neither.
    let script = format!("{} && {}", path.display(), path.display());
    let all = said(&["-x,", "-e", &probe.0, "sh", "-c", &script]);
    let [ours, perfs] = all.each_ref().map(|text| counts(text));
    assert_eq!(ours, perfs);
    assert_eq!(ours, [(probe.0.clone(), "2000".to_owned())]);
}

/// Each line through two pipes.
const PING_PONG: &str =
    "i=0; while [ $i -lt 200 ]; do echo $i; read x <&3 || exit 1; i=$((i + 1)); done";

#[test]
fn every_wait_of_a_ping_pong_is_a_context_switch() {
    needs!(perf, alone, kernel);
    let dir = crate::common::scratch();
    let fifo = dir.path().join("back");
    run(tool("mkfifo").arg(&fifo)).ok();
    let script = format!(
        "exec 3<>{0}; {{ {PING_PONG}; }} | while read y; do echo $y > {0}; done",
        fifo.display()
    );
    for text in said(&["-x,", "-e", "context-switches", "sh", "-c", &script]) {
        let counted: u64 = counts(&text)[0].1.parse().unwrap();
        // One waits while the other works, each time.
        assert!(counted >= 200, "{text}");
    }
}

/// x86 and ARM; see `signal(7)`.
const SIGTRAP: i32 = 5;

#[test]
fn what_is_not_inherited_is_of_the_command_alone() {
    let Some(program) = work() else { return };
    needs!(alone);
    let path = program.path();
    let hit = format!("mem:{HIT:#x}:x");
    let script = format!("{} && {}", path.display(), path.display());
    for (flags, expected) in [(&[][..], "2000"), (&["-i"], "0")] {
        let words = [flags, &["-x,", "-e", &hit, "sh", "-c", &script]].concat();
        let [mut ours, _] = both(&words);
        // A hypervisor that takes the CPU away may deliver a breakpoint when the kernel has already removed it: the
        // program then dies of a trap that is nobody's.
        let mut ran = run(&mut ours);
        for _ in 0..3 {
            if ran.status.code() != Some(128 + SIGTRAP) {
                break;
            }
            ran = run(&mut ours);
        }
        let ran = ran.ok();
        assert_eq!(counts(&ran.stderr)[0].1, expected, "{}", ran.stderr);
    }
}

#[test]
fn each_cpu_has_its_clock() {
    needs!(alone, all_cpus);
    let [mut ours, _] = both(&["-a", "-A", "-x,", "-e", "cpu-clock", "true"]);
    let ran = run(&mut ours).ok();
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let n_cpus = rprof_events::parse_cpu_list(&online).unwrap().len();
    assert_eq!(ran.stderr.lines().count(), n_cpus);
    assert!(ran.stderr.starts_with("CPU0,"), "{}", ran.stderr);
}
