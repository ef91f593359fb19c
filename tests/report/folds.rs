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
