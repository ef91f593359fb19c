//! Ways to record callers: copies that are kept, frame pointers, none; without rights; and what
//! perf makes of each.

use crate::common::{
    NO_FRAME_POINTERS, Program, Recording, Running, alone, am_root, copy_of_rprof, has, is_x86_64,
    needs, not_run, record_while, rprof, run, tool,
};
use crate::stacks::samples::{Frame, SPIN, Sample, program};

const DEEP: &str = r"
    NOINLINE void down(int left) { if (left) down(left - 1); else spin(300); sink++; }
    int main(void) { down(199); return 0; }";

/// `spin`, 200 frames and `main`.
fn deep() -> Vec<&'static str> {
    [&["spin"], &["down"; 200][..], &["main"]].concat()
}

#[test]
fn perf_reads_the_same_stacks_without_a_complaint() {
    needs!(perf);
    let Some(program) = program(DEEP) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
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
            || recording.is_behind()
    );
    let mut perf = crate::common::perf(["report", "--stdio", "--no-inline", "-i"]);
    perf.arg(&recording.file);
    let report = run(&mut perf).ok();
    assert_eq!(report.stderr, "");
    assert!(report.stdout.contains("main") && report.stdout.contains("spin"));
}

#[test]
fn copies_are_kept_for_perf_cut_to_what_is_in_them() {
    let Some(program) = program(DEEP) else {
        return;
    };
    let recording = program.record(&["-F", "999", "--post-unwind"], &[]);
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &deep());
    }
    let table = recording.read("report", &["--no-children"]);
    assert!(
        table.contains("main") && table.contains("_start"),
        "{table}"
    );
    let dump = recording.read("dump", &[]);
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
    needs!(perf);
    let theirs = recording.perf_samples();
    let whole = theirs
        .iter()
        .filter(|sample| sample.names().starts_with(&deep()));
    assert!(whole.count() > 5 || recording.is_behind(), "{theirs:#?}");
}

#[test]
fn copies_of_a_running_process_are_of_use_to_perf() {
    needs!(perf);
    let source = r#"
        #include <stdio.h>
        NOINLINE void serve(void) { while (getchar() != EOF) { spin(300); puts("done"); fflush(stdout); } }
        NOINLINE void down(int left) { if (left) down(left - 1); else serve(); sink++; }
        int main(void) { down(199); return 0; }"#;
    let Some(program) = program(source) else {
        return;
    };
    let mut running = Running::start(&mut tool(program.path()));
    let file = program.file("perf.data");
    let mut rprof = rprof(["record", "-e", "cpu-clock", "-F", "999", "--post-unwind"]);
    rprof.args(["-p", &running.pid().to_string(), "-o"]);
    let live = alone();
    let ran = record_while(rprof.arg(&file), || running.work()).ok();
    drop(live);
    let recording = Recording::new(file, ran);
    let expected = [&["spin", "serve"], &["down"; 200][..], &["main"]].concat();
    let theirs = recording.perf_samples();
    let whole = theirs
        .iter()
        .filter(|sample| sample.names().starts_with(&expected));
    assert!(whole.count() > 5 || recording.is_behind(), "{theirs:#?}");
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &expected);
    }
}

#[test]
fn without_rights_stacks_are_whole() {
    let by_root = am_root();
    if by_root && !has("setpriv", "util-linux") {
        return;
    }
    let Some(program) = program(DEEP) else {
        return;
    };
    // Other tests set it when they have the place.
    let live = alone();
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim() != "2" {
        not_run(&format!("perf_event_paranoid is {}", paranoid.trim()));
        return;
    }
    let mut command = program.recorder(&["-F", "999"], &[]);
    if by_root {
        let binary = copy_of_rprof(program.dir());
        run(tool("chmod").args(["-R", "777"]).arg(program.dir())).ok();
        let mut setpriv = tool("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        // An `env` that gives it default signals may stand before it.
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words = words.skip_while(|word| *word != env!("CARGO_BIN_EXE_rprof"));
        setpriv.arg(&binary).args(words.skip(1));
        command = setpriv;
    }
    let ran = run(&mut command).ok();
    drop(live);
    let recording = Recording::new(program.file("perf.data"), ran);
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
    let source = format!(
        "{SPIN}
        NOINLINE void middle(void) {{ spin(300); sink++; }}
        int main(void) {{ middle(); return 0; }}"
    );
    let options = [NO_FRAME_POINTERS, &["-fno-omit-frame-pointer"]].concat();
    let Some(program) = Program::new(&source, &options) else {
        return;
    };
    let recording = program.record(&["-F", "999", "--call-graph", "fp"], &[]);
    for sample in recording.samples_in("spin") {
        // Leaves have no frame pointer of their own: their callers are skipped.
        assert!(sample.has("main"), "{sample:#?}");
        assert_eq!(sample.end, None);
    }
    assert!(recording.info()["features"]["stack_ends"].is_null());
    let recording = program.record(&["-F", "999", "--call-graph", "none"], &[]);
    let text = recording.read("script", &["-F", "comm,ip,sym"]);
    let is_one_line =
        |line: &str| line.trim_start().starts_with("program ") && !line.contains('\t');
    assert!(
        text.lines().count() > 5 && text.lines().all(is_one_line),
        "{text}"
    );
    assert!(recording.info()["features"]["stack_ends"].is_null());
}

#[test]
fn callers_outside_all_mappings_are_said() {
    if !is_x86_64() {
        return;
    }
    // Where a frame pointer would be, there are others' data.
    let source = "
        static long others[2] = {0, 0x123456789};
        NOINLINE void misled(void) {
            __asm__ volatile (
                \"push %%rbp; mov %0, %%rbp; mov $1000000, %%rcx; 1: dec %%rcx; jnz 1b; pop %%rbp\"
                : : \"r\"(others) : \"rcx\", \"memory\");
        }
        int main(void) { for (long end = CPU_US() + 300000; CPU_US() < end;) misled(); return 0; }";
    let Some(program) = program(source) else {
        return;
    };
    let said = |how: &str| {
        let recording = program.record(&["-F", "999", "--call-graph", how], &[]);
        let report = recording.read("report", &["-g", "caller"]);
        let line = report.lines().find(|line| line.starts_with("# Stacks:"));
        line.map(str::to_owned).unwrap_or_default()
    };
    let with_pointers = said("fp");
    assert!(
        with_pointers.contains("% have callers outside all mappings"),
        "{with_pointers}"
    );
    let unwound = said("dwarf");
    assert!(!unwound.contains("outside"), "{unwound}");
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
        let stderr = error(&["--post-unwind", "--call-graph", value], 2);
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
        assert!(stderr.contains("--post-unwind"), "{stderr}");
    }
}
