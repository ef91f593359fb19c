//! What a terminal gets: a pager, colours.

use crate::common::{closed_pipe, compile_c, needs, run, scratch, tool};
use crate::report::spin;

/// What a terminal of `columns` columns shows of `rprof WORDS` on the fixture, in a locale of UTF-8, with these variables.
/// `None` if there is no tool that has a terminal.
fn shown(columns: u32, words: &str, variables: &[(&str, &str)]) -> Option<String> {
    let (data, root) = (spin().join("perf.data"), spin().join("root"));
    let sources = match words.split(' ').next() {
        Some("list") => String::new(),
        Some("info" | "dump") => format!("-i {}", data.display()),
        _ => format!("-i {} --symfs {}", data.display(), root.display()),
    };
    on_terminal(columns, &format!("{words} {sources}"), variables)
}

/// The same of `rprof WORDS`, whatever it reads.
fn on_terminal(columns: u32, words: &str, variables: &[(&str, &str)]) -> Option<String> {
    needs!("script" in "bsdutils");
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let line = format!("stty cols {columns} rows 24; {rprof} {words}; echo exit $?");
    let mut script = tool("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .stdin(closed_pipe());
    for name in ["NO_COLOR", "PAGER", "LESS", "COLUMNS", "LC_CTYPE"] {
        script.env_remove(name);
    }
    script
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8");
    script.envs(variables.iter().copied());
    Some(run(&mut script).ok().stdout.replace("\r\n", "\n"))
}

const RED: &str = "\x1b[31m";

#[test]
fn a_pager_shows_what_a_terminal_would() {
    let pager = ("PAGER", "sed 's/^/pager: /'");
    for words in [
        "report",
        "report --stats",
        "script",
        "symbols",
        "list",
        "info",
        "dump",
    ] {
        let Some(paged) = shown(200, words, &[pager]) else {
            return;
        };
        let lines: Vec<&str> = paged.lines().collect();
        assert!(
            lines
                .first()
                .is_some_and(|line| line.starts_with("pager: ")),
            "{words}: {paged}"
        );
        // Notes come when it has ended.
        let mut after = lines.iter().skip_while(|line| line.starts_with("pager: "));
        assert!(
            after.all(|line| !line.starts_with("pager: ")),
            "{words}: {paged}"
        );
        assert_eq!(lines.last(), Some(&"exit 0"), "{words}: {paged}");
    }
}

#[test]
fn there_is_no_pager_where_none_is_wanted() {
    let marks = ("PAGER", "sed 's/^/pager: /'");
    let none = [
        ("report", ("PAGER", "cat")),
        ("report", ("PAGER", "")),
        ("report", ("TERM", "dumb")),
        ("report --no-pager", marks),
        ("--no-pager report", marks),
    ];
    for (words, variable) in none {
        let Some(seen) = shown(200, words, &[variable]) else {
            return;
        };
        assert!(
            seen.starts_with("# Total Lost Samples: 0\n"),
            "{words}: {seen}"
        );
    }
}

#[test]
fn a_pager_that_is_left_early_is_no_error() {
    for pager in ["head -1", "head -1; exit 3"] {
        for words in ["report -s sym,dso", "script"] {
            let Some(seen) = shown(80, words, &[("PAGER", pager)]) else {
                return;
            };
            assert!(seen.ends_with("exit 0\n"), "{seen}");
            assert!(!seen.contains("error"), "{seen}");
        }
    }
}

#[test]
fn a_pager_that_is_not_there_is_said() {
    let pager = ("PAGER", "/nowhere/pager -x");
    let Some(seen) = shown(80, "report", &[pager]) else {
        return;
    };
    let said =
        "rprof: error: cannot run the pager '/nowhere/pager -x': set PAGER, or use --no-pager";
    assert!(seen.contains(said) && seen.ends_with("exit 1\n"), "{seen}");
}

#[test]
fn less_ends_by_itself_if_all_fits() {
    needs!("less" in "less");
    let Some(seen) = shown(200, "report -g none --no-children", &[]) else {
        return;
    };
    assert!(seen.contains("[.] cold") && seen.contains(RED), "{seen}");
    assert!(seen.ends_with("exit 0\n"), "{seen}");
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    for (words, variable, is_colored) in [
        ("report --no-pager", ("TERM", "xterm"), true),
        ("report --no-pager", ("NO_COLOR", ""), true),
        ("report --no-pager", ("NO_COLOR", "1"), false),
        ("report --no-pager", ("TERM", "dumb"), false),
        (
            "report --no-pager --stdio-color=never",
            ("TERM", "xterm"),
            false,
        ),
        ("report --no-pager --stdio-color", ("NO_COLOR", "1"), true),
    ] {
        let Some(seen) = shown(80, words, &[variable]) else {
            return;
        };
        assert_eq!(
            seen.contains(RED),
            is_colored,
            "{words} {variable:?}: {seen}"
        );
    }
    let no_terminal = crate::report::report(&[]);
    assert!(!no_terminal.contains('\x1b'));
    let asked = crate::report::report(&["--stdio-color=always"]);
    assert!(asked.contains(RED));
}

/// Columns of the widest line that is of a table or a tree.
fn widest(seen: &str) -> usize {
    let lines = seen.lines().filter(|line| line.starts_with(' '));
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn lines_are_as_wide_as_the_terminal() {
    let plain = ("NO_COLOR", "1");
    let long = "report --no-pager -s sym,dso,comm";
    let Some(wide) = shown(200, long, &[plain]) else {
        return;
    };
    let narrow = shown(40, long, &[plain]).unwrap();
    assert!(widest(&wide) > 40 && widest(&narrow) <= 40, "{narrow}");
    assert!(
        narrow.contains('\u{2026}') && !wide.contains('\u{2026}'),
        "{narrow}"
    );
    let all = shown(40, &format!("{long} --full-names"), &[plain]).unwrap();
    assert_eq!(widest(&all), widest(&wide));
    assert!(!all.contains('\u{2026}'), "{all}");
    for variable in [("TERM", "dumb"), ("LC_ALL", "C")] {
        let ascii = shown(40, long, &[plain, variable]).unwrap();
        assert!(ascii.is_ascii() && ascii.contains("..."), "{ascii}");
        assert!(widest(&ascii) <= 40, "{ascii}");
    }
    let by_variable = shown(200, long, &[plain, ("COLUMNS", "40")]).unwrap();
    assert_eq!(by_variable, narrow);
    // With colours, the columns are the same.
    let colored = shown(40, long, &[]).unwrap();
    let bare = ["\x1b[31m", "\x1b[32m", "\x1b[0m"];
    let bare = bare
        .iter()
        .fold(colored, |text, code| text.replace(code, ""));
    assert_eq!(bare, narrow);
}

#[test]
fn names_have_most_of_a_narrow_terminal() {
    let plain = ("NO_COLOR", "1");
    let table = "report --no-pager -g none";
    for columns in [40, 60] {
        let Some(seen) = shown(columns, table, &[plain]) else {
            return;
        };
        let columns = columns as usize;
        assert!(widest(&seen) <= columns, "{seen}");
        let mut headings = seen.lines().filter(|line| line.starts_with("# Children"));
        let heading = headings.next().unwrap();
        // Names of this recording are short: what they need not have is for other columns.
        assert!(seen.contains("] helper (inlined)\n"), "{seen}");
        let is_hidden = seen.contains("# No room for: Command");
        assert_eq!(is_hidden, !heading.contains("Command"), "{seen}");
    }
    let all = shown(40, "report --no-pager -g none --full-names", &[plain]).unwrap();
    assert!(
        !all.contains("No room for") && all.contains(" spin "),
        "{all}"
    );
}

#[test]
fn long_names_have_most_of_a_narrow_terminal() {
    needs!(cc);
    needs!(live);
    let dir = scratch();
    let name = "a_function_whose_name_is_as_long_as_those_of_templates";
    let source = format!(
        "__attribute__((noinline)) void {name}(void) {{ volatile long sum = 0; WORK(100, sum += i) }}\n\
         int main(void) {{ {name}(); return 0; }}\n"
    );
    let program = compile_c(dir.path(), "program_of_a_name_that_is_not_short", &source);
    let file = dir.path().join("perf.data");
    let mut record = crate::common::rprof(["record", "-e", "cpu-clock", "-g", "-o"]);
    run(record.arg(&file).arg("--").arg(&program)).ok();
    for columns in [40, 60] {
        for words in ["", "-n", "-s sym,comm,srcline"] {
            let line = format!("report --no-pager -g none {words} -i {}", file.display());
            let Some(seen) = on_terminal(columns, &line, &[("NO_COLOR", "1")]) else {
                return;
            };
            let columns = columns as usize;
            // Messages are the terminal's to break.
            let widest = seen.lines().filter(|line| !line.starts_with("rprof: "));
            let widest = widest.map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{seen}");
            let mut lines = seen.lines();
            let heading = lines.find(|line| line.starts_with("# Children")).unwrap();
            let (_, rule) = lines
                .next()
                .unwrap()
                .split_at(heading.find("Symbol").unwrap());
            let n_dots = rule.split(' ').next().unwrap().len();
            assert!(n_dots > columns / 2, "{words}: {seen}");
            assert!(seen.contains("[.] a_func"), "{seen}");
            let hides_counts = seen.contains("# No room for:") && !heading.contains("Samples");
            assert!(words != "-n" || columns > 40 || hides_counts, "{seen}");
        }
    }
}

#[test]
fn a_terminal_of_any_size_shows_all_rows() {
    for columns in [1, 10] {
        for words in [
            "report --no-pager",
            "report --no-pager --hierarchy",
            "annotate --no-pager cold",
            "info --no-pager",
            "symbols --no-pager",
        ] {
            let Some(seen) = shown(columns, words, &[("NO_COLOR", "1")]) else {
                return;
            };
            assert!(seen.ends_with("exit 0\n"), "{columns} {words}: {seen}");
            assert!(!seen.contains("panicked"), "{columns} {words}: {seen}");
            if words.starts_with("report") {
                // Percentages are never cut.
                assert!(seen.contains("70.28%") && seen.contains("29.72%"), "{seen}");
            }
        }
    }
}

#[test]
fn the_next_command_is_suggested() {
    for (words, next) in [
        ("report --no-pager", "rprof: next: rprof tui -i /"),
        ("flame --folded", "--no-children -S helper\n"),
    ] {
        let Some(seen) = shown(200, words, &[]) else {
            return;
        };
        assert!(seen.contains(next), "{words}: {seen}");
    }
    assert!(
        !crate::report::read("report", &[])
            .ok()
            .stderr
            .contains("next:")
    );
}

#[test]
fn nothing_is_cut_where_there_is_no_terminal() {
    let table = ["-s", "sym,dso,comm"];
    let mut narrow = crate::common::rprof(["report", "-i"]);
    narrow
        .arg(spin().join("perf.data"))
        .arg("--symfs")
        .arg(spin().join("root"));
    let narrow = run(narrow.args(table).env("COLUMNS", "30")).ok().stdout;
    assert_eq!(narrow, crate::report::report(&table));
}

#[test]
fn what_limits_leave_out_is_counted() {
    let flat = ["--no-children", "-g", "none"];
    let limited = crate::report::report(&[&flat[..], &["--limit", "1"]].concat());
    assert!(
        limited.contains("] helper (inlined)\n#\n# 1 more row, 29.72%\n"),
        "{limited}"
    );
    let limited = crate::report::report(&[&flat[..], &["--percent-limit", "50"]].concat());
    assert!(
        limited.contains("] helper (inlined)\n#\n# 1 more row, 29.72%\n"),
        "{limited}"
    );
    assert!(!crate::report::report(&flat).contains(" more"));
}

#[test]
fn columns_are_as_wide_as_asked_for() {
    let flat = ["--no-children", "-g", "none"];
    let table = crate::report::report(&[&flat[..], &["-w", "10,3,0,6"]].concat());
    let lines: Vec<&str> = table.lines().skip(5).take(5).collect();
    assert_eq!(
        lines,
        [
            "#   Overhead  Com  Shared Object  Symbol",
            "# ..........  ...  .............  ......",
            "#",
            "      70.28%  spi  spin           [.] he",
            "      29.72%  spi  spin           [.] co",
        ]
    );
}

#[test]
fn numbers_are_never_cut_and_widths_have_a_limit() {
    let words = [
        "--no-children",
        "-g",
        "none",
        "-q",
        "-F",
        "overhead,sample,comm",
    ];
    let table = crate::report::report(&[&words[..], &["-w", "2,1,3"]].concat());
    let first: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first, ["100.00%", "212", "spi"], "{table}");
    for width in ["65536", "4294967295", "x"] {
        let said = crate::report::read("report", &["-w", width]).fails(2);
        assert!(said.contains("a number of columns, at most 4096"), "{said}");
    }
}

#[test]
fn what_a_form_does_not_have_is_refused() {
    for words in [["--stats"], ["--header"]] {
        let words = [&words[..], &["--format", "json"]].concat();
        let said = crate::report::read("report", &words).fails(2);
        assert!(said.contains("prints text: leave out --format"), "{said}");
    }
    for percent in ["nan", "inf", "101", "x"] {
        let said = crate::report::read("report", &["--percent-limit", percent]).fails(2);
        assert!(said.contains("a percentage from 0 to 100"), "{said}");
    }
    for flag in [["-F", "100"], ["--call-graph", "fp"]] {
        let said = crate::report::read("flame", &flag).fails(2);
        assert!(said.contains("cannot be used with"), "{said}");
    }
}
