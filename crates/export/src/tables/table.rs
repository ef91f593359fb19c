//! A table being written: rows are held in columns until they are a row group.

use super::error::TablesError;
use foldhash::fast::RandomState;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use rprof_base::Interner;
use rprof_base::tables::{TABLE_KEY, TableSchema, VERSION, VERSION_KEY};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// A table, and how its columns are encoded.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) schema: TableSchema,
    /// Columns whose values mostly are larger than the one before, by little.
    pub(super) ascending: &'static [&'static str],
    /// Columns without a dictionary: their values hardly repeat, or repeat in sequences, which zstd finds in plain
    /// values.
    pub(super) plain: &'static [&'static str],
    /// How hard zstd tries.
    pub(super) zstd_level: i32,
}

/// Rows of a group: engines read groups apart, and skip those whose times they do not want. Each has the hashes of its
/// stacks once more: with groups of half the size, samples of a build take 7 % more bytes.
pub(super) const MAX_ROWS: usize = 240 << 10;

/// Bytes of a page before compression: what repeats is only found within one.
const MAX_PAGE: usize = 4 << 20;

/// A dictionary that grows beyond this is given up half-way: no group of rows has that many values.
const MAX_DICTIONARY: usize = 64 << 20;

/// The rows of a table that are not written yet.
pub(super) trait Columns: Clone + Send + 'static {
    /// Which table it is.
    const TABLE: Table;

    /// Whether the rows are enough for a group.
    fn are_full(&self) -> bool;

    /// Writes all rows, in the order of the schema's columns; none is left.
    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()>;
}

/// A group of rows being written.
pub(super) type RowGroup<'a> = SerializedRowGroupWriter<'a, File>;

/// A file of a table, with the rows that it does not have yet. A thread encodes a group while the next one is filled.
pub(super) struct TableWriter<C> {
    pub(super) columns: C,
    has_rows: bool,
    /// Takes groups; `None` after the last.
    full: Option<SyncSender<C>>,
    /// Gives back columns that were written.
    empty: Receiver<C>,
    /// `None` after its end.
    encoding: Option<JoinHandle<Result<()>>>,
}

impl<C: Columns> TableWriter<C> {
    /// Begins a table in an empty file.
    pub(super) fn new(file: File, columns: C) -> std::result::Result<Self, TablesError> {
        let begin = || {
            let schema = Arc::new(parse_message_type(C::TABLE.schema.columns)?);
            SerializedFileWriter::new(file, schema, Arc::new(properties(&C::TABLE)?))
        };
        let writer = begin().map_err(error_in::<C>)?;
        let (full, groups) = sync_channel(1);
        let (written, empty) = sync_channel(2);
        let others = columns.clone();
        let encode = move || {
            let _ = written.send(others);
            encode(writer, &groups, &written)
        };
        let encoding = thread::Builder::new().spawn(encode);
        Ok(Self {
            columns,
            has_rows: false,
            full: Some(full),
            empty,
            encoding: Some(encoding.map_err(rprof_analysis::Error::Thread)?),
        })
    }

    /// Is told that a row was added.
    pub(super) fn end_row(&mut self) -> std::result::Result<(), TablesError> {
        self.has_rows = true;
        if self.columns.are_full() {
            self.hand_over()?;
        }
        Ok(())
    }

    /// Hands the rows to the thread.
    fn hand_over(&mut self) -> std::result::Result<(), TablesError> {
        self.has_rows = false;
        let (Ok(empty), Some(full)) = (self.empty.recv(), &self.full) else {
            return self.join();
        };
        let sent = full.send(std::mem::replace(&mut self.columns, empty));
        sent.or_else(|_| self.join())
    }

    /// Hands over what is left: the thread writes it and the file's end.
    pub(super) fn end(&mut self) -> std::result::Result<(), TablesError> {
        let handed_over = if self.has_rows {
            self.hand_over()
        } else {
            Ok(())
        };
        self.full = None;
        handed_over
    }

    /// Waits until the file has its end.
    pub(super) fn finish(mut self) -> std::result::Result<(), TablesError> {
        self.end()?;
        self.join()
    }

    /// Waits for the thread, which ends early at an error.
    fn join(&mut self) -> std::result::Result<(), TablesError> {
        self.full = None;
        match self.encoding.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended.map_err(error_in::<C>),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

/// Writes groups of rows until there are no more, and then the file's end.
fn encode<C: Columns>(
    mut writer: SerializedFileWriter<File>,
    groups: &Receiver<C>,
    written: &SyncSender<C>,
) -> Result<()> {
    for mut columns in groups {
        let mut group = writer.next_row_group()?;
        columns.write(&mut group)?;
        group.close()?;
        // Nobody waits for the last.
        let _ = written.send(columns);
    }
    writer.finish().map(drop)
}

fn error_in<C: Columns>(error: ParquetError) -> TablesError {
    let table = C::TABLE.schema.name;
    let encode = |source| TablesError::Encode { table, source };
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(source) => TablesError::Write {
                table,
                source: *source,
            },
            Err(cause) => encode(ParquetError::External(cause)),
        },
        error => encode(error),
    }
}

fn properties(table: &Table) -> Result<WriterProperties> {
    let version = KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_owned());
    let name = KeyValue::new(TABLE_KEY.to_owned(), table.schema.name.to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("rprof version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![version, name]))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(table.zstd_level)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(None)
        .set_data_page_row_count_limit(MAX_ROWS)
        .set_data_page_size_limit(MAX_PAGE)
        .set_dictionary_page_size_limit(MAX_DICTIONARY);
    for &column in table.ascending {
        properties = properties
            .set_column_dictionary_enabled(path(column), false)
            .set_column_encoding(path(column), Encoding::DELTA_BINARY_PACKED);
    }
    for &column in table.plain {
        properties = properties.set_column_dictionary_enabled(path(column), false);
    }
    Ok(properties.build())
}

fn path(column: &str) -> ColumnPath {
    ColumnPath::new(column.split('.').map(str::to_owned).collect())
}

/// Values of one column.
#[derive(Clone)]
pub(super) struct Column<D: DataType> {
    values: Vec<D::T>,
    /// Whether each row has a value; of a list, whether each place has. Empty if all rows have one value.
    definitions: Vec<i16>,
    /// Of a list, 0 where a row begins.
    repetitions: Vec<i16>,
}

/// A column of texts.
pub(super) type Texts = Column<ByteArrayType>;

impl<D: DataType> Default for Column<D> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        }
    }
}

impl<D: DataType> Column<D> {
    /// Adds a value, where each row has one.
    pub(super) fn push(&mut self, value: D::T) {
        self.values.push(value);
    }

    /// Adds a value or NULL, where rows may lack one.
    pub(super) fn push_option(&mut self, value: Option<D::T>) {
        self.definitions.push(value.is_some().into());
        self.values.extend(value);
    }

    /// Adds a list, where each row has one.
    pub(super) fn push_list(&mut self, values: impl Iterator<Item = D::T>) {
        let n_before = self.values.len();
        self.values.extend(values);
        let n = self.values.len() - n_before;
        self.repetitions.push(0);
        self.repetitions.extend((1..n).map(|_| 1));
        self.definitions.push((n > 0).into());
        self.definitions.extend((1..n).map(|_| 1));
    }

    /// How many values there are: those of lists each count.
    pub(super) fn n_values(&self) -> usize {
        self.values.len()
    }

    /// The values.
    pub(super) fn values(&self) -> &[D::T] {
        &self.values
    }

    /// The lists, none of which is empty.
    pub(super) fn lists(&self) -> impl Iterator<Item = &[D::T]> {
        let mut rest = &self.values[..];
        self.repetitions
            .chunk_by(|_, &next| next > 0)
            .map(move |levels| {
                let (list, others) = rest.split_at(levels.len());
                rest = others;
                list
            })
    }

    /// Writes all values; none is left.
    pub(super) fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let mut column = next_column(group)?;
        let [definitions, repetitions] = [&self.definitions, &self.repetitions]
            .map(|levels| (!levels.is_empty()).then_some(&levels[..]));
        let writer = column.typed::<D>();
        writer.write_batch(&self.values, definitions, repetitions)?;
        column.close()?;
        self.values.clear();
        self.definitions.clear();
        self.repetitions.clear();
        Ok(())
    }
}

fn next_column<'a>(group: &'a mut RowGroup<'_>) -> Result<SerializedColumnWriter<'a>> {
    let column = group.next_column()?;
    column.ok_or_else(|| ParquetError::General("more columns than the schema".into()))
}

/// A text, as columns hold it.
pub(super) fn text(text: &str) -> ByteArray {
    ByteArray::from(text)
}

/// Rows that a value is repeated for at a time.
const CHUNK: usize = 4096;

/// Writes a column that has one value, or NULL, in all of these rows.
pub(super) fn write_same<D: DataType>(
    value: Option<&D::T>,
    n_rows: usize,
    group: &mut RowGroup<'_>,
) -> Result<()> {
    let n = n_rows.min(CHUNK);
    let values = value.map_or_else(Vec::new, |value| vec![value.clone(); n]);
    let definitions = vec![i16::from(value.is_some()); n];
    let mut column = next_column(group)?;
    let writer = column.typed::<D>();
    let mut left = n_rows;
    while left > 0 {
        let n = left.min(CHUNK);
        let values = values.get(..n).unwrap_or_default();
        writer.write_batch(values, definitions.get(..n), None)?;
        left -= n;
    }
    column.close()
}

/// A column of texts of which many are the same: numbers until they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberedTexts {
    texts: Interner<u32, Vec<u8>, RandomState>,
    /// Of rows that have one.
    numbers: Vec<u32>,
    /// Whether each row has one. Empty if all do.
    definitions: Vec<i16>,
}

impl NumberedTexts {
    /// Adds a text, where each row has one.
    pub(super) fn push(&mut self, text: &[u8]) {
        // Most rows have the text of the row before.
        let last = self.numbers.last().copied();
        let same = last.filter(|&last| self.texts.get(last).is_some_and(|known| known == text));
        let number = same.unwrap_or_else(|| self.texts.intern_ref(text));
        self.numbers.push(number);
    }

    /// Adds a text or NULL, where rows may lack one.
    pub(super) fn push_option(&mut self, text: Option<&[u8]>) {
        self.definitions.push(text.is_some().into());
        text.into_iter().for_each(|text| self.push(text));
    }

    /// Writes all rows; none is left.
    pub(super) fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let texts = std::mem::take(&mut self.texts).into_values();
        let texts = texts
            .iter()
            .map(|bytes| text(&String::from_utf8_lossy(bytes)));
        let texts: Vec<ByteArray> = texts.collect();
        let numbers = self
            .numbers
            .iter()
            .map(|&number| texts.get(number as usize));
        let mut values = numbers.map(|text| text.cloned().unwrap_or_default());
        let mut column = next_column(group)?;
        let writer = column.typed::<ByteArrayType>();
        let mut chunk = Vec::with_capacity(CHUNK);
        if self.definitions.is_empty() {
            while values.len() > 0 {
                chunk.clear();
                chunk.extend(values.by_ref().take(CHUNK));
                writer.write_batch(&chunk, None, None)?;
            }
        }
        for definitions in self.definitions.chunks(CHUNK) {
            chunk.clear();
            let n_texts = definitions.iter().filter(|&&is| is > 0).count();
            chunk.extend(values.by_ref().take(n_texts));
            writer.write_batch(&chunk, Some(definitions), None)?;
        }
        self.numbers.clear();
        self.definitions.clear();
        column.close()
    }
}
