//! Tables as queries write them: what is read of them, and what is refused.

use super::TableFolder;
use super::pages::CountedPages;
use crate::Imported;
use parquet::data_type::{ByteArrayType, DataType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use rprof_untrusted::Allowed;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

type Group<'g> = SerializedRowGroupWriter<'g, File>;

/// Writes a file of one row group.
fn write(path: &Path, schema: &str, version: Option<&str>, fill: impl FnOnce(&mut Group<'_>)) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let pair = |version: &str| KeyValue::new("schema_version".to_owned(), version.to_owned());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(version.map(|version| vec![pair(version)]))
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.close().unwrap();
}

fn column<D: DataType>(group: &mut Group<'_>, values: &[D::T], levels: [Option<&[i16]>; 2]) {
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<D>();
    typed.write_batch(values, levels[0], levels[1]).unwrap();
    column.close().unwrap();
}

/// What DuckDB writes: all columns may be NULL, lists and their elements too.
const STACKS: &str = "message stacks {
    OPTIONAL INT64 stack_hash;
    OPTIONAL group frame_hashes (LIST) { REPEATED group list { OPTIONAL INT64 element; } }
}";
const FRAMES: &str =
    "message frames { OPTIONAL INT64 frame_hash; OPTIONAL BYTE_ARRAY function (UTF8); }";
const SAMPLES: &str = "message samples {
    OPTIONAL INT64 stack_hash; OPTIONAL INT64 weight; OPTIONAL BYTE_ARRAY comm (UTF8);
}";

/// Two stacks, `main;parse` and `main`, and one that is not there.
fn folder(dir: &Path) {
    write(&dir.join("stacks.parquet"), STACKS, None, |group| {
        column::<Int64Type>(group, &[1, 2], [Some(&[1, 1]), None]);
        column::<Int64Type>(group, &[20, 10, 10], [Some(&[3, 3, 3]), Some(&[0, 1, 0])]);
    });
    write(&dir.join("frames.parquet"), FRAMES, None, |group| {
        column::<Int64Type>(group, &[10, 20], [Some(&[1, 1]), None]);
        let names = ["main", "parse"].map(Into::into);
        column::<ByteArrayType>(group, &names, [Some(&[1, 1]), None]);
    });
    write(&dir.join("samples.parquet"), SAMPLES, None, |group| {
        column::<Int64Type>(group, &[1, 2, 3], [Some(&[1, 1, 1, 0]), None]);
        column::<Int64Type>(group, &[5, 6, -7, 8], [Some(&[1; 4]), None]);
        column::<ByteArrayType>(group, &["web".into()], [Some(&[1, 0, 0, 0]), None]);
    });
}

fn read(dir: &Path) -> Result<Imported, crate::Error> {
    let folder = TableFolder::open(dir, Allowed::default())?;
    let first = folder.recordings().next().unwrap();
    Ok(folder.read(&first, Allowed::default())?.unwrap())
}

fn refused(dir: &Path) -> String {
    read(dir).unwrap_err().to_string()
}

#[test]
fn files_of_queries_are_read() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let imported = read(dir.path()).unwrap();
    let event = &imported.reader.events()[0];
    assert_eq!(event.name.raw(), "samples");
    assert_eq!(
        imported.warnings,
        ["1 samples have a weight below 0 and are left out"]
    );
}

#[test]
fn other_versions_types_and_columns_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let samples = dir.path().join("samples.parquet");
    let one = |schema, version| {
        write(&samples, schema, version, |group| {
            column::<Int64Type>(group, &[1], [None, None])
        });
        refused(dir.path())
    };
    let said = one("message samples { REQUIRED INT64 stack_hash; }", Some("7"));
    assert!(
        said.contains("samples.parquet: schema version 7, and this rprof reads"),
        "{said}"
    );
    let said = one("message samples { REQUIRED INT64 stack; }", None);
    assert!(
        said.ends_with("samples.parquet: no column stack_hash"),
        "{said}"
    );
    write(
        &samples,
        "message samples { REQUIRED BYTE_ARRAY stack_hash (UTF8); }",
        None,
        |group| column::<ByteArrayType>(group, &["1".into()], [None, None]),
    );
    let said = refused(dir.path());
    assert!(
        said.contains("column stack_hash has the type BYTE_ARRAY: cast it to BIGINT"),
        "{said}"
    );
    fs::write(&samples, b"PAR1 and no more").unwrap();
    assert!(refused(dir.path()).contains("samples.parquet: "));
}

fn refused_with_memory(dir: &Path, bytes: u64) -> String {
    let allowed = Allowed {
        memory: Some(bytes),
        spool: None,
    };
    TableFolder::open(dir, allowed).unwrap_err().to_string()
}

/// Pages have as many rows of one value as they say, and take no room for them.
#[test]
fn rows_that_take_no_room_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let samples = dir.path().join("samples.parquet");
    let schema = "message samples { REQUIRED INT64 stack_hash; }";
    write(&samples, schema, None, |group| {
        column::<Int64Type>(group, &[1; 100_000], [None, None])
    });
    assert!(fs::metadata(&samples).unwrap().len() < 1000);
    let said = refused_with_memory(dir.path(), 1 << 16);
    let expected = "samples.parquet: more than 32768 rows in all tables (--mem allows more)";
    assert!(said.ends_with(expected), "{said}");
    let folder = TableFolder::open(dir.path(), Allowed::default()).unwrap();
    let first = folder.recordings().next().unwrap();
    folder.read(&first, Allowed::default()).unwrap().unwrap();
}

#[test]
fn lists_that_take_no_room_are_bounded() {
    const N: usize = 100_000;
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let stacks = dir.path().join("stacks.parquet");
    let mut repetitions = vec![1; N];
    repetitions[0] = 0;
    write(&stacks, STACKS, None, |group| {
        column::<Int64Type>(group, &[1], [Some(&[1]), None]);
        let levels = [Some(&[3; N][..]), Some(&repetitions[..])];
        column::<Int64Type>(group, &[10; N], levels);
    });
    assert!(fs::metadata(&stacks).unwrap().len() < 1000);
    let said = refused_with_memory(dir.path(), 1 << 20);
    let expected = "stacks.parquet: needs more than 1048576 bytes of memory (--mem allows more)";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn a_column_with_more_values_than_it_says_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let file = File::open(dir.path().join("stacks.parquet")).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let pages = |n_values| {
        let pages = file.get_row_group(0).unwrap().get_column_page_reader(1);
        let pages = CountedPages::new(pages.unwrap(), n_values);
        pages.collect::<Result<Vec<_>, _>>()
    };
    // A dictionary of two values, and three that are one of them.
    assert_eq!(pages(3).unwrap().len(), 2);
    let error = pages(2).unwrap_err().to_string();
    assert!(error.ends_with("more values than it says"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_tables_are_recordings_or_errors(
        table in prop::sample::select(&["samples", "stacks", "frames"][..]),
        edits in prop::collection::vec((0usize..2000, any::<u8>()), 1..4),
        cut in 0usize..40,
    ) {
        let dir = tempfile::tempdir().unwrap();
        folder(dir.path());
        let path = dir.path().join(table).with_extension("parquet");
        let mut bytes = fs::read(&path).unwrap();
        let len = bytes.len();
        for (at, byte) in edits {
            bytes[at % len] = byte;
        }
        bytes.truncate(len - if cut < 20 { 0 } else { cut });
        fs::write(&path, bytes).unwrap();
        let _ = read(dir.path());
    }
}
