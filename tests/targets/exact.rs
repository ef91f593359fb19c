//! What is counted is exact: every task's beginning, name and end, and of every event each sample or its loss.

use super::info;
use super::stress::most_memory;
use crate::common::{FRAME_POINTERS, Program, Recording, Running, alone, number_before};
use serde_json::Value;

/// Two thousand processes, fifty at a time, each with a name of its own.
const PROCESSES: &str = r#"
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 40; i++) {
        for (int n = 0; n < 50; n++) {
            int pid = fork();
            if (pid < 0) return 1;
            if (!pid) { prctl(PR_SET_NAME, "child"); _exit(0); }
        }
        while (wait(0) > 0) {}
    }
    puts("done");
    fflush(stdout);
    getchar();
    return 0;
}
"#;

fn count(info: &Value, kind: &str) -> u64 {
    let kinds = info["records"]["kinds"].as_array().unwrap();
    let kind = kinds.iter().find(|one| one["kind"] == kind);
    kind.map_or(0, |kind| kind["count"].as_u64().unwrap())
}

#[test]
fn two_thousand_processes_are_told_one_by_one() {
    let Some(program) = Program::new(PROCESSES, FRAME_POINTERS) else {
        return;
    };
    let _live = alone();
    let mut record = program.recorder(&["-F", "999"], &[]);
    let mut recorder = Running::start(&mut record);
    assert_eq!(recorder.line(), "done");
    let memory = most_memory(recorder.pid());
    recorder.close_input();
    let recording = Recording::new(program.file("perf.data"), recorder.finish().ok());
    assert!(memory < 256 << 10, "{memory} kB");
    let lost = ["mappings or names were lost", "mapping or name was lost"];
    let lost = lost.map(|what| number_before(&recording.stderr, &format!(" {what}")));
    let lost = lost.into_iter().flatten().next().unwrap_or(0);
    let info = info(&recording.file);
    let counts = ["FORK", "COMM", "EXIT"].map(|kind| count(&info, kind));
    // The program itself has a name, by exec, and an end.
    let expected = [2000, 2001, 2001];
    assert_eq!(
        counts.iter().sum::<u64>() + lost,
        expected.iter().sum::<u64>(),
        "{counts:?}, {lost} lost: {}",
        recording.stderr
    );
    let mut both = counts.iter().zip(expected);
    assert!(
        both.all(|(&count, expected)| count <= expected),
        "{counts:?}"
    );
}

/// Touches new pages, each of which is a fault.
const TOUCHES: &str = r#"
#include <sys/mman.h>
int main(void) {
    enum { PAGES = 2000, SIZE = 4096 };
    char *memory = mmap(0, PAGES * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, PAGES * SIZE, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++) ((volatile char *)memory)[i * SIZE] = 1;
    return 0;
}
"#;

#[test]
fn of_a_hundred_and_twenty_eight_events_each_sample_is_there_or_counted_as_lost() {
    let Some(program) = Program::new(TOUCHES, FRAME_POINTERS) else {
        return;
    };
    let events = vec!["minor-faults:u"; 128].join(",");
    // A ring has no room for what a single fault writes.
    let args = ["-e", &events, "-c", "1", "-m", "1", "--call-graph", "none"];
    let recording = program.record(&args, &[]);
    let info = info(&recording.file);
    let events = info["events"].as_array().unwrap();
    let samples = events
        .iter()
        .map(|event| event["samples"].as_u64().unwrap());
    let lost = number_before(&recording.stderr, " lost").unwrap();
    let samples: u64 = samples.sum();
    assert!(lost > 0, "{}", recording.stderr);
    // Which of them has a sample is not known: since Linux 6.3 equal events that happen at once have one id.
    let n_events = 128;
    assert_eq!((samples + lost) % n_events, 0, "{samples} and {lost}");
    assert!((samples + lost) / n_events >= 2000, "{samples} and {lost}");
    assert_eq!(events.len() as u64, n_events + 1);
}
