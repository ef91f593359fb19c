//! `rprof flame --against`: what changed between two recordings.

use crate::common::{FRAME_POINTERS, Program, Ran, alone, fixtures, rprof, run, scratch};
use crate::report::{read, spin};
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
    let Some(program) = Program::new(SOURCE, FRAME_POINTERS) else {
        return;
    };
    let (before, after) = (program.file("before.data"), program.file("after.data"));
    for (file, args) in [(&before, &[][..]), (&after, &["new"])] {
        let _alone = alone();
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
        assert!(picture.ends_with("</svg>\n"), "{picture}");
        assert!(
            picture.contains("<title>old (") && picture.contains("ns, removed)"),
            "{picture}"
        );
        assert!(
            picture.contains("<title>new (0 -&gt; ") && picture.contains("ns, new)"),
            "{picture}"
        );
        let subtitle = format!("amounts per run; widths are {side}");
        assert!(picture.contains(&subtitle), "{picture}");
    }
    // Both sides are as large where shares are asked for.
    let shares = flame(&after, &before, &["--folded", "--per", "event"]);
    let shares = shares.ok().stdout;
    let all = counts(&shares, "program");
    assert_eq!(all.0, all.1, "{shares}");
}

#[test]
fn stacks_of_both_sides_are_as_reviewed() {
    let before = fixtures().join("dwarf/perf.data");
    let before = before.to_str().unwrap();
    let words = ["--folded", "--against", before, "--per", "event"];
    let said = read("flame", &words).ok();
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
        picture.contains("<title>hot (149149149 -&gt; 149149149 ns, +0.0 %)"),
        "{picture}"
    );
    let shares = read("flame", &["--against", same, "--per", "event"]);
    let shares = shares.ok().stdout;
    assert!(
        shares.contains("<title>hot (70.28 % -&gt; 70.28 %, +0.00 points, +0.0 %)"),
        "{shares}"
    );
    assert!(
        picture.contains(": cpu-clock:u, 212 samples before, 212 after<"),
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

/// Twelve functions touch a hundred new pages each, a hundred times over; `sixth` as many as the argument says.
const TOUCHES: &str = r#"
#include <stdlib.h>
#include <sys/mman.h>
static char *pages;
static long at;
static inline __attribute__((always_inline)) void touch(void) {
    *(volatile char *)(pages + at++ * 4096) = 1;
    if (at == 512) { madvise(pages, 2 << 20, MADV_DONTNEED); at = 0; }
}
#define TOUCH(name) __attribute__((noinline)) void name(long n) { for (long i = 0; i < n; i++) touch(); }
TOUCH(first) TOUCH(second) TOUCH(third) TOUCH(fourth) TOUCH(fifth) TOUCH(sixth)
TOUCH(seventh) TOUCH(eighth) TOUCH(ninth) TOUCH(tenth) TOUCH(eleventh) TOUCH(twelfth)
int main(int argc, char **argv) {
    (void)argc;
    pages = mmap(0, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, 2 << 20, MADV_NOHUGEPAGE);
    for (int i = 0; i < 100; i++) {
        first(100); second(100); third(100); fourth(100); fifth(100); sixth(atol(argv[1]));
        seventh(100); eighth(100); ninth(100); tenth(100); eleventh(100); twelfth(100);
    }
    return 0;
}
"#;

/// Names of boxes that have a colour.
fn coloured(picture: &str) -> Vec<&str> {
    let boxes = picture.split("<title>").skip(1).filter_map(|text| {
        let (title, rest) = text.split_once("</title>")?;
        let (_, fill) = rest.split_once(" fill=\"")?;
        let name = title.split(" (").next()?;
        (!fill.starts_with("rgb(225,225,225)")).then_some(name)
    });
    boxes.collect()
}

#[test]
fn what_diff_does_not_mark_has_no_colour() {
    let Some(program) = Program::new(TOUCHES, FRAME_POINTERS) else {
        return;
    };
    let record = |pages: &str| {
        let _alone = alone();
        let file = program.file(&format!("{pages}.data"));
        let mut record = rprof(["record", "-q", "-e", "page-faults:u", "-c", "100"]);
        record.args(["--call-graph", "fp", "-o"]).arg(&file);
        run(record.arg("--").arg(program.path()).arg(pages)).ok();
        file
    };
    let before = record("100");
    let (alike, more) = (record("135"), record("900"));
    for per in [&[][..], &["--per", "run"], &["--per", "event"]] {
        let marks = |after: &Path| {
            let mut diff = rprof(["diff"]);
            let table = run(diff.args(per).arg(&before).arg(after)).ok().stdout;
            let rows = table.lines().filter(|line| !line.starts_with('#'));
            rows.filter(|line| line.contains('*')).count()
        };
        // More than two standard deviations of one box, and nothing among the noise of so many.
        assert_eq!(marks(&alike), 0, "{per:?}");
        let ran = flame(&alike, &before, per);
        assert!(ran.stderr.contains("nothing is coloured"), "{}", ran.stderr);
        let picture = ran.ok().stdout;
        assert_eq!(coloured(&picture), [""; 0], "{per:?}");
        assert!(picture.contains("<title>sixth ("), "{picture}");
        assert!(marks(&more) > 0, "{per:?}");
        let picture = flame(&more, &before, per).ok().stdout;
        assert!(coloured(&picture).contains(&"sixth"), "{per:?} {picture}");
    }
}
