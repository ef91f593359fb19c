//! Tables for query engines: read again by their library, and compared with what `rprof report` says.

use super::made::{MadeSample, made_event, record};
use crate::common::{Recording, rprof, run, scratch, tool};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use rprof_abi::{AttrFlags, Misc, event_type};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const TABLES: [&str; 4] = ["frames", "recordings", "samples", "stacks"];

/// Samples and weight by some name.
pub(super) type Sums = BTreeMap<String, (u64, u64)>;

impl Recording {
    /// Exports into a folder of a folder.
    #[track_caller]
    pub(super) fn tables(&self, dir: &Path, args: &[&str]) -> PathBuf {
        let folder = dir.join("profiles");
        let mut command = self.command("export", &["--format", "parquet"]);
        run(command.args(args).arg("-o").arg(&folder)).ok();
        folder
    }

    /// Samples and weight by function, as a report has them.
    #[track_caller]
    pub(super) fn functions(&self, args: &[&str]) -> Sums {
        let csv = [
            "--format",
            "csv",
            "--no-children",
            "-F",
            "sample,period,sym",
        ];
        let mut sums = Sums::new();
        for line in self.read("report", &[&csv[..], args].concat()).lines() {
            let mut cells = line.splitn(3, ',');
            let mut number = || cells.next()?.parse::<u64>().ok();
            if let (Some(samples), Some(weight)) = (number(), number()) {
                let symbol = cells
                    .next()
                    .unwrap()
                    .trim_matches('"')
                    .replace("\"\"", "\"");
                let sum = sums.entry(symbol).or_default();
                *sum = (sum.0 + samples, sum.1 + weight);
            }
        }
        sums
    }
}

/// The file of a table, wherever its partition is.
#[track_caller]
fn file(folder: &Path, table: &str) -> PathBuf {
    let only = |folder: PathBuf| {
        let entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries[0].path()
    };
    let date = only(folder.join(table));
    let machine = only(date);
    only(machine)
}

/// Calls `visit` with all rows of a table.
#[track_caller]
fn each(folder: &Path, table: &str, mut visit: impl FnMut(&Row)) {
    let file = File::open(file(folder, table)).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    file.get_row_iter(None)
        .unwrap()
        .for_each(|row| visit(&row.unwrap()));
}

/// A column of a row, by name.
#[track_caller]
fn cell<'r>(row: &'r Row, name: &str) -> &'r Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).expect(name).1
}

#[track_caller]
fn number(row: &Row, name: &str) -> i64 {
    match cell(row, name) {
        Field::Long(number) => *number,
        Field::Int(number) => (*number).into(),
        other => panic!("{name}: {other}"),
    }
}

fn text(row: &Row, name: &str) -> Option<String> {
    match cell(row, name) {
        Field::Str(text) => Some(text.clone()),
        Field::Null => None,
        other => panic!("{name}: {other}"),
    }
}

/// What a report calls a function.
fn symbol(row: &Row) -> String {
    let sign = match &*text(row, "level").unwrap() {
        "kernel" => 'k',
        "hypervisor" => 'H',
        "guest kernel" => 'g',
        "guest user" => 'u',
        _ => '.',
    };
    let function = text(row, "function").unwrap_or_else(|| "[unknown]".to_owned());
    let is_inlined = *cell(row, "is_inlined") == Field::Bool(true);
    let inlined = if is_inlined { " (inlined)" } else { "" };
    format!("[{sign}] {function}{inlined}")
}

/// Joins samples with the functions that they were taken in; their sums by event and by function.
fn joined(folder: &Path) -> (Sums, Sums) {
    let mut functions: HashMap<i64, String> = HashMap::new();
    each(folder, "frames", |row| {
        if number(row, "inline_depth") == 0 {
            let known = functions.insert(number(row, "frame_hash"), symbol(row));
            assert_eq!(known, None, "{row}");
        }
    });
    let mut innermost: HashMap<i64, i64> = HashMap::new();
    each(folder, "stacks", |row| {
        let Field::ListInternal(list) = cell(row, "frame_hashes") else {
            panic!("{row}");
        };
        let hashes = list.elements().iter().map(|element| match element {
            Field::Long(hash) => *hash,
            other => panic!("{other}"),
        });
        let hashes: Vec<i64> = hashes.collect();
        assert!(hashes.iter().all(|hash| functions.contains_key(hash)));
        let known = innermost.insert(number(row, "stack_hash"), hashes[0]);
        assert_eq!(known, None, "{row}");
    });
    let (mut by_event, mut by_function) = (Sums::new(), Sums::new());
    let mut last_ns = i64::MIN;
    each(folder, "samples", |row| {
        let time_ns = number(row, "time_ns");
        assert!(last_ns <= time_ns);
        last_ns = time_ns;
        let frame = innermost[&number(row, "stack_hash")];
        let weight = u64::try_from(number(row, "weight")).unwrap();
        for (sums, name) in [
            (&mut by_event, text(row, "event").unwrap()),
            (&mut by_function, functions[&frame].clone()),
        ] {
            let sum = sums.entry(name).or_default();
            *sum = (sum.0 + 1, sum.1 + weight);
        }
    });
    (by_event, by_function)
}

#[track_caller]
fn check(recording: &Recording) {
    let dir = scratch();
    let folder = recording.tables(dir.path(), &[]);
    let (by_event, by_function) = joined(&folder);
    let totals = recording.totals().into_iter();
    let totals: Sums = totals
        .map(|(event, samples, weight)| (event, (samples, weight)))
        .collect();
    assert_eq!(by_event, totals);
    assert_eq!(by_function, recording.functions(&[]));
    let mut listed = Sums::new();
    each(&folder, "recordings", |row| {
        let count = |name| u64::try_from(number(row, name)).unwrap();
        let event = text(row, "event").unwrap();
        listed.insert(event, (count("samples"), count("weight")));
    });
    assert_eq!(listed, totals);
}

#[test]
fn tables_have_the_reports_totals_and_rows() {
    check(&Recording::fixture("spin"));
    check(&Recording::fixture("dwarf"));
}

#[test]
fn filters_are_the_reports_in_tables() {
    let dir = scratch();
    let spin = Recording::fixture("spin");
    let args = ["--symbols", "cold"];
    let (by_event, by_function) = joined(&spin.tables(dir.path(), &args));
    assert_eq!(by_event["cpu-clock:u"].0, 63);
    assert_eq!(by_function, spin.functions(&args));
}

#[test]
fn the_same_recording_gives_the_same_tables_and_is_in_a_folder_once() {
    let (dir, other) = (scratch(), scratch());
    let spin = Recording::fixture("spin");
    let folder = spin.tables(dir.path(), &[]);
    let again = spin.tables(other.path(), &[]);
    let mut names = BTreeSet::new();
    for table in TABLES {
        let (first, second) = (file(&folder, table), file(&again, table));
        assert!(
            fs::read(&first).unwrap() == fs::read(&second).unwrap(),
            "{table}"
        );
        names.insert(first.file_name().unwrap().to_owned());
    }
    // Recordings keep their names, or folders would have them twice.
    let name = "8c350371e30e7032b71edcc20efbdcea.parquet".into();
    assert_eq!(names, BTreeSet::from([name]));
    // With a filter, too, it would be counted twice.
    let mut command = spin.command("export", &["--format", "parquet", "--symbols", "cold"]);
    let error = run(command.arg("-o").arg(&folder)).fails(1);
    assert!(error.contains(".parquet exists: "), "{error}");
    for table in TABLES {
        file(&folder, table);
    }
}

#[test]
fn several_recordings_share_a_folder() {
    let dir = scratch();
    let folder = dir.path().join("profiles");
    let files = ["spin", "dwarf"].map(|name| Recording::fixture(name).file);
    let mut command = rprof(["export", "--format", "parquet"]);
    run(command.args(files).arg("-o").arg(&folder)).ok();
    for table in TABLES {
        let found = run(tool("find")
            .arg(folder.join(table))
            .args(["-name", "*.parquet"]));
        assert_eq!(found.ok().stdout.lines().count(), 2, "{table}");
    }
}

#[test]
fn of_several_recordings_those_that_are_there_are_left_out() {
    let dir = scratch();
    let [spin, dwarf] = ["spin", "dwarf"].map(Recording::fixture);
    let folder = spin.tables(dir.path(), &[]);
    let export = |files: [&Path; 2]| {
        let mut command = rprof(["export", "--format", "parquet"]);
        run(command.args(files).arg("-o").arg(&folder))
    };
    let said = export([&spin.file, &dwarf.file]).ok().stderr;
    assert!(said.contains("spin/perf.data: "), "{said}");
    assert!(
        said.contains(": the folder has this recording already"),
        "{said}"
    );
    let found = run(tool("find").arg(&folder).args(["-name", "*.parquet"]));
    assert_eq!(found.ok().stdout.lines().count(), 8);
    // An error says of which recording it is.
    let damaged = dir.path().join("damaged.data");
    fs::write(&damaged, "PERFILE2").unwrap();
    let error = export([&spin.file, &damaged]).fails(1);
    assert!(error.contains("damaged.data"), "{error}");
    assert!(!error.contains("reading"), "{error}");
}

#[test]
fn events_of_one_name_stay_apart_and_say_what_they_count() {
    let dir = scratch();
    let mut recording = Recording::fixture("spin");
    recording.file = dir.path().join("two.data");
    let cycles = |sampled, flags| made_event("cycles", (event_type::HARDWARE, 0), sampled, flags);
    // A rate without recorded periods: nobody knows what a sample stands for.
    let events = vec![
        cycles(1000, AttrFlags::default()),
        cycles(99, AttrFlags::FREQ),
    ];
    let sample = |event, time_ns| MadeSample {
        event,
        time_ns,
        misc: Misc::USER,
    };
    record(
        &recording.file,
        events,
        &[sample(0, 1), sample(1, 2), sample(1, 3)],
    );
    let folder = recording.tables(dir.path(), &[]);
    let mut listed = Vec::new();
    each(&folder, "recordings", |row| {
        let [event, unit] = ["event", "unit"].map(|name| text(row, name).unwrap());
        let numbers = ["samples", "weight"].map(|name| number(row, name));
        let sampled = ["every", "rate_hz"].map(|name| cell(row, name).to_string());
        listed.push((event, unit, numbers, sampled));
    });
    let expected = |event: &str, unit: &str, numbers: [i64; 2], sampled: [&str; 2]| {
        let sampled = sampled.map(str::to_owned);
        (event.to_owned(), unit.to_owned(), numbers, sampled)
    };
    assert_eq!(
        listed,
        [
            expected("cycles", "cycles", [1, 1000], ["1000", "null"]),
            expected("cycles#2", "events", [2, 2], ["null", "99"]),
        ]
    );
    let mut events = Vec::new();
    each(&folder, "samples", |row| {
        events.push(text(row, "event").unwrap())
    });
    assert_eq!(events, ["cycles", "cycles#2", "cycles#2"]);
}

/// The host name stands in the recording, 64 bytes with zeros behind it.
#[test]
fn a_hostile_machine_stays_in_its_partition() {
    let dir = scratch();
    let mut spin = Recording::fixture("spin");
    let mut bytes = fs::read(&spin.file).unwrap();
    let host = b"\x40\0\0\0vm\0\0\0\0";
    let at = bytes.windows(host.len()).position(|window| window == host);
    let at = at.unwrap() + 4;
    let hostile = b"../../../date=x/%41";
    bytes[at..at + hostile.len()].copy_from_slice(hostile);
    spin.file = dir.path().join("hostile.data");
    fs::write(&spin.file, bytes).unwrap();
    let folder = spin.tables(dir.path(), &[]);
    for table in TABLES {
        let file = file(&folder, table);
        let machine = file.parent().unwrap().file_name().unwrap();
        assert_eq!(machine, "machine=..%2F..%2F..%2Fdate%3Dx%2F%2541");
    }
    each(&folder, "recordings", |row| {
        let machine = text(row, "machine");
        assert_eq!(machine.as_deref(), Some("../../../date=x/%41"));
    });
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn tables_need_a_folder_and_are_all_there_or_none_is() {
    let dir = scratch();
    let spin = Recording::fixture("spin");
    let error = run(&mut spin.command("export", &["--format", "parquet"])).fails(2);
    assert!(error.contains("use -o FOLDER"), "{error}");
    // The last table cannot be written.
    let folder = dir.path().join("profiles");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("recordings"), "").unwrap();
    let mut command = spin.command("export", &["--format", "parquet"]);
    let error = run(command.arg("-o").arg(&folder)).fails(1);
    assert!(error.contains("recordings: "), "{error}");
    let left = fs::read_dir(&folder).unwrap().map(Result::unwrap);
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["recordings"]);
}
