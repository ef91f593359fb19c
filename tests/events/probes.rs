//! Probes: their samples are the hits, one by one.

use super::{common, perf_says, record, sums};
use common::{
    FRAME_POINTERS, PerfProbe, Program, Running, Tracefs, needs, perf, report, rprof, run, scratch,
    tool, tracefs,
};
use std::path::Path;

/// Calls `hit` 10 times, and 5 times in a child, passing a marker each time; another marker is only passed
/// while somebody looks. What `sys/sdt.h` makes of them is written out. With an argument it waits first; with `loop` it
/// calls `hit` until it is killed, with `burst` 3000 times more, as fast as it can.
const SOURCE: &str = r#"
    #include <stdio.h>
    #include <unistd.h>
    #include <sys/wait.h>
    __attribute__((section(".probes"), used)) volatile unsigned short semaphore;
    __asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
        "_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection");
    #define MARK(name, semaphore) __asm__ volatile( \
        "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
        ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
        "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n" \
        ".asciz \"demo\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n.popsection")
    __attribute__((noinline)) int hit(int x) { MARK("plain", "0"); return x + 1; }
    __attribute__((noinline)) void guarded(void) { if (semaphore) MARK("guarded", "semaphore"); }
    static volatile int sum;
    int main(int argc, char **argv) {
        const char *how = argc > 1 ? argv[1] : "";
        if (*how == 'l') { puts("loops"); fflush(stdout); for (int i = 0;; i++) sum += hit(i); }
        if (*how == 'b') for (int i = 0; i < 2000; i++) sum += hit(i);
        if (*how == 'w') getchar();
        for (int i = 0; i < 10; i++) { sum += hit(i); guarded(); }
        int status, pid = fork();
        if (pid < 0) return 1;
        if (pid == 0) {
            if (*how == 'b') for (int i = 0; i < 1000; i++) sum += hit(i);
            for (int i = 0; i < 5; i++) sum += hit(i);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (*how == 'w') puts("done");
        return status != 0;
    }"#;

pub(crate) fn program() -> Option<Program> {
    needs!(root, "perf" in "perf");
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        common::skipped("a kernel with CONFIG_UPROBE_EVENTS");
        return None;
    }
    Program::new(SOURCE, FRAME_POINTERS)
}

#[test]
fn each_hit_is_a_sample_also_in_children() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let at = path.display();
    for (event, name, hits) in [
        (format!("uprobe:{at}:hit"), "", 15),
        (format!("uprobe:{at}:hi*"), &*format!("uprobe:{at}:hit"), 15),
        (format!("uretprobe:{at}:hit"), "", 15),
        (
            format!("uprobe:{at}:guarded:u"),
            &*format!("uprobe:{at}:guarded"),
            10,
        ),
        (format!("usdt:{at}:demo:plain"), "", 15),
        (format!("sdt_demo:plain@{at}"), "", 15),
        // Only where its semaphore is counted up.
        ("sdt_demo:guarded".to_owned(), "", 10),
    ] {
        let name = if name.is_empty() { &event } else { name };
        record(&out, &["-e", &event], &[&path]);
        assert_eq!(sums(&out), [(name.to_owned(), hits, hits)], "{event}");
        let table = report(&out, &["--no-children", "-g", "none"]);
        assert_eq!(common::number_after(&table, "# Samples: "), Some(hits));
    }
    // Stacks are whole, and threads and children inherit it.
    let tree = report(&out, &["-g", "caller", "--no-children"]);
    assert!(tree.contains("main"), "{tree}");
    let info = perf_says(&["evlist", "-v"], &out);
    assert!(!info.contains("config1"), "{info}");
    let first = info.lines().next().unwrap_or_default();
    assert!(first.contains(" inherit: 1"), "{info}");
}

#[test]
fn a_burst_is_kept_whole_while_others_run_the_same_code() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let event = format!("uprobe:{}:hit", path.display());
    let mut other = Running::start(tool(&path).arg("loop"));
    assert_eq!(other.line(), "loops");
    // Room for all of it, whatever other CPUs there are.
    let options = ["-m", "16M", "-e", &event];
    let said = record(&out, &options, &[path.as_os_str(), "burst".as_ref()]);
    // The command and its child: all of their hits, and nobody else's.
    assert_eq!(sums(&out), [(event, 3015, 3015)], "{said}");
    assert!(said.contains(", 0 lost"), "{said}");
    // perf understands all that tracefs says of it.
    let shown = run(perf(["script", "-i"]).arg(&out)).ok();
    assert!(!shown.stderr.contains("expected type"), "{}", shown.stderr);
    let tree = report(&out, &["-g", "caller", "--no-children"]);
    assert!(tree.contains("main"), "{tree}");
}

#[test]
fn what_needs_less_room_is_said_where_samples_were_lost() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let event = format!("uprobe:{}:hit", path.display());
    // Nobody empties the rings meanwhile, and they hold a page.
    let script = "kill -STOP $PPID; \"$0\" burst; kill -CONT $PPID";
    let command = [
        "sh".as_ref(),
        "-c".as_ref(),
        script.as_ref(),
        path.as_os_str(),
    ];
    let said = record(&out, &["-m", "1", "-e", &event], &command);
    assert!(said.contains("--call-graph fp needs less space"), "{said}");
    assert!(!said.contains(" 0 lost"), "{said}");
}

#[test]
fn definitions_go_with_the_recorder_and_what_a_killed_one_left_with_the_next() {
    let Some(program) = program() else { return };
    let Some(tracefs) = tracefs() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let event = format!("uprobe:{}:hit", path.display());
    let defined = || -> Vec<String> {
        let list = tracefs.within(tool("cat").arg("/sys/kernel/tracing/uprobe_events"));
        let list = run(&mut { list }).ok().stdout;
        let ours = list
            .lines()
            .filter(|line| line.contains(path.to_str().unwrap()));
        ours.map(str::to_owned).collect()
    };
    let mut recorder = rprof(["record", "-e", &event, "-o"]);
    let mut killed = Running::start(recorder.arg(&out).args(["--", "cat"]));
    killed.type_in(b"runs\n");
    assert_eq!(killed.line(), "runs");
    assert_eq!(defined().len(), 1);
    common::signal(killed.pid(), "KILL");
    drop(killed);
    assert_eq!(defined().len(), 1);
    record(&out, &["-e", &event], &[&path]);
    assert_eq!(defined(), Vec::<String>::new());
    assert_eq!(sums(&out), [(event, 15, 15)]);
}

#[test]
fn several_probes_and_other_events_are_recorded_together() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let at = path.display();
    let list = format!("{{uprobe:{at}:hit,uprobe:{at}:guarded}},sdt_demo:plain,dummy");
    record(&out, &["-e", &list], &[&path]);
    let expected = [
        ("sdt_demo:plain".to_owned(), 15, 15),
        (format!("uprobe:{at}:guarded"), 10, 10),
        (format!("uprobe:{at}:hit"), 15, 15),
    ];
    assert_eq!(sums(&out), expected);
    let groups = perf_says(&["evlist", "-g"], &out);
    let group = format!("{{uprobe:{at}:hit,uprobe:{at}:guarded}}");
    assert_eq!(groups.lines().next(), Some(&*group));
}

#[test]
fn probes_of_running_processes_count_their_hits_alone() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let mut waiting = Running::start(tool(&path).arg("wait"));
    let pid = waiting.pid().to_string();
    let mut recorder = rprof(["record", "-e", "sdt_demo:plain", "-p", &pid, "-o"]);
    let recording = common::record_while(recorder.arg(&out), || {
        run(&mut tool(&path)).ok();
        waiting.work();
    });
    recording.ok();
    assert_eq!(sums(&out), [("sdt_demo:plain".to_owned(), 15, 15)]);
}

#[test]
fn counts_are_those_of_perfs_own_probes() {
    let Some(program) = program() else { return };
    let Some(tracefs) = tracefs() else { return };
    needs!(alone);
    if tracefs != Tracefs::Mounted {
        return common::not_run("perf's probes would stay in a tracefs that goes away");
    }
    let (out, path) = (program.file("perf.data"), program.path());
    let probe = PerfProbe::new(&path, "hit");
    let mut recorder = perf(["record", "-q", "-e", &probe.0, "-o"]);
    run(recorder.arg(&out).arg(&path)).ok();
    assert_eq!(sums(&out), [(probe.0.clone(), 15, 15)]);
    // Events that are defined already have the same names here.
    record(&out, &["-e", &probe.0], &[&path]);
    assert_eq!(sums(&out), [(probe.0.clone(), 15, 15)]);
}

#[test]
fn places_that_are_none_are_told() {
    let Some(program) = program() else { return };
    needs!(alone);
    let path = program.path();
    let at = path.display();
    let scratch = scratch();
    // This test's own.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut libc = maps
        .split_whitespace()
        .filter(|word| word.contains("/libc.so"));
    let libc = libc.next().unwrap();
    for (event, message) in [
        (format!("uprobe:{at}:hid"), "no function 'hid' in "),
        (
            format!("uprobe:{at}:hit+0x1000"),
            "so the offset 0x1000 is outside it",
        ),
        (
            format!("uprobe:{at}:0xfffffff0"),
            "is at the address 0xfffffff0",
        ),
        (
            "uprobe:/nonexistent:f".to_owned(),
            "No such file or directory",
        ),
        ("sdt_demo:plan".to_owned(), "did you mean 'demo:plain'?"),
        (format!("uprobe:{libc}:*"), "at most 256 can be probed"),
    ] {
        let mut command = rprof(["record", "-e", &event, "-o"]);
        let error = run(command.arg(scratch.path().join("o")).arg(&path)).fails(1);
        let start = format!("rprof: error: cannot place the probe '{event}': ");
        assert!(
            error.starts_with(&start) && error.contains(message),
            "{error}"
        );
    }
}
