//! `--hierarchy` and `--parent`, on a fixture.

use super::{read, report};

#[test]
fn a_level_is_indented_below_the_one_before() {
    let table = report(&["--hierarchy", "-g", "none", "-s", "dso,sym"]);
    let expected = "\
#    Overhead  Shared Object / Symbol
# ...........  .......................
#
   100.00%     spin
       70.28%     [.] helper (inlined)
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
    assert!(
        limited.contains("# 2 more innermost rows, 100.00%"),
        "{limited}"
    );
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
        "level,overhead,comm,sym\n1,100.00,spin,\n2,70.28,spin,[.] helper (inlined)\n2,29.72,spin,[.] cold\n"
    );
    let markdown = levels("markdown");
    assert!(
        markdown.contains("| 100.00% | spin |  |\n| 70.28% |  | \\[.\\] helper (inlined) |\n"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&levels("json")).unwrap();
    let rows = &json["events"][0]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["comm"], "spin");
    assert!(rows[0].get("sym").is_none());
    let inner = rows[0]["rows"].as_array().unwrap();
    assert_eq!(
        (inner.len(), &inner[0]["sym"]),
        (2, &"[.] helper (inlined)".into())
    );
    assert!(inner[0].get("comm").is_none() && inner[0].get("rows").is_none());
}

#[test]
fn what_levels_do_not_have_is_refused() {
    for other in [&["-F", "sym"][..], &["-t", ";"], &["-w", "10"]] {
        let said = read("report", &[&["--hierarchy"], other].concat()).fails(2);
        assert!(said.contains("'--hierarchy' cannot be used with"), "{said}");
    }
}

#[test]
fn sums_of_what_rows_called_are_refused_where_nothing_is_called() {
    for sum in ["overhead_children", "latency_children"] {
        for flag in ["--hierarchy", "--no-children", "symoff"] {
            let asked: &[&str] = match flag {
                "symoff" => &["-s", "symoff"],
                _ => &[flag],
            };
            let said = read("report", &[asked, &["-s", sum]].concat()).fails(2);
            let expected = format!("{sum} includes callees, but {flag} ");
            assert!(said.contains(&expected), "{said}");
            assert!(said.contains(&format!("leave out {flag}")), "{said}");
        }
    }
    report(&["-s", "overhead_children"]);
}

#[test]
fn headings_of_many_keys_are_whole() {
    let keys = "comm,dso,sym,pid,tid,cpu,srcfile,srcline";
    let table = report(&["--hierarchy", "-g", "none", "-s", keys]);
    let heading = "Command / Shared Object / Symbol / Pid:Command / ";
    let heading = table.lines().find(|line| line.contains(heading)).unwrap();
    let dots = table.lines().find(|line| line.starts_with("# ..")).unwrap();
    assert!(heading.ends_with(" / Source:Line"), "{heading}");
    assert_eq!(heading.len(), dots.len(), "{table}");
}

#[test]
fn rows_that_the_number_of_rows_leaves_out_are_entries() {
    let args = |limit| {
        let all = ["--hierarchy", "-g", "none", "-s", "dso,sym", "--limit"];
        let args = [&all[..], &[limit, "--percent-limit", "20"]].concat();
        report(&args)
    };
    for limit in ["1", "2"] {
        let table = args(limit);
        assert!(!table.contains("no entry"), "{table}");
    }
    let first = args("1");
    assert!(
        first.contains("# 2 more innermost rows, 100.00%"),
        "{first}"
    );
}

#[test]
fn without_keys_there_are_no_levels() {
    let rows = |args: &[&str]| {
        let table = report(&[&["-g", "none", "-q", "-s", "sample"], args].concat());
        table.trim().to_owned()
    };
    let row = rows(&["--no-children"]);
    assert!(row.starts_with("100.00%"), "{row}");
    assert_eq!(rows(&["--hierarchy"]), row);
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
        said.contains("no caller matches '^nothing$' (--parent)"),
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
