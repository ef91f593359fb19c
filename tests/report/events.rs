//! Which events have tables, and what the lines below them count.

use crate::common::Program;
use crate::report::{read, report};

/// Works, and waits many times for less than a millisecond.
const NAPS: &str = "
#include <unistd.h>

volatile unsigned long sum;

static void work(void) {
    for (unsigned long i = 0; i < 1000000; i++) sum += i;
}

int main(void) {
    for (int i = 0; i < 100; i++) {
        work();
        usleep(100);
    }
}
";

#[test]
fn an_event_can_be_chosen_by_its_name() {
    assert_eq!(report(&["-e", "cpu-clock:u"]), report(&[]));
    let refused = read("report", &["-e", "nothing"]).fails(1);
    assert!(
        refused.contains("no event 'nothing' in the recording; it has cpu-clock:u"),
        "{refused}"
    );
}

#[test]
fn switches_that_waits_are_derived_from_have_no_tables_of_their_own() {
    let Some(program) = Program::new(NAPS, &["-O1", "-fno-inline"]) else {
        return;
    };
    let recording = program.record(&["--off-cpu"], &[]);
    let all = recording.read("report", &["--stats"]);
    if !all.contains("sched:sched_switch") {
        println!("skipped: switches need the right to record the kernel's events");
        return;
    }
    let table = recording.run("report", &["-g", "none"]);
    let n_tables = |text: &str| text.matches("# Samples: ").count();
    assert_eq!(n_tables(&table.stdout), 1, "{}", table.stdout);
    let said = "not shown: sched:sched_switch, sched:sched_waking (of record --off-cpu); -e NAME";
    assert!(table.stderr.contains(said), "{}", table.stderr);
    // What is below the table is of its samples.
    let samples = table.stdout.split("# Samples: ").nth(1).unwrap();
    let (n_samples, _) = samples.split_once(' ').unwrap();
    let quality = format!("# Quality: {n_samples} samples, ");
    assert!(table.stdout.contains(&quality), "{}", table.stdout);
    let stacks = table.stdout.split("# Stacks: ").nth(1).unwrap();
    assert!(stacks.starts_with("100.0 % complete"), "{stacks}");
    let picture = recording.run("flame", &["--folded"]);
    assert!(picture.stderr.contains(said), "{}", picture.stderr);
    assert!(
        picture.stderr.contains("stacks: 100.0 % complete"),
        "{}",
        picture.stderr
    );

    let switches = recording.run("report", &["-e", "sched:sched_switch", "-g", "none"]);
    let heading = " of event 'sched:sched_switch'\n";
    assert!(switches.stdout.contains(heading), "{}", switches.stdout);
    assert_eq!(n_tables(&switches.stdout), 1, "{}", switches.stdout);
    assert!(
        !switches.stderr.contains("not shown"),
        "{}",
        switches.stderr
    );
    let folded = recording.read("flame", &["--folded", "-e", "sched:sched_switch"]);
    // Of short waits, only the innermost function is known.
    assert!(folded.contains("nanosleep"), "{folded}");
    // Programs get all.
    let csv = recording.read("report", &["--format", "json"]);
    assert!(csv.contains("sched:sched_waking"), "{csv}");
}
