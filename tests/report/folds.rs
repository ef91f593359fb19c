//! `--fold`, on a fixture.

use super::{read, report};

#[test]
fn inlined_functions_are_their_callers_in_tables_and_pictures() {
    let table = report(&["--fold", "inlined"]);
    assert!(
        table.contains("hot") && !table.contains("helper"),
        "{table}"
    );
    assert!(report(&[]).contains("helper (inlined)"));
    for verb in [
        &["flame", "--folded"][..],
        &["export", "--format", "folded"],
    ] {
        let folded = read(verb[0], &[&verb[1..], &["--fold", "inlined"]].concat()).ok();
        let plain = read(verb[0], &[&verb[1..], &["--no-inline"]].concat()).ok();
        assert_eq!(folded.stdout, plain.stdout, "{verb:?}");
    }
}

#[test]
fn modules_are_one_frame_each() {
    let folded = read(
        "flame",
        &["--folded", "--fold", "modules,recursion,generics"],
    )
    .ok();
    let lines: Vec<&str> = folded.stdout.lines().collect();
    assert_eq!(lines, ["spin;[unknown];[spin] 212"]);
}

#[test]
fn folding_that_is_not_is_said() {
    let said = read("report", &["--fold", "all"]).fails(2);
    assert!(
        said.contains("recursion, generics, modules, inlined"),
        "{said}"
    );
    let said = read("export", &["--fold", "modules", "--format", "pprof"]).fails(2);
    assert!(said.contains("folded stacks, JSON and --against"), "{said}");
}

#[test]
fn stacks_are_kept_by_any_of_their_functions() {
    let folded = |names: &str| {
        let args = ["--folded", "--keep-stacks", names];
        read("flame", &args).ok().stdout
    };
    let all = read("flame", &["--folded"]).ok().stdout;
    let (cold, hot) = all.split_once('\n').unwrap();
    assert!(
        cold.contains(";work;cold ") && hot.contains(";hot;helper "),
        "{all}"
    );
    assert_eq!(folded("work"), all);
    assert_eq!(folded("h?t"), hot);
    assert_eq!(folded("!hot"), format!("{cold}\n"));
    assert_eq!(folded("work,!cold"), hot);
    // Percentages stay those of all samples, and the table says so.
    let own = ["--no-children", "-g", "none"];
    let table = report(&[&own[..], &["--keep-stacks", "!hot"]].concat());
    assert!(
        table.contains("29.72%  spin     spin           [.] cold"),
        "{table}"
    );
    assert!(!table.contains("helper"), "{table}");
    assert!(table.contains("# Shown: 63 samples,"), "{table}");
    let none = read("report", &["--keep-stacks", "nothing"]).ok();
    let said = "warning: no stack is left: --keep-stacks nothing";
    assert!(none.stderr.contains(said), "{}", none.stderr);
    let refused = read("flame", &["--flamechart", "--keep-stacks", "hot"]);
    refused.fails(2);
}

#[test]
fn script_prints_the_samples_whose_stacks_are_kept() {
    let script = |args: &[&str]| read("script", &[&["-F", "ip,sym"], args].concat()).ok();
    for (names, n) in [
        ("h?t", 149),
        ("!hot", 63),
        ("work,!cold", 149),
        ("helper", 149),
    ] {
        let said = script(&["--keep-stacks", names]);
        let samples = said
            .stdout
            .split("\n\n")
            .filter(|one| !one.trim().is_empty());
        assert_eq!(samples.count(), n, "{names}: {}", said.stdout);
        // Without chains they are the same.
        let own = read("script", &["-G", "-F", "time", "--keep-stacks", names]).ok();
        let own = own.stdout;
        assert_eq!(own.lines().count(), n, "{names}: {own}");
    }
    let none = script(&["--keep-stacks", "nothing"]).stderr;
    assert!(
        none.contains("no stack is left: --keep-stacks nothing"),
        "{none}"
    );
}
