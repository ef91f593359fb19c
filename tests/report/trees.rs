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
        ("branch", "use rprof script -F +brstack"),
        ("1,x", "'x' is not a number of branches"),
    ] {
        let said = read("report", &["-g", words]).fails(2);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn nodes_may_be_lines() {
    let table = report(&["--no-children", "-g", "caller,srcline"]);
    assert!(
        table.contains(
            "_start spin.c:23\n               work spin.c:17\n               hot spin.c:9\n"
        ),
        "{table}"
    );
    assert!(table.contains("helper spin.c:6 (inlined)\n"), "{table}");
    let whole = report(&["-g", "caller,srcline", "--full-source-path"]);
    assert!(whole.contains("work ./spin.c:17\n"), "{whole}");
    let folded = report(&[
        "-g",
        "folded,srcline",
        "--fold",
        "inlined",
        "-S",
        "helper",
        "--no-children",
    ]);
    assert!(folded.contains("hot spin.c:9;work spin.c:17"), "{folded}");
}

#[test]
fn nodes_of_addresses_are_more_than_those_of_lines_and_sum_to_as_much() {
    let nodes = |key: &str| {
        let words = format!("caller,0,{key}");
        let json = report(&[
            "--no-children",
            "-s",
            "sym",
            "--format",
            "json",
            "-g",
            &words,
        ]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let trees = json["events"][0]["rows"].as_array().unwrap().clone();
        let nodes = trees
            .iter()
            .map(|row| row["tree"]["nodes"].as_array().unwrap());
        nodes.flatten().cloned().collect::<Vec<_>>()
    };
    let weight = |nodes: &[serde_json::Value]| -> u64 {
        let roots = nodes.iter().filter(|node| node.get("parent").is_none());
        roots.map(|node| node["weight"].as_u64().unwrap()).sum()
    };
    let (lines, addresses) = (nodes("srcline"), nodes("address"));
    assert!(addresses.len() > lines.len());
    assert_eq!(weight(&lines), weight(&addresses));
}
