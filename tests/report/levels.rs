//! `--hierarchy` and `--parent`, on a fixture.

use super::{read, report};

#[test]
fn a_level_is_indented_below_the_one_before() {
    let table = report(&["--hierarchy", "-g", "none", "-s", "dso,sym"]);
    let expected = "\
#    Overhead  Shared Object / Symbol
# ...........  ......................
#
   100.00%     spin
       70.28%     [.] hot
       29.72%     [.] cold
";
    assert!(table.contains(expected), "{table}");
    let limited = report(&[
        "--hierarchy",
        "-g",
        "none",
        "-s",
        "dso,sym",
        "--percent-limit",
        "80",
    ]);
    assert!(limited.contains("no entry >= 80.00%"), "{limited}");
    assert!(limited.contains("# 2 rows more, 100.00%"), "{limited}");
}

#[test]
fn levels_as_data_say_which_level_a_row_is_of() {
    let levels = |format: &str| {
        let args = [
            "--hierarchy",
            "-g",
            "none",
            "-s",
            "comm,sym",
            "--format",
            format,
        ];
        report(&args)
    };
    assert_eq!(
        levels("csv"),
        "level,overhead,comm,sym\n1,100.00,spin,\n2,70.28,spin,[.] hot\n2,29.72,spin,[.] cold\n"
    );
    let markdown = levels("markdown");
    assert!(
        markdown.contains("| 100.00% | spin |  |\n| 70.28% |  | \\[.\\] hot |\n"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&levels("json")).unwrap();
    let rows = &json["events"][0]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["comm"], "spin");
    assert!(rows[0].get("sym").is_none());
    let inner = rows[0]["rows"].as_array().unwrap();
    assert_eq!((inner.len(), &inner[0]["sym"]), (2, &"[.] hot".into()));
    assert!(inner[0].get("comm").is_none() && inner[0].get("rows").is_none());
}

#[test]
fn what_levels_do_not_have_is_refused() {
    for other in [&["-F", "sym"][..], &["-t", ";"], &["-w", "10"]] {
        let said = read("report", &[&["--hierarchy"], other].concat()).fails(2);
        assert!(said.contains("'--hierarchy' cannot be used with"), "{said}");
    }
    let said = read("report", &["--hierarchy", "-s", "overhead_children"]).fails(2);
    assert!(said.contains("--no-children, --hierarchy"), "{said}");
}

#[test]
fn the_parent_is_the_first_caller_from_where_trees_begin() {
    let parents = |args: &[&str]| {
        let all = ["-g", "none", "-s", "parent", "-q", "-p", "^(work|hot)$"];
        let table = report(&[&all, args].concat());
        let rows = table.lines().filter(|line| line.contains('%'));
        let cells = rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "));
        cells.collect::<Vec<_>>()
    };
    assert_eq!(parents(&["--no-children"]), ["70.28% hot", "29.72% work"]);
    assert_eq!(parents(&["--no-children", "-G"]), ["100.00% work"]);
    assert_eq!(parents(&[]), ["100.00% 100.00% work"]);
}

#[test]
fn samples_without_a_parent_are_left_out_if_that_is_asked_for() {
    let table = report(&["-x", "-p", "^hot$", "--no-children", "-g", "none"]);
    assert!(table.contains("# Shown: 149 samples"), "{table}");
    assert!(table.contains("hot") && !table.contains("cold"), "{table}");
    let said = read("report", &["-x", "-p", "^nothing$"]).ok().stderr;
    assert!(
        said.contains("no caller has a name that '^nothing$' (--parent) accepts"),
        "{said}"
    );
}

#[test]
fn inlined_functions_are_parents_too() {
    let table = report(&[
        "-p",
        "^helper$",
        "-s",
        "parent",
        "--no-children",
        "-g",
        "none",
    ]);
    assert!(table.contains("70.28%  helper"), "{table}");
}
