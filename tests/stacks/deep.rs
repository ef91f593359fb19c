//! Stacks that are deep, by many frames or by large ones.

use crate::common::Recording;
use crate::stacks::samples::program;

#[test]
fn three_thousand_frames_are_all_there() {
    let source = r"
        NOINLINE void down(int left) { if (left) down(left - 1); else spin(300); sink++; }
        int main(void) { down(2997); return 0; }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
    let mut expected = vec!["spin"];
    expected.extend(["down"; 2998]);
    expected.push("main");
    assert_eq!(expected.len(), 3000);
    for sample in recording.samples_in("spin") {
        sample.assert_is(&recording, &expected);
    }
    let folded = recording.read("flame", &["--folded", "--no-inline"]);
    let deepest = folded.lines().map(|line| line.split(';').count()).max();
    assert!(deepest >= Some(3000), "{deepest:?}");
}

/// A function with a frame of so many KiB, called in between two others, and whether all of it is
/// written to.
fn with_frame_of(kib: u32, is_filled: bool) -> String {
    let filled = if is_filled {
        "memset((void *)room, 1, sizeof room);"
    } else {
        "room[0] = 1;"
    };
    format!(
        r"
        #include <string.h>
        NOINLINE void wide(void) {{ volatile char room[{kib} << 10]; {filled} spin(300); sink += room[0]; }}
        NOINLINE void outer(void) {{ wide(); sink++; }}
        int main(void) {{ outer(); return 0; }}"
    )
}

const WIDE: [&str; 4] = ["spin", "wide", "outer", "main"];

#[test]
fn wide_frames_are_whole_and_cut_where_less_is_copied() {
    for kib in [9, 30, 60] {
        let Some(program) = program(&with_frame_of(kib, true)) else {
            return;
        };
        let recording = program.record(&["-F", "999"], &[]);
        for sample in recording.samples_in("spin") {
            sample.assert_is(&recording, &WIDE);
        }
        let recording = program.record(&["-F", "999", "--call-graph", "dwarf,8192"], &[]);
        for sample in recording.samples_in("spin") {
            assert!(sample.is_shortened(), "{sample:#?}");
            assert!(WIDE[..2].starts_with(&sample.innermost()), "{sample:#?}");
        }
        let stats = recording.read("report", &["--stats"]);
        assert!(stats.contains("truncated: the stack is deeper"), "{stats}");
        assert_eq!(recording.ends().completed, 0);
    }
}

#[test]
fn a_frame_larger_than_any_copy_is_cut_or_right() {
    let Some(program) = program(&with_frame_of(122, true)) else {
        return;
    };
    let recording = program.record(&["-F", "999", "--call-graph", "dwarf"], &[]);
    for sample in recording.samples_in("spin") {
        assert!(sample.is_shortened(), "{sample:#?}");
        assert!(WIDE[..2].starts_with(&sample.innermost()), "{sample:#?}");
    }
    assert_eq!(recording.ends().completed, 0);
    let recording = program.record(&["-F", "4000"], &[]);
    assert_are_completed(&recording);
}

#[test]
fn memory_that_nobody_has_written_to_gives_no_wrong_callers() {
    let Some(program) = program(&with_frame_of(122, false)) else {
        return;
    };
    // The kernel's copies end there. How much of such a stack is completed depends on whether the
    // pages around can be read at that moment.
    let recording = program.record(&["-F", "4000"], &[]);
    for sample in recording.samples_in("spin") {
        if sample.is_whole() {
            sample.assert_is(&recording, &WIDE)
        } else {
            assert!(WIDE[..2].starts_with(&sample.innermost()), "{sample:#?}")
        }
    }
}

/// Asserts that stacks are right or said to be cut.
#[track_caller]
fn assert_are_completed(recording: &Recording) {
    let mut n_whole = 0;
    for sample in recording.samples_in("spin") {
        if sample.is_whole() {
            n_whole += 1;
            sample.assert_is(recording, &WIDE);
        } else {
            assert!(sample.is_shortened(), "{sample:#?}")
        }
    }
    let completed = recording.ends().completed;
    assert!(completed >= n_whole, "{completed} {n_whole}: {recording:?}");
}
