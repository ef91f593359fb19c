//! Images by kind, build id and name.

use super::*;
use crate::difference::Programs;
use crate::{Frames, StrId, Strings, testing};

/// Names and build ids.
type Named<'a> = &'a [(&'a str, &'a str)];

/// A recording of functions `f` of images, with build ids.
struct Images {
    frames: Frames,
    strings: Strings,
    images: Vec<(StrId, Option<String>)>,
    programs: Programs,
}

fn side(images: Named<'_>) -> Images {
    let mut profile = testing::profile(&[]);
    let mut samples = Vec::new();
    let images = images.iter().map(|&(image, id)| {
        let frame = testing::function(&mut profile, "f", image);
        let number = profile.frames.intern(frame);
        samples.push((number, if image == "sh" { 90 } else { 100 }));
        (frame.image, (!id.is_empty()).then(|| id.to_owned()))
    });
    let images = images.collect();
    let threads = ["prog-old", "prog-new", "a-name-of-fifte", "sh", "make"];
    let about = crate::About::default();
    Images {
        frames: profile.frames,
        strings: profile.strings,
        images,
        programs: Programs::of(&about, threads.into_iter(), samples.into_iter()),
    }
}

/// The classes of more than one name, as `before=after`.
fn pairs(before: Named<'_>, after: Named<'_>) -> Vec<String> {
    let sides = [(Side::Before, before), (Side::After, after)];
    let made = sides.map(|(of, images)| (of, side(images)));
    let recordings = made.each_ref().map(|(side, made)| SideFunctions {
        side: *side,
        frames: &made.frames,
        strings: &made.strings,
        images: &made.images,
        programs: &made.programs,
    });
    let matched = ImageMatch::of(&recordings);
    let mut pairs = Vec::new();
    for (before, _) in before {
        let class = matched.class(Side::Before, before);
        for (after, _) in after {
            if matched.class(Side::After, after) == class {
                let sign = if matched.is_one_build(class) {
                    "=="
                } else {
                    "="
                };
                pairs.push(format!("{before}{sign}{after}"));
            }
        }
    }
    pairs
}

#[test]
fn versions_and_hashes_are_not_of_a_files_name() {
    for (image, bare) in [
        ("libfoo.so.1.2.3", "libfoo.so"),
        ("libfoo-2.31.so", "libfoo.so"),
        ("libpython3.11.so.1.0", "libpython3.so"),
        ("prog-1.2", "prog"),
        ("prog-v2", "prog"),
        ("prog-0123456789abcdef", "prog"),
        ("librustc_driver-9f2f26ac89eb6ae4.so", "librustc_driver.so"),
        ("gcc-12", "gcc"),
        ("base64", "base64"),
        ("a.out", "a.out"),
        ("my-feedback", "my-feedback"),
        ("[kernel.kallsyms]", "[kernel.kallsyms]"),
        ("[nf_tables_2]", "[nf_tables_2]"),
        ("-12", "-12"),
        ("\u{e4}-1", "\u{e4}"),
        ("", ""),
    ] {
        assert_eq!(unversioned(image), bare);
    }
}

#[test]
fn images_are_matched_by_build_then_name_then_name_without_version() {
    let cases: [(Named<'_>, Named<'_>, &[&str]); 9] = [
        (&[("p", "a")], &[("p", "a")], &["p==p"]),
        (&[("p", "a")], &[("p", "b")], &["p=p"]),
        (&[("p", "")], &[("p", "")], &["p=p"]),
        // Renamed; a file of the old name is another.
        (&[("p", "a")], &[("p", "b"), ("p.old", "a")], &["p==p.old"]),
        (
            &[("p", "a"), ("q", "a")],
            &[("p", "a"), ("q", "a")],
            &["p==p", "q==q"],
        ),
        (&[("l.so.1", "a")], &[("l.so.2", "b")], &["l.so.1=l.so.2"]),
        (
            &[("l.so.1", "a"), ("l.so.2", "b")],
            &[("l.so.2", "c"), ("l.so.3", "d")],
            &["l.so.1=l.so.3", "l.so.2=l.so.2"],
        ),
        (&[("p", "a")], &[("q", "b")], &[]),
        (
            &[("[JIT] tid 7", ""), ("[vdso]", "a")],
            &[
                ("jitted-8-1.so", "b"),
                ("perf-9.map", ""),
                ("linux-vdso.so.1", "a"),
            ],
            &[
                "[JIT] tid 7=jitted-8-1.so",
                "[JIT] tid 7=perf-9.map",
                "[vdso]==linux-vdso.so.1",
            ],
        ),
    ];
    for (before, after, expected) in cases {
        assert_eq!(pairs(before, after), expected);
        assert_eq!(pairs(after, before).len(), expected.len());
    }
}

#[test]
fn the_program_that_is_left_on_each_side_is_the_same() {
    let one = [("prog-old", "1"), ("lost.so", "2"), ("both", "3")];
    let other = [("prog-new", "4"), ("new.so", "5"), ("both", "6")];
    assert_eq!(pairs(&one, &other), ["prog-old=prog-new", "both=both"]);
    // What is called so on both sides is that.
    let both = [("prog-old", "7"), ("prog-new", "8")];
    assert_eq!(pairs(&one, &both), ["prog-old=prog-old"]);
    // Of two nobody can tell.
    let two = [("prog-new", "7"), ("a-name-of-fifteen-and-more", "8")];
    assert_eq!(pairs(&one[..1], &two), [""; 0]);
    assert_eq!(pairs(&one[..1], &two[1..]).len(), 1);
}

#[test]
fn a_program_that_another_outweighs_is_not_the_renamed_one() {
    let (old, new) = (("prog-old", "1"), ("prog-new", "2"));
    // A shell is a program, too, and has fewer samples.
    let with_shell = pairs(&[old, ("sh", "3")], &[new, ("sh", "3")]);
    assert_eq!(with_shell, ["prog-old=prog-new", "sh==sh"]);
    // `make` has as many: it may be what was recorded.
    let with_make = pairs(&[old, ("make", "3")], &[new, ("make", "3")]);
    assert_eq!(with_make, ["make==make"]);
}

#[test]
fn programs_are_files_of_the_command_line_and_threads() {
    let command = ["/usr/bin/perf", "record", "sh", "-c", "./prog-old 3"];
    let about = crate::About {
        command: command.map(str::to_owned).to_vec(),
        ..crate::About::default()
    };
    let programs = Programs::of(&about, ["worker", ""].into_iter(), std::iter::empty());
    let profile = testing::profile(&[]);
    let recording = SideFunctions {
        side: Side::Before,
        frames: &profile.frames,
        strings: &profile.strings,
        images: &[],
        programs: &programs,
    };
    for name in ["prog-old", "worker", "sh"] {
        assert!(recording.is_program(name), "{name}");
    }
    assert!(!recording.is_program("perf") && !recording.is_program(""));
}
