//! Ways to record callers: copies that are kept, frame pointers, none; without rights; and what
//! perf makes of each.

use crate::common::{has, is_root, live, rprof, run};
use crate::recording::{Frame, Recording, Sample, compile, program, record, start};
use std::process::Command;

const DEEP: &str = r"
    NOINLINE void down(int left) { if (left) down(left - 1); else spin(150000000); sink++; }
    int main(void) { down(199); return 0; }";

/// `spin`, 200 frames and `main`.
fn deep() -> Vec<&'static str> {
    [&["spin"], &["down"; 200][..], &["main"]].concat()
}

#[test]
fn perf_reads_the_same_stacks_without_a_complaint() {
    let _live = live();
    let test = "perf_reads_the_same_stacks_without_a_complaint";
    if !has(test, "perf", "linux-perf") {
        return;
    }
    let Some(dir) = program(test, DEEP) else {
        return;
    };
    let recording = record(&dir, &["-F", "999"], &[]);
    // perf does not look one byte before return addresses in chains that it did not unwind.
    let addresses = |samples: Vec<Sample>| -> Vec<(i32, Vec<(u64, String)>)> {
        let places = |frames: &[Frame]| {
            let places = frames
                .iter()
                .map(|frame| (frame.address, frame.image.clone()));
            places.collect()
        };
        let samples = samples.iter();
        samples
            .map(|sample| (sample.tid, places(&sample.frames)))
            .collect()
    };
    let (ours, theirs) = (recording.samples(), recording.perf_samples());
    assert_eq!(addresses(ours), addresses(theirs));
    let perf_main = recording.perf_samples();
    assert!(
        perf_main
            .iter()
            .any(|sample| sample.names().starts_with(&deep()))
    );
    let mut perf = Command::new("perf");
    perf.args(["report", "--stdio", "--no-inline", "-i"])
        .arg(&recording.file);
    let report = run(&mut perf).ok();
    assert_eq!(report.stderr, "");
    assert!(report.stdout.contains("main") && report.stdout.contains("spin"));
}

#[test]
fn copies_are_kept_for_perf_cut_to_what_is_in_them() {
    let _live = live();
    let test = "copies_are_kept_for_perf_cut_to_what_is_in_them";
    let Some(dir) = program(test, DEEP) else {
        return;
    };
    let recording = record(&dir, &["-F", "999", "--post-unwind"], &[]);
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &deep());
    }
    let table = recording.read(&["report", "--no-children"]);
    assert!(
        table.contains("main") && table.contains("_start"),
        "{table}"
    );
    let dump = recording.read(&["dump"]);
    let mut n_copies = 0;
    for line in dump.lines() {
        let Some((_, stack)) = line.split_once("stack_user {size ") else {
            continue;
        };
        let mut words = stack.split([',', ' ', '}']).filter(|word| !word.is_empty());
        let size: u64 = words.next().unwrap().parse().unwrap();
        if size == 0 {
            continue;
        }
        assert_eq!(words.next(), Some("dyn_size"), "{line}");
        let copied: u64 = words.next().unwrap().parse().unwrap();
        assert!(size <= copied + 16, "{line}");
        n_copies += 1;
    }
    assert!(n_copies > 5, "{n_copies}");
    let size_bytes = std::fs::metadata(&recording.file).unwrap().len();
    assert!(
        size_bytes < n_copies * 65_528 / 2,
        "{size_bytes} for {n_copies}"
    );
    if !has(test, "perf", "linux-perf") {
        return;
    }
    let theirs = recording.perf_samples();
    let whole = theirs
        .iter()
        .filter(|sample| sample.names().starts_with(&deep()));
    assert!(whole.count() > 5, "{theirs:#?}");
}

#[test]
fn copies_of_a_running_process_are_of_use_to_perf() {
    let _live = live();
    let test = "copies_of_a_running_process_are_of_use_to_perf";
    if !has(test, "perf", "linux-perf") {
        return;
    }
    let source = r#"
        #include <stdio.h>
        NOINLINE void down(int left) { if (left) down(left - 1); else for (;;) spin(1000000); sink++; }
        int main(void) { puts("ready"); fflush(stdout); down(199); return 0; }"#;
    let Some(dir) = program(test, source) else {
        return;
    };
    let (running, _) = start(&mut Command::new(dir.path().join("program")));
    let file = dir.path().join("perf.data");
    let mut rprof = rprof(["record", "-F", "999", "--post-unwind", "--duration", "0.3"]);
    rprof.args(["-p", &running.0.id().to_string()]);
    let ran = run(rprof.arg("-o").arg(&file)).ok();
    let recording = Recording::new(file, ran);
    let theirs = recording.perf_samples();
    let whole = theirs
        .iter()
        .filter(|sample| sample.names().starts_with(&deep()));
    assert!(whole.count() > 5, "{theirs:#?}");
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &deep());
    }
}

#[test]
fn without_rights_stacks_are_whole() {
    let _live = live();
    let test = "without_rights_stacks_are_whole";
    if !is_root(test) || !has(test, "setpriv", "util-linux") {
        return;
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim() != "2" {
        println!("{test}: not run, perf_event_paranoid is {paranoid}");
        return;
    }
    let Some(dir) = program(test, DEEP) else {
        return;
    };
    let binary = dir.path().join("rprof");
    std::fs::copy(env!("CARGO_BIN_EXE_rprof"), &binary).unwrap();
    run(Command::new("chmod").args(["-R", "777"]).arg(dir.path())).ok();
    let file = dir.path().join("perf.data");
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    setpriv
        .arg(&binary)
        .args(["record", "-F", "999", "-o"])
        .arg(&file);
    let ran = run(setpriv.arg(dir.path().join("program"))).ok();
    let recording = Recording::new(file, ran);
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &deep());
    }
    assert!(
        recording
            .samples()
            .iter()
            .all(|sample| !sample.frames[0].is_kernel())
    );
}

#[test]
fn frame_pointers_and_no_callers_are_as_ever() {
    let _live = live();
    let test = "frame_pointers_and_no_callers_are_as_ever";
    let Some(dir) = program(test, DEEP) else {
        return;
    };
    let source = format!(
        "{}
        NOINLINE void middle(void) {{ spin(150000000); sink++; }}
        int main(void) {{ middle(); return 0; }}",
        crate::recording::SPIN
    );
    compile(
        &dir.path().join("program"),
        &source,
        &["-fno-omit-frame-pointer"],
    );
    let recording = record(&dir, &["-F", "999", "--call-graph", "fp"], &[]);
    for sample in recording.samples_in("spin") {
        // Leaves have no frame pointer of their own: their callers are skipped.
        assert!(sample.has("main"), "{sample:#?}");
        assert_eq!(sample.end, None);
    }
    assert!(recording.info()["features"]["stack_ends"].is_null());
    let recording = record(&dir, &["-F", "999", "--call-graph", "none"], &[]);
    let text = recording.read(&["script", "-F", "comm,ip,sym"]);
    let is_one_line =
        |line: &str| line.trim_start().starts_with("program ") && !line.contains('\t');
    assert!(
        text.lines().count() > 5 && text.lines().all(is_one_line),
        "{text}"
    );
    assert!(recording.info()["features"]["stack_ends"].is_null());
}

#[test]
fn what_is_no_way_to_record_callers_is_said() {
    let error = |args: &[&str], code| {
        let args = [&["record"], args, &["true"]].concat();
        run(&mut rprof(args)).fails(code)
    };
    for value in [
        "dwarf,",
        "dwarf,0",
        "dwarf,65536",
        "dwarf,x",
        "bogus",
        "fp,8192",
    ] {
        let stderr = error(&["--call-graph", value], 2);
        let first = stderr.lines().next().unwrap();
        assert!(
            first.contains(value) && first.contains("--call-graph"),
            "{stderr}"
        );
    }
    for value in ["fp", "none"] {
        let stderr = error(&["--post-unwind", "--call-graph", value], 1);
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
        assert!(stderr.contains("--post-unwind"), "{stderr}");
    }
}
