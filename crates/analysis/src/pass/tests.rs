//! Recordings and questions that several passes are tested with.

use super::group_by::GroupBy;
use super::load::Options;
use rprof_profile::{Dimension, Filter, NameList, TimeSlices};
use std::path::{Path, PathBuf};

/// The recordings of the project, and those of others where they are.
pub(crate) fn recordings() -> Vec<PathBuf> {
    let fixtures = Path::new("../../fixtures");
    let own = ["spin/perf.data", "dwarf/perf.data", "forms/directory"];
    let forms = ["compressed", "piped", "piped-compressed"];
    let forms = forms.iter().map(|form| format!("forms/{form}.data"));
    let own = own.iter().map(|&one| one.to_owned()).chain(forms);
    let mut all: Vec<PathBuf> = own.map(|one| fixtures.join(one)).collect();
    let Some(corpus) = std::env::var_os("RPROF_CORPUS") else {
        println!("only the project's recordings: RPROF_CORPUS is not set");
        return all;
    };
    for folder in [
        "quipper",
        "autofdo",
        "big-endian",
        "linux-perf-data",
        "simpleperf",
    ] {
        let files = std::fs::read_dir(Path::new(&corpus).join(folder)).unwrap();
        all.extend(files.map(|file| file.unwrap().path()));
    }
    all.sort();
    all
}

/// What else is asked for, each with a name.
pub(crate) fn questions() -> Vec<(&'static str, Options)> {
    let filtered = |filter| Options {
        filter,
        ..Options::default()
    };
    let none = Filter::default;
    let grouped = |names, dimensions: &[Dimension]| Options {
        group_by: GroupBy {
            names,
            ..GroupBy::of(dimensions)
        },
        ..Options::default()
    };
    let flat = Options {
        stacks: false,
        ..Options::default()
    };
    let without_inlines = Options {
        inlines: false,
        ..Options::default()
    };
    let half = TimeSlices::parse("0%-50%").unwrap();
    vec![
        ("all", Options::default()),
        ("flat", flat),
        ("no inlines", without_inlines),
        ("no names", grouped(false, &[])),
        ("no digits", grouped(false, &[Dimension::CommNoDigit])),
        ("pid,cpu", grouped(false, &[Dimension::Pid, Dimension::Cpu])),
        ("comm,tid", grouped(true, &[Dimension::Tid])),
        (
            "comms",
            filtered(Filter {
                comms: NameList::of(["spin", "walk"]),
                ..none()
            }),
        ),
        (
            "tids",
            filtered(Filter {
                tids: vec![1],
                ..none()
            }),
        ),
        (
            "cpu",
            filtered(Filter {
                cpus: vec![0],
                ..none()
            }),
        ),
        (
            "time",
            filtered(Filter {
                times: Some(half),
                ..none()
            }),
        ),
        (
            "named",
            filtered(Filter {
                hide_unresolved: true,
                ..none()
            }),
        ),
        (
            "symbols",
            filtered(Filter {
                symbol_part: Some("a".to_owned()),
                ..none()
            }),
        ),
        (
            "dsos",
            filtered(Filter {
                dsos: NameList::of(["spin"]),
                ..none()
            }),
        ),
        (
            "max-stack",
            filtered(Filter {
                max_stack: Some(2),
                ..none()
            }),
        ),
        (
            "no idle",
            filtered(Filter {
                no_idle: true,
                ..none()
            }),
        ),
    ]
}
