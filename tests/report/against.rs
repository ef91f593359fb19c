//! `rprof flame --against`: what changed between two recordings.

use crate::common::{FRAME_POINTERS, Program, Ran, fixtures, live, rprof, run, scratch};
use crate::{read, spin};
use std::path::Path;

/// Calls `old` or `new`, by its argument; what both call works longer if it is new.
const SOURCE: &str = r#"
volatile unsigned long sink;
__attribute__((noinline)) void old(void) { WORK(100, sink += i) }
__attribute__((noinline)) void new(void) { WORK(100, sink += i) }
__attribute__((noinline)) void both(long ms) { WORK(ms, sink += i) }
int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) { new(); both(300); } else { old(); both(100); }
    return 0;
}
"#;

fn flame(after: &Path, before: &Path, args: &[&str]) -> Ran {
    let mut rprof = rprof(["flame", "-i"]);
    rprof.arg(after).arg("--against").arg(before);
    run(rprof.args(args))
}

/// What the stacks with a function count on both sides.
fn counts(folded: &str, function: &str) -> (u64, u64) {
    let mut sums = (0, 0);
    for line in folded.lines() {
        let mut parts = line.rsplitn(3, ' ');
        let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
        let (after, before) = (number(), number());
        let stack = parts.next().unwrap();
        if stack.split(';').any(|frame| frame == function) {
            sums = (sums.0 + before, sums.1 + after);
        }
    }
    sums
}

#[test]
fn what_vanished_what_is_new_and_what_grew_is_seen() {
    let test = "what_vanished_what_is_new_and_what_grew_is_seen";
    let Some(program) = Program::new(test, SOURCE, FRAME_POINTERS) else {
        return;
    };
    let (before, after) = (program.file("before.data"), program.file("after.data"));
    for (file, args) in [(&before, &[][..]), (&after, &["new"])] {
        let _alone = live(test);
        let mut record = rprof([
            "record",
            "-e",
            "cpu-clock",
            "-F",
            "999",
            "--call-graph",
            "fp",
            "-o",
        ]);
        run(record.arg(file).arg("--").arg(program.path()).args(args)).ok();
    }
    let folded = flame(&after, &before, &["--folded", "--per", "run"])
        .ok()
        .stdout;
    let (old, new, both) = (
        counts(&folded, "old"),
        counts(&folded, "new"),
        counts(&folded, "both"),
    );
    assert!(old.0 > 0 && old.1 == 0, "{folded}");
    assert!(new.0 == 0 && new.1 > 0, "{folded}");
    assert!(both.1 > both.0 && both.0 > 0, "{folded}");
    for side in ["after", "before", "change"] {
        let picture = flame(&after, &before, &["--width-by", side]).ok().stdout;
        assert!(picture.ends_with("</svg></svg>"), "{picture}");
        assert!(
            picture.contains("<title>old (") && picture.contains("points, vanished)"),
            "{picture}"
        );
        assert!(
            picture.contains("<title>new (0.00 % -&gt; ") && picture.contains("points, new)"),
            "{picture}"
        );
        let subtitle = format!("shares of each side; widths are {side}");
        assert!(picture.contains(&subtitle), "{picture}");
    }
    // Both sides are as large, unless amounts of runs are asked for.
    let shares = flame(&after, &before, &["--folded"]).ok().stdout;
    let all = counts(&shares, "program");
    assert_eq!(all.0, all.1, "{shares}");
}

#[test]
fn stacks_of_both_sides_are_as_reviewed() {
    let before = fixtures().join("dwarf/perf.data");
    let before = before.to_str().unwrap();
    let said = read("flame", &["--folded", "--against", before]).ok();
    let expected = "walk -> spin;[truncated];[walk] 212 0\n\
                    walk -> spin;[unknown];_start;work;cold 0 63\n\
                    walk -> spin;[unknown];_start;work;hot;helper 0 149\n";
    let same = spin().join("perf.data");
    let same = read("flame", &["--folded", "--against", same.to_str().unwrap()]).ok();
    let expected_same = "spin;[unknown];_start;work;cold 63 63\n\
                         spin;[unknown];_start;work;hot;helper 149 149\n";
    assert_eq!(same.stdout, expected_same);
    let n_before = counts(&said.stdout, "walk -> spin");
    assert_eq!(n_before, (212, 212), "{} {expected}", said.stdout);
    assert!(
        said.stdout
            .ends_with(&expected[expected.find("_start;work;cold").unwrap() - 1..]),
        "{}",
        said.stdout
    );
}

#[test]
fn a_recording_against_itself_is_grey() {
    let same = spin().join("perf.data");
    let same = same.to_str().unwrap();
    let picture = read("flame", &["--against", same]).ok().stdout;
    assert!(
        picture.contains("<title>hot (70.28 % -&gt; 70.28 %, +0.00 points, +0.0 %)"),
        "{picture}"
    );
    assert!(
        picture.contains(">cpu-clock:u, 212 samples before, 212 after<"),
        "{picture}"
    );
    assert_eq!(
        picture.matches("fill=\"rgb(225,225,225)\"").count(),
        picture.matches("<title>").count()
    );
    let nothing = read("flame", &["--against", same, "--width-by", "change"]).fails(1);
    assert!(nothing.contains("nothing changed"), "{}", nothing);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = scratch();
    let same = spin().join("perf.data");
    let same = same.to_str().unwrap();
    let missing = dir.path().join("missing.data");
    let said = read("flame", &["--against", missing.to_str().unwrap()]).fails(1);
    assert!(said.contains("missing.data: No such file"), "{}", said);
    let said = read("flame", &["--against", same, "-c", "nobody"]).fails(1);
    assert!(
        said.contains("nothing to compare: no samples of 'cpu-clock:u' in"),
        "{}",
        said
    );
    for args in [
        &["--width-by", "before"][..],
        &["--per", "run"],
        &["--against", same, "--palette", "hot"],
        &["--against", same, "--folded", "--width-by", "before"],
        &["--against", same, "--per", "second"],
    ] {
        read("flame", args).fails(2);
    }
}
