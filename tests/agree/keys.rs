//! Sort keys and fields: rows, their cells and percentages are those of perf.

use super::made::{COLD, HOT, Made};
use super::{PROGRAM, perf};
use crate::common::{self, compile_c, fixtures, needs, rprof, run, scratch};
use rprof_abi::Sample;
use std::path::{Path, PathBuf};

/// A table: headings, and the rows' cells, in order.
#[derive(Debug, PartialEq)]
struct Cells {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The first table of a report; its line of dots says where columns are.
fn cells(report: &str) -> Cells {
    let lines: Vec<&str> = report.lines().collect();
    let dots = lines.iter().position(|line| line.starts_with("# .."));
    let dots = dots.expect(report);
    let mut starts = vec![0];
    let marks: Vec<char> = lines[dots].chars().collect();
    let gaps = (2..marks.len()).filter(|&at| marks[at] == '.' && marks[at - 1] == ' ');
    starts.extend(gaps.skip(1));
    let split = |line: &str| -> Vec<String> {
        let chars: Vec<char> = line.chars().collect();
        let cell = |at: usize| {
            let end = starts.get(at + 1).copied().unwrap_or(chars.len());
            let cell = chars.get(starts[at]..end.min(chars.len()));
            let cell: String = cell.unwrap_or_default().iter().collect();
            cell.trim_start_matches('#').trim().to_owned()
        };
        (0..starts.len()).map(cell).collect()
    };
    let rows = lines[dots..].iter().skip(1);
    let rows = rows.skip_while(|line| line.starts_with('#') || line.is_empty());
    let rows = rows.take_while(|line| !line.is_empty() && !line.starts_with('#'));
    Cells {
        headings: split(lines[dots - 1]),
        rows: rows.map(|row| split(row)).collect(),
    }
}

/// Asks both tools for the same table, with self time as perf has it.
pub(super) fn assert_same(file: &Path, more: &[&str], what: &[&str]) {
    let args = [&["--no-children", "-g", "none"], more, what].concat();
    let theirs = perf(&[&["report", "--stdio"][..], &args].concat(), file);
    let ours = [&["report", "--self-by-symbol"][..], &args].concat();
    let ours = run(rprof(ours).arg("-i").arg(file)).ok();
    let (mut found, mut expected) = (cells(&ours.stdout), cells(&theirs.stdout));
    assert!(!expected.rows.is_empty(), "{what:?}: {}", theirs.stdout);
    if what.iter().any(|keys| keys.contains("srcline")) {
        // Of one weight, line 8 comes before line 12 here, and after it in perf.
        found.rows.sort();
        expected.rows.sort();
    }
    assert_eq!(found, expected, "{what:?} of {}", file.display());
}

#[test]
fn fields_stand_where_perf_has_them() {
    needs!(perf);
    let dir = fixtures().join("spin");
    let (file, root) = (dir.join("perf.data"), dir.join("root"));
    let symfs = ["--symfs", root.to_str().unwrap()];
    for what in [
        &["-s", "sym"][..],
        &["-s", "dso,comm"],
        &["-F", "overhead,sym"],
        &["-F", "sym,overhead"],
        &["-F", "sample,period,comm,dso,sym"],
        &[
            "-F",
            "overhead_sys,overhead_us,overhead_guest_sys,overhead_guest_us,comm",
        ],
        &["-F", "+period", "-n"],
        &["-F", "+period,sample", "-s", "sym"],
        &["-F", "sample,overhead", "-s", "dso,sym"],
        &["-n", "--show-total-period", "--show-cpu-utilization"],
    ] {
        assert_same(&file, &symfs, what);
    }
}

/// A recording by perf of [`PROGRAM`], with these options.
struct Recorded {
    _dir: tempfile::TempDir,
    file: PathBuf,
}

fn recorded(options: &[&str]) -> Option<Recorded> {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "program7", PROGRAM);
    let file = dir.path().join("perf.data");
    let mut record = common::perf([&["record"][..], options].concat());
    run(record.arg("-o").arg(&file).arg(&program)).ok();
    Some(Recorded { _dir: dir, file })
}

/// All that samples of a clock can have.
const ALL: &[&str] = &[
    "-e",
    "cpu-clock",
    "-F",
    "1999",
    "--sample-cpu",
    "-T",
    "-d",
    "-W",
    "--transaction",
    "--all-cgroups",
    "--code-page-size",
];

#[test]
fn rows_by_each_key_are_those_of_perf() {
    let Some(recorded) = recorded(ALL) else {
        return;
    };
    for key in [
        "comm",
        "dso",
        "cpu",
        "socket",
        "cgroup",
        "time",
        "local_weight",
        "weight",
        "local_ins_lat",
        "ins_lat",
        "transaction",
        "code_page_size",
        "time,cpu,sym",
    ] {
        assert_same(&recorded.file, &[], &["-s", key]);
        assert_same(
            &recorded.file,
            &[],
            &["-s", key, "-F", "overhead,sample,period"],
        );
    }
    for quantum in ["1ms", "20ms", "1s"] {
        assert_same(
            &recorded.file,
            &["--time-quantum", quantum],
            &["-s", "time,dso"],
        );
    }
}

#[test]
fn sizes_of_functions_and_mappings_are_those_of_perf() {
    // Of the kernel, perf shows the size of the piece of `/proc/kcore` that it reads.
    let Some(recorded) = recorded(&["-e", "cpu-clock:u", "-F", "1999", "-g"]) else {
        return;
    };
    // With -s and a key whose name begins with symbol, perf adds a column of its own.
    for keys in [
        "overhead,symbol_size",
        "overhead,dso_size",
        "overhead,sym,symbol_size",
        "sample,dso,dso_size",
        "period,symbol_size,dso",
    ] {
        assert_same(&recorded.file, &[], &["-F", keys]);
    }
}

#[test]
fn namespaces_of_control_groups_are_those_of_perf() {
    let Some(recorded) = recorded(&["-e", "cpu-clock", "--namespaces"]) else {
        return;
    };
    for keys in ["cgroup_id", "cgroup_id,comm"] {
        assert_same(&recorded.file, &[], &["-s", keys]);
    }
    let mut without = rprof(["report", "-s", "cgroup_id", "--symfs"]);
    let dir = fixtures().join("spin");
    without
        .arg(dir.join("root"))
        .arg("-i")
        .arg(dir.join("perf.data"));
    let said = run(&mut without).fails(1);
    assert!(
        said.contains("record them with rprof record --namespaces"),
        "{said}"
    );
}

#[test]
fn rows_of_offsets_are_the_addresses_of_a_function() {
    let dir = scratch();
    let file = dir.path().join("offsets");
    let at = |ip| Sample {
        ip: Some(ip),
        period: Some(1000),
        ..Sample::default()
    };
    let samples = [
        HOT,
        HOT + 0x10,
        HOT + 0x10,
        COLD,
        COLD + 4,
        0x7f00_0000_0000,
    ];
    Made::new(&[]).write(&file, &samples.map(at));
    let report = |keys: &str| {
        let mut report = rprof(["report", "-q", "--format", "csv", "-F", keys, "-i"]);
        report
            .arg(&file)
            .arg("--symfs")
            .arg(fixtures().join("spin/root"));
        let table = run(&mut report).ok().stdout;
        let mut lines: Vec<_> = table.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        report("sample,symoff"),
        [
            "1,[.] 0x00007f0000000000",
            "1,[.] cold+0x0",
            "1,[.] cold+0x4",
            "1,[.] hot+0x0",
            "2,[.] hot+0x10",
            "sample,symoff"
        ]
    );
    assert_eq!(
        report("sample,sym_size,dso_size"),
        [
            "1,unknown,unknown",
            "2,65,4096",
            "3,73,4096",
            "sample,symbol_size,dso_size"
        ]
    );
}

/// Lines of an inlined function and of its caller.
const LINES: &str = r#"
    static volatile unsigned long sink;
    static inline __attribute__((always_inline)) void inner(unsigned long i) {
        sink += i;
        sink ^= i * 3;
    }
    __attribute__((noinline)) void outer(unsigned long n) {
        for (unsigned long i = 0; i < n; i++)
            inner(i);
    }
    int main(void) {
        for (long end = CPU_US() + 300000; CPU_US() < end;)
            outer(100000);
        return 0;
    }"#;

#[test]
fn rows_by_lines_are_those_of_perf() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "lines", LINES);
    let file = dir.path().join("perf.data");
    let mut record = common::perf(["record", "-g", "-e", "cpu-clock:u", "-F", "999", "-o"]);
    run(record.arg(&file).arg(&program)).ok();
    for keys in [
        "srcline",
        "srcfile",
        "sym,srcline",
        "srcfile,comm",
        "srcfile,sym",
    ] {
        assert_same(&file, &["--dsos", "lines"], &["-s", keys]);
    }
    let full = ["--dsos", "lines", "--full-source-path"];
    assert_same(&file, &full, &["-s", "srcfile"]);
    // Trees are of functions, whatever lines rows are of.
    let args = [
        "report",
        "--no-children",
        "-g",
        "caller",
        "-s",
        "srcline",
        "-i",
    ];
    let table = run(rprof(args).arg(&file)).ok().stdout;
    let inlined = table
        .lines()
        .filter(|line| line.ends_with("inner (inlined)"));
    assert!(inlined.count() >= 2, "{table}");
}

#[test]
fn rows_of_threads_are_those_of_perf() {
    let Some(recorded) = recorded(&["-a", "-e", "cpu-clock", "-F", "999"]) else {
        return;
    };
    // perf's key pid is of threads.
    let table = |command: &str, key: &str| {
        let args = ["--no-children", "-g", "none", "-s", key, "-F", "overhead"];
        let ran = match command {
            "perf" => perf(
                &[&["report", "--stdio"][..], &args].concat(),
                &recorded.file,
            ),
            _ => run(rprof([&["report"][..], &args].concat())
                .arg("-i")
                .arg(&recorded.file))
            .ok(),
        };
        cells(&ran.stdout)
    };
    let (theirs, ours) = (table("perf", "pid"), table("rprof", "tid"));
    assert_eq!(ours.rows, theirs.rows);
    assert_eq!(ours.headings, ["Overhead", "Tid:Command"]);
    assert_eq!(theirs.headings, ["Overhead", "Pid:Command"]);
}

#[test]
fn rows_of_tracepoints_are_those_of_perf() {
    if common::tracefs().is_none() {
        return;
    }
    let events = ["-e", "sched:sched_switch", "-a"];
    let Some(recorded) = recorded(&events) else {
        return;
    };
    for keys in [
        "trace",
        "prev_pid",
        "prev_comm",
        "next_comm,next_pid",
        "prev_state",
        "sched:sched_switch.next_prio",
        "sched_switch.next_prio",
        "sched_switch.*",
    ] {
        // perf tells names with blanks apart, but shows them up to the blank.
        let first_words = |cells: &mut Cells| {
            for cell in cells.rows.iter_mut().flatten().filter(|_| keys != "trace") {
                *cell = cell.split(' ').next().unwrap_or_default().to_owned();
            }
            cells.rows.sort();
        };
        let args = ["--no-children", "-g", "none", "-s", keys];
        let theirs = perf(
            &[&["report", "--stdio"][..], &args].concat(),
            &recorded.file,
        );
        let ours = run(rprof([&["report"][..], &args].concat())
            .arg("-i")
            .arg(&recorded.file))
        .ok();
        let (mut theirs, mut ours) = (cells(&theirs.stdout), cells(&ours.stdout));
        first_words(&mut theirs);
        first_words(&mut ours);
        assert_eq!(ours, theirs, "{keys}");
    }
}

#[test]
fn what_is_not_recorded_is_said() {
    let dir = fixtures().join("spin");
    let report = |key: &str| {
        let mut rprof = rprof(["report", "-s", key, "-i"]);
        run(rprof
            .arg(dir.join("perf.data"))
            .arg("--symfs")
            .arg(dir.join("root")))
    };
    for (key, how) in [
        (
            "weight",
            "the recording has no weights, which the sort key weight needs: record them with rprof record -W",
        ),
        (
            "code_page_size",
            "record them with rprof record --code-page-size",
        ),
        ("transaction", "record them with rprof record --transaction"),
        ("trace", "raw data of tracepoints"),
    ] {
        let said = report(key).fails(1);
        assert!(said.contains(how), "{said}");
    }
    let said = report("prev_pid").fails(2);
    assert!(said.contains("unknown sort key 'prev_pid'"), "{said}");
    let said = report("coom").fails(2);
    assert!(said.contains("did you mean 'comm'?"), "{said}");
}
