//! Trees of `rprof report`, on a fixture.

use super::{read, report};

#[test]
fn a_tree_without_room_counts_what_is_left_out() {
    let table = report(&["--max-tree-lines", "4", "--no-inline"]);
    let lines = table
        .lines()
        .skip_while(|line| !line.ends_with("[.] [unknown]"));
    let tree: Vec<&str> = lines.skip(1).take(6).map(str::trim).collect();
    let expected = [
        "|",
        "---[unknown]",
        "_start",
        "work",
        "... 2 branches, 100.00%",
        "",
    ];
    assert_eq!(tree, expected, "{table}");
    let flat = report(&["-g", "flat", "--max-tree-lines", "1", "--no-inline"]);
    assert!(flat.contains("... 1 stack, 29.72%"), "{flat}");
    let trunk = report(&["--max-tree-lines", "2", "--no-inline"]);
    assert!(trunk.contains("... 2 frames\n"), "{trunk}");
}

#[test]
fn a_row_by_function_does_not_say_it_again() {
    let table = report(&["-s", "sym", "--no-inline"]);
    assert!(
        table.contains("[.] work\n            |\n            |--70.28%--hot\n"),
        "{table}"
    );
    assert!(
        table.contains(
            "---[unknown]\n               _start\n               work\n               hot\n"
        ),
        "{table}"
    );
}

#[test]
fn what_trees_cannot_be_is_said() {
    for (words, why) in [
        ("sideways", "graph, fractal, flat, folded, none, caller"),
        ("address", "counted by function, not by 'address'"),
        ("1,x", "'x' is no number of branches"),
    ] {
        let said = read("report", &["-g", words]).fails(2);
        assert!(said.contains(why), "{said}");
    }
}
