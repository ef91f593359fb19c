//! Folded stacks of other tools, read as recordings are.

use super::read;
use crate::common::{rprof, run, scratch, write};
use std::path::Path;

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_was_folded_is_the_same_when_it_is_read_again() {
    let folded = read("flame", &["--folded"]).ok().stdout;
    let dir = scratch();
    let file = dir.path().join("spin.folded");
    write(&file, folded.as_bytes());
    let again = run(rprof(["flame", "--folded"]).arg(&file)).ok().stdout;
    assert!(folded.lines().count() > 1, "{folded}");
    assert_eq!(sorted(&again), sorted(&folded));
}

#[test]
fn every_view_takes_folded_stacks() {
    let dir = scratch();
    let file = dir.path().join("query.txt");
    write(
        &file,
        b"# from a query\nweb;main;parse;read 30\nweb;main;parse 50\nweb;main 20\nidle 100\n",
    );
    let table = |args: &[&str]| run(rprof(["report", "-g", "none"]).args(args).arg(&file)).ok();
    let rows = table(&["--no-children", "-s", "comm,sym", "--format", "csv"]).stdout;
    for row in [
        "50.00,idle,[.] idle",
        "25.00,web,[.] parse",
        "15.00,web,[.] read",
        "10.00,web,[.] main",
    ] {
        assert!(rows.contains(row), "{row} in {rows}");
    }
    let callers = table(&["--children", "-s", "sym", "--format", "csv"]).stdout;
    assert!(callers.contains("50.00,10.00,[.] main"), "{callers}");
    let text = table(&[]).stdout;
    assert!(text.contains("200") && !text.contains("clock"), "{text}");
    let picture = run(rprof(["flame"]).arg(&file)).ok().stdout;
    assert!(picture.contains("parse (80 samples, 40.00%)"), "{picture}");
    let page = dir.path().join("page.html");
    run(rprof(["export", "-o"]).arg(&page).arg(&file)).ok();
    assert!(page.exists());
}

#[test]
fn a_line_that_is_no_stack_is_named() {
    let dir = scratch();
    let said = |text: &str| {
        let file = dir.path().join("x.txt");
        write(&file, text.as_bytes());
        run(rprof(["report"]).arg(&file)).fails(1)
    };
    assert!(said("a;b 1\nc\n").contains("x.txt:2: no count at the end of the line"));
    assert!(said("just words\n").contains("not a perf.data file"));
    // What changes the file in place takes recordings alone.
    let file = Path::new("x.txt");
    write(&dir.path().join(file), b"a;b 1\n");
    let embed = run(rprof(["symbols", "--embed"]).arg(dir.path().join(file))).fails(1);
    assert!(embed.contains("not a perf.data file"), "{embed}");
    assert_eq!(std::fs::read(dir.path().join(file)).unwrap(), b"a;b 1\n");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_folder_of_tables_needs_a_build_that_reads_them() {
    let dir = scratch();
    std::fs::create_dir(dir.path().join("samples")).unwrap();
    let said = run(rprof(["report"]).arg(dir.path())).fails(1);
    assert!(said.contains("built without Parquet tables"), "{said}");
}
