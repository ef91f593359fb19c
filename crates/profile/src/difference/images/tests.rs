//! Images by kind, build id and name.

use super::*;
use crate::{Frames, StrId, Strings, testing};

/// Names and build ids.
type Named<'a> = &'a [(&'a str, &'a str)];

/// A recording of functions `f` of images, with build ids.
struct Images {
    frames: Frames,
    strings: Strings,
    images: Vec<(StrId, Option<String>)>,
    programs: Vec<String>,
}

fn side(images: Named<'_>) -> Images {
    let mut profile = testing::profile(&[]);
    let images = images.iter().map(|&(image, id)| {
        let frame = testing::function(&mut profile, "f", image);
        profile.frames.intern(frame);
        (frame.image, (!id.is_empty()).then(|| id.to_owned()))
    });
    let images = images.collect();
    Images {
        frames: profile.frames,
        strings: profile.strings,
        images,
        programs: vec![
            "prog-old".into(),
            "prog-new".into(),
            "a-name-of-fifte".into(),
        ],
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
fn programs_are_files_of_the_command_line_and_threads() {
    let command = ["/usr/bin/perf", "record", "sh", "-c", "./prog-old 3"];
    let about = crate::About {
        command: command.map(str::to_owned).to_vec(),
        ..crate::About::default()
    };
    let names = crate::difference::program_names(&about, ["worker", ""].into_iter());
    for name in ["prog-old", "worker", "sh"] {
        assert!(names.iter().any(|one| one == name), "{name}");
    }
    assert!(!names.iter().any(|one| one == "perf" || one.is_empty()));
}
