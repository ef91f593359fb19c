//! Stacks of several events at once, and of samples that were taken in the kernel.

use crate::common::{Recording, needs, tracefs};
use crate::stacks::samples::{Frame, program};
use serde_json::Value;

/// Faults, waits, reads and spins, three calls deep.
const SOURCE: &str = r#"
    #include <fcntl.h>
    #include <sys/mman.h>
    #include <time.h>
    #include <unistd.h>
    static char bytes[1 << 20];
    NOINLINE void fault(void) {
        volatile char *p = mmap(0, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise((void *)p, 64 << 12, MADV_NOHUGEPAGE);
        for (int i = 0; i < 64; i++) p[i << 12] = 1;
        munmap((void *)p, 64 << 12);
    }
    NOINLINE void wait_here(void) { struct timespec time = { 0, 100000 }; nanosleep(&time, 0); sink++; }
    NOINLINE void read_here(int file) { for (long end = CPU_US() + 500; CPU_US() < end;) sink += read(file, bytes, sizeof bytes); }
    NOINLINE void all(int file) { fault(); wait_here(); read_here(file); spin(1); sink++; }
    NOINLINE void outer(int file) { for (int i = 0; i < 200; i++) all(file); sink++; }
    int main(void) { outer(open("/dev/zero", O_RDONLY)); return 0; }"#;

/// Asserts that samples within a function are whole and have all its callers.
#[track_caller]
fn assert_callers(recording: &Recording, function: &str, callers: &[&str]) {
    let mut n_samples = 0;
    for sample in recording.samples() {
        let names = sample.names();
        let Some(at) = names.iter().position(|&name| name == function) else {
            continue;
        };
        if sample.is_excused(recording) {
            continue;
        }
        assert!(sample.is_whole(), "{sample:#?}");
        assert!(names[at + 1..].starts_with(callers), "{sample:#?}");
        assert_eq!(names.last(), Some(&"_start"), "{sample:#?}");
        n_samples += 1;
    }
    assert!(n_samples > 5, "{n_samples} in {function}");
}

fn event_names(recording: &Recording) -> Vec<String> {
    let info = recording.info();
    let names = |events: &Value| -> Vec<String> {
        let events = events.as_array().unwrap().iter();
        events
            .map(|event| event["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let described = names(&info["features"]["event_desc"]);
    assert_eq!(names(&info["events"]), described);
    let events = info["events"].as_array().unwrap().iter();
    let n_samples: u64 = events.map(|event| event["samples"].as_u64().unwrap()).sum();
    assert_eq!(recording.samples().len() as u64, n_samples);
    // Where the kernel must not be sampled.
    let plain = described.iter().map(|name| name.trim_end_matches(":u"));
    plain.map(str::to_owned).collect()
}

#[test]
fn stacks_of_several_events_are_whole() {
    let Some(program) = program(SOURCE) else {
        return;
    };
    let recording = program.record(&["-F", "4000", "-e", "cpu-clock,page-faults"], &[]);
    let names = event_names(&recording);
    assert_eq!(names, ["cpu-clock", "page-faults", "dummy"]);
    assert_callers(&recording, "spin", &["all", "outer", "main"]);
    assert_callers(&recording, "fault", &["all", "outer", "main"]);
    let Some(tracefs) = tracefs() else {
        return;
    };
    let events = "cpu-clock,sched:sched_switch";
    let command = program.recorder(&["-e", events], &[]);
    let recording = program.recorded(&mut tracefs.within(&command));
    let names = event_names(&recording);
    assert_eq!(names, ["cpu-clock", "sched:sched_switch", "dummy"]);
    assert_callers(&recording, "wait_here", &["all", "outer", "main"]);
}

#[test]
fn samples_in_the_kernel_go_on_in_the_program() {
    needs!(kernel);
    let Some(program) = program(SOURCE) else {
        return;
    };
    let recording = program.record(&["-F", "4000"], &[]);
    assert_callers(&recording, "read_here", &["all", "outer", "main"]);
    let mut n_both = 0;
    for sample in recording.samples() {
        let n_kernel = sample
            .frames
            .iter()
            .take_while(|frame| frame.is_kernel())
            .count();
        assert!(
            !sample.frames[n_kernel..].iter().any(Frame::is_kernel),
            "{sample:#?}"
        );
        n_both += usize::from(n_kernel > 0 && sample.has("read_here"));
    }
    assert!(n_both > 5, "{n_both}");
}
