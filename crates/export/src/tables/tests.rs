//! Tables written by hand and read again.

use super::TablesError;
use super::hash::ContentHash;
use super::recording::RecordingColumns;
use super::samples::{SampleTables, WrittenEvent};
use super::schema::{FrameColumns, Origin, SampleColumns, StackColumns};
use super::table::{Columns, MAX_ROWS, Table, TableWriter, text};
use parquet::basic::{Compression, LogicalType, Type as PhysicalType};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Row;
use rprof_base::tables::VERSION;
use std::fs::File;
use std::io;
use std::path::Path;

const TABLES: [Table; 4] = [
    SampleColumns::TABLE,
    StackColumns::TABLE,
    FrameColumns::TABLE,
    RecordingColumns::TABLE,
];

/// A sample as the pass writes it.
#[derive(Clone, Copy)]
struct Sample<'a> {
    time_ns: u64,
    weight: u64,
    stack: ContentHash,
    frames: &'a [i64],
    comm: &'a str,
    span: Option<(u64, u64, &'a str)>,
}

const SAMPLE: Sample<'_> = Sample {
    time_ns: 1000,
    weight: 3,
    stack: ContentHash { hash: -7, check: 1 },
    frames: &[5, -6],
    comm: "prog",
    span: Some((900, 200, "request")),
};

impl Sample<'_> {
    fn bytes(self) -> Vec<u8> {
        let span = self.span.map_or("", |(.., name)| name);
        let words = [
            0,
            self.time_ns,
            42,
            u64::MAX,
            u64::MAX,
            self.weight,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            1,
            self.stack.hash.cast_unsigned(),
            self.stack.check,
            self.comm.len() as u64,
            self.frames.len() as u64,
            self.span.map_or(u64::MAX, |(start_ns, ..)| start_ns),
            self.span.map_or(u64::MAX, |(_, ns, _)| ns),
            span.len() as u64,
        ];
        let frames = self.frames.iter().map(|frame| frame.cast_unsigned());
        let words = words.into_iter().chain(frames);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.extend_from_slice(self.comm.as_bytes());
        bytes.extend_from_slice(span.as_bytes());
        bytes
    }
}

fn tables(dir: &Path) -> SampleTables {
    let create = |name: &str| File::create(dir.join(name)).unwrap();
    let origin = Origin {
        machine: Some(text("host")),
        recording: text("r"),
    };
    SampleTables::new(
        TableWriter::new(create("samples"), SampleColumns::new(origin)).unwrap(),
        TableWriter::new(create("stacks"), StackColumns::new(text("r"))).unwrap(),
        vec!["cycles".to_owned()],
        500,
    )
}

fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

fn rows(path: &Path) -> Vec<String> {
    let file = open(path);
    let rows = file.get_row_iter(None).unwrap();
    rows.map(|row| row.map(|row: Row| row.to_string()).unwrap())
        .collect()
}

#[test]
fn samples_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut tables = tables(dir.path());
    let again = Sample {
        frames: &[],
        time_ns: u64::MAX,
        comm: "other",
        span: None,
        ..SAMPLE
    };
    tables
        .take(&[SAMPLE.bytes(), again.bytes()].concat())
        .unwrap();
    let sum = WrittenEvent {
        samples: 2,
        weight: 6,
    };
    assert_eq!(tables.written, [sum]);
    assert_eq!(tables.times_ns, Some((1500, 1500)));
    tables.samples.finish().unwrap();
    tables.stacks.finish().unwrap();
    let row = |time: &str, comm: &str, span: &str, start_ns: &str, ns: &str| {
        format!(
            "{{time_ns: {time}, machine: \"host\", boot: null, recording: \"r\", pid: 42, tid: null, \
             comm: \"{comm}\", cpu: null, event: \"cycles\", weight: 3, period: null, state: null, \
             cause: null, span: {span}, stack_hash: -7, span_start_ns: {start_ns}, span_ns: {ns}}}"
        )
    };
    let samples = rows(&dir.path().join("samples"));
    let expected = [
        row("1500", "prog", "\"request\"", "1400", "200"),
        row("null", "other", "null", "null", "null"),
    ];
    assert_eq!(samples, expected);
    let stacks = rows(&dir.path().join("stacks"));
    assert_eq!(
        stacks,
        ["{recording: \"r\", stack_hash: -7, frame_hashes: [5, -6]}"]
    );
}

#[test]
fn two_stacks_of_one_hash_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut tables = tables(dir.path());
    tables.take(&SAMPLE.bytes()).unwrap();
    let stack = ContentHash {
        check: 2,
        ..SAMPLE.stack
    };
    let error = tables.take(&Sample { stack, ..SAMPLE }.bytes());
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "two stacks have the hash -7: nothing is written");
}

#[test]
fn weights_that_no_column_can_hold_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut tables = tables(dir.path());
    let weigh =
        |tables: &mut SampleTables, weight| tables.take(&Sample { weight, ..SAMPLE }.bytes());
    let error = weigh(&mut tables, 1 << 63).unwrap_err();
    assert!(matches!(
        error,
        TablesError::TooLarge { what: "weight", .. }
    ));
    // Each fits, and the sum does not.
    let mut tables = self::tables(dir.path());
    weigh(&mut tables, i64::MAX.cast_unsigned()).unwrap();
    let error = weigh(&mut tables, 3).unwrap_err();
    assert!(matches!(error, TablesError::SumTooLarge));
}

#[test]
fn a_full_disk_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut stacks = TableWriter::new(full, StackColumns::new(text("r"))).unwrap();
    stacks.columns.stack_hash.push(1);
    stacks.columns.frame_hashes.push_list([2, 3].into_iter());
    stacks.end_row().unwrap();
    let error = stacks.finish().unwrap_err();
    let is_full = |source: &io::Error| source.kind() == io::ErrorKind::StorageFull;
    assert!(
        matches!(&error, TablesError::Write { table: "stacks", source } if is_full(source)),
        "{error:?}"
    );
}

#[test]
fn groups_of_rows_are_bounded_and_compressed_and_say_their_times() {
    let dir = tempfile::tempdir().unwrap();
    let mut tables = tables(dir.path());
    let n_samples = MAX_ROWS + 1;
    for time_ns in 0..n_samples as u64 {
        tables.take(&Sample { time_ns, ..SAMPLE }.bytes()).unwrap();
    }
    tables.samples.finish().unwrap();
    let file = open(&dir.path().join("samples"));
    let metadata = file.metadata();
    let groups = metadata.row_groups();
    let n_rows: Vec<i64> = groups.iter().map(RowGroupMetaData::num_rows).collect();
    assert_eq!(n_rows, [MAX_ROWS as i64, 1]);
    let time = groups[1].column(0);
    assert!(matches!(time.compression(), Compression::ZSTD(_)));
    assert!(time.statistics().unwrap().min_bytes_opt().is_some());
    let metadata = metadata.file_metadata();
    // As other programs write it: `NAME version X.Y.Z`.
    let created_by = metadata.created_by().unwrap();
    assert!(created_by.starts_with("rprof version "), "{created_by}");
    let metadata = metadata.key_value_metadata().unwrap();
    let version = metadata.iter().find(|one| one.key == "schema_version");
    assert_eq!(version.unwrap().value.as_deref(), Some(VERSION));
}

/// Spark refuses times of nanoseconds, and makes decimals of numbers without sign.
#[test]
fn every_column_is_documented_and_of_a_type_that_engines_agree_on() {
    let pages = include_str!("../../PARQUET.md");
    for table in TABLES {
        let schema = parquet::schema::parser::parse_message_type(table.schema.columns).unwrap();
        let heading = format!("## `{}`", table.schema.name);
        let page = pages.split_once(&heading).expect(table.schema.name).1;
        let page = page.split("\n## ").next().unwrap();
        for column in schema.get_fields() {
            let row = format!("\n| `{}` | ", column.name());
            assert!(page.contains(&row), "{}: {row}", table.schema.name);
            if !column.is_primitive() {
                continue;
            }
            let is_text = column.get_basic_info().logical_type_ref() == Some(&LogicalType::String);
            let is_number = column.get_basic_info().logical_type_ref().is_none();
            match column.get_physical_type() {
                PhysicalType::BYTE_ARRAY => assert!(is_text, "{}", column.name()),
                PhysicalType::INT64 | PhysicalType::INT32 | PhysicalType::BOOLEAN => {
                    assert!(is_number, "{}", column.name());
                }
                other => panic!("{}: {other}", column.name()),
            }
        }
    }
    let version = format!("`schema_version` is `{VERSION}`");
    assert!(pages.contains(&version));
}

#[test]
fn the_views_of_all_engines_have_every_column() {
    let duckdb = include_str!("../../sql/views/duckdb.sql");
    let spark = include_str!("../../sql/views/spark.sql");
    let clickhouse = include_str!("../../sql/views/clickhouse.sql");
    for table in TABLES {
        let path = format!("'profiles/{}", table.schema.name);
        let defines = |view: &&str| {
            let statement = view.split_once("CREATE");
            statement.is_some_and(|(_, statement)| statement.contains(&path))
        };
        let view = |views: &'static str| views.split(";\n").find(defines);
        let schema = parquet::schema::parser::parse_message_type(table.schema.columns).unwrap();
        for column in schema.get_fields() {
            let (name, id) = (column.name(), column.get_basic_info().id());
            let in_duckdb = format!(" {id}: {{name: '{name}', type: ");
            assert!(view(duckdb).unwrap().contains(&in_duckdb), "{in_duckdb}");
            for view in [view(spark).unwrap(), view(clickhouse).unwrap()] {
                let has =
                    view.contains(&format!(" {name} ")) || view.contains(&format!("\n{name} "));
                assert!(has, "{name}: {view}");
            }
        }
    }
}
