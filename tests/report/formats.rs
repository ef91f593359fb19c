//! `rprof report --format`: tables as data.

use crate::common::{rprof, run};
use crate::report::report;
use serde_json::Value;

fn json(args: &[&str]) -> Value {
    let text = report(&[&["--format", "json"], args].concat());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn json_has_the_rows_of_the_table_with_their_types() {
    let all = json(&["--no-children", "-n", "-s", "comm,pid,sym"]);
    assert_eq!(
        (&all["schema"], &all["version"]),
        (&"rprof-report".into(), &1.into())
    );
    assert_eq!(all["quality"]["samples"], 212);
    assert_eq!(all["quality"]["clock"], "monotonic");
    let event = &all["events"][0];
    assert_eq!(
        (&event["name"], &event["samples"]),
        (&"cpu-clock:u".into(), &212.into())
    );
    let columns = event["columns"].as_array().unwrap();
    let names: Vec<&str> = columns
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["overhead", "sample", "comm", "pid", "sym"]);
    let rows = event["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let hot = &rows[0];
    assert_eq!(
        (&hot["sample"], &hot["comm"], &hot["sym"]),
        (&149.into(), &"spin".into(), &"[.] helper (inlined)".into())
    );
    let percent = hot["overhead"].as_f64().unwrap();
    assert!((70.28..70.29).contains(&percent), "{percent}");
}

#[test]
fn trees_in_json_are_lists_whose_nodes_name_their_parents() {
    let all = json(&[]);
    let rows = all["events"][0]["rows"].as_array().unwrap();
    let work = rows.iter().find(|row| row["sym"] == "[.] work").unwrap();
    assert_eq!(work["tree"]["order"], "caller");
    let nodes = work["tree"]["nodes"].as_array().unwrap();
    assert_eq!(
        (&nodes[0]["name"], nodes[0].get("parent")),
        (&"work".into(), None)
    );
    for (number, node) in nodes.iter().enumerate().skip(1) {
        let parent = usize::try_from(node["parent"].as_u64().unwrap()).unwrap();
        assert!(parent < number);
        assert!(node["weight"].as_u64() <= nodes[parent]["weight"].as_u64());
    }
    assert!(
        json(&["-g", "none"])["events"][0]["rows"][0]
            .get("tree")
            .is_none()
    );
}

#[test]
fn what_limits_leave_out_is_in_the_json() {
    let event = &json(&["--no-children", "--limit", "1"])["events"][0];
    assert_eq!(event["rows"].as_array().unwrap().len(), 1);
    assert_eq!(event["left_out"]["rows"], 1);
}

#[test]
fn csv_has_a_line_of_names_and_a_line_for_each_row() {
    let flat = ["--format", "csv", "--no-children", "-n"];
    assert_eq!(
        report(&flat),
        "overhead,sample,comm,dso,sym\n70.28,149,spin,spin,[.] helper (inlined)\n29.72,63,spin,spin,[.] cold\n"
    );
}

#[test]
fn markdown_is_a_table_of_the_first_rows() {
    let flat = ["--format", "markdown", "--no-children", "--limit", "1"];
    assert_eq!(
        report(&flat),
        "212 samples of event cpu-clock:u\n\n\
         | Overhead | Command | Shared Object | Symbol |\n\
         | ---: | --- | --- | --- |\n\
         | 70.28% | spin | spin | \\[.\\] helper (inlined) |\n\n\
         1 more row, 29.72%\n\n\
         Quality: 212 samples, 0.0 % lost, 0.0 % without names\n"
    );
}

/// Fields of a line of CSV, by a reader of the test's own.
fn fields(record: &str) -> Option<usize> {
    let (mut n_fields, mut rest) = (1, record);
    loop {
        rest = match rest.strip_prefix('"') {
            None => rest.trim_start_matches(|c| c != ',' && c != '"'),
            Some(mut quoted) => loop {
                let (_, after) = quoted.split_once('"')?;
                match after.strip_prefix('"') {
                    Some(more) => quoted = more,
                    None => break after,
                }
            },
        };
        match rest.strip_prefix(',') {
            Some(more) => (n_fields, rest) = (n_fields + 1, more),
            None => return rest.is_empty().then_some(n_fields),
        }
    }
}

/// Damaged and foreign recordings, too, whatever they name their code.
#[test]
fn every_line_of_every_recording_of_others_is_valid() {
    let Some(corpus) = crate::common::corpus() else {
        return;
    };
    let mut n_read = 0;
    let folders = std::fs::read_dir(corpus)
        .unwrap()
        .map(|folder| folder.unwrap().path());
    let files = folders.filter(|folder| folder.is_dir()).flat_map(|folder| {
        let files = std::fs::read_dir(folder).unwrap();
        files.map(|file| file.unwrap().path())
    });
    for file in files.filter(|file| file.is_file()) {
        let read = |format: &str| {
            let mut rprof = rprof([
                "report",
                "--no-debuginfod",
                "-g",
                "none",
                "--format",
                format,
                "-i",
            ]);
            run(rprof.arg(&file))
        };
        let json = read("json");
        if !json.status.success() {
            continue;
        }
        n_read += 1;
        let file = file.display();
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        let rows = json["events"].as_array().unwrap().iter();
        let rows: usize = rows
            .map(|event| event["rows"].as_array().unwrap().len())
            .sum();
        let csv = read("csv").ok().stdout;
        let widths: Vec<_> = csv.lines().map(fields).collect();
        assert_eq!(widths.len(), rows + 1, "{file}");
        assert!(
            widths[0].is_some() && widths.iter().all(|width| *width == widths[0]),
            "{file}"
        );
        let markdown = read("markdown").ok().stdout;
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines = markdown.lines().filter(|line| line.starts_with('|'));
        let n_columns = widths[0].unwrap_or(0);
        assert!(
            lines
                .clone()
                .all(|line| (bars(line) - 1).abs_diff(n_columns) <= 1),
            "{file}"
        );
    }
    assert!(n_read > 0);
}

/// As perf 6.1 prints it, blanks and all.
#[test]
fn a_separator_stands_between_columns_as_perf_has_it() {
    let rows = |args: &[&str]| {
        let table = report(&[&["--no-children", "-g", "none", "--no-inline"], args].concat());
        let lines = table
            .lines()
            .skip_while(|line| !line.starts_with("# Overhead"));
        let lines: Vec<String> = lines.take(3).map(str::to_owned).collect();
        lines.join("\n")
    };
    assert_eq!(
        rows(&["-t:", "-n"]),
        "# Overhead:     Samples:Command:Shared Object:Symbol  \n \
         70.28% : 149        :spin   :spin         :[.] hot\n \
         29.72% : 63         :spin   :spin         :[.] cold"
    );
    assert_eq!(
        rows(&["-t", ";", "-s", "sym,dso"]),
        "# Overhead;Symbol  ;Shared Object\n \
         70.28% ;[.] hot ;spin         \n \
         29.72% ;[.] cold;spin         "
    );
    assert!(rows(&["-t", "o"]).contains("[.] h.t"));
    for bad in ["", "."] {
        crate::report::read("report", &["-t", bad]).fails(2);
    }
}

#[test]
fn quiet_leaves_only_rows() {
    let flat = ["-q", "--no-children", "-g", "none"];
    let rows = "    70.28%  spin     spin           [.] helper (inlined)\n    29.72%  spin     spin           [.] cold\n";
    assert_eq!(report(&flat).trim_end(), rows.trim_end());
}

#[test]
fn folded_stacks_are_those_of_the_flame_graph() {
    let folded = report(&["--format", "folded", "--no-inline"]);
    let flame = crate::report::read("flame", &["--folded", "--no-inline"]).ok();
    assert_eq!(folded, flame.stdout);
    assert!(folded.contains(";hot 149\n"), "{folded}");
}

#[test]
fn json_says_what_time_it_was() {
    let clock = &json(&[])["header"]["wall_clock"];
    assert!(clock["wall_ns"].as_u64() > clock["clock_ns"].as_u64());
}

#[test]
fn what_is_for_other_forms_is_refused() {
    for (words, flag) in [
        (&["--format", "folded", "-s", "sym"][..], "-s is for tables"),
        (
            &["--format", "folded", "--limit", "3"],
            "--limit is for tables",
        ),
        (&["--format", "folded", "--group"], "--group is for tables"),
        (&["--format", "csv", "-w", "10"], "-w is for text"),
        (&["--format", "json", "-t", "x"], "-t is for text"),
        (
            &["--format", "csv", "--stdio-color"],
            "--stdio-color is for text",
        ),
        (&["--tasks", "-c", "spin"], "filters apply to samples"),
        (&["--tasks", "--stats"], "cannot be used with"),
        (&["--tasks", "-s", "zzz"], "-s is for samples"),
        (&["--stats", "-x", "-p", "work"], "-x is for tables"),
        (
            &["--format", "folded", "--latency"],
            "--latency is for tables",
        ),
        (&["--show-on-off-events"], "--switch-on"),
        (&["--children", "--hierarchy"], "cannot be used with"),
        (&["--children", "-s", "addr"], "count only their own"),
    ] {
        let said = crate::report::read("report", words).fails(2);
        assert!(said.contains(flag), "{said}");
    }
    for flag in [
        &["--width", "500"][..],
        &["--reverse"],
        &["--palette", "java"],
    ] {
        let words = [&["--folded"], flag].concat();
        let said = crate::report::read("flame", &words).fails(2);
        assert!(said.contains("cannot be used with"), "{said}");
    }
}

#[test]
fn tasks_are_a_tree() {
    let tasks = report(&["--tasks"]);
    assert_eq!(
        tasks,
        "#      pid      tid     ppid  comm\n         \
         0        0       -1 |swapper\n      1269     1269       -1 |spin\n"
    );
    let maps = report(&["--mmaps"]);
    let indent = " ".repeat(32);
    let code = format!("\n{indent}401000-402000 r-xp 00001000 0 /tmp/rprof-fixture/spin\n");
    assert!(maps.contains(&code), "{maps}");
}
