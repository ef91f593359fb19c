//! A table being written: rows are held in columns until they are a row group.

use super::error::TablesError;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use rprof_base::tables::{TABLE_KEY, TableSchema, VERSION, VERSION_KEY};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A table, and how its columns are encoded.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) schema: TableSchema,
    /// Columns whose values mostly are larger than the one before, by little.
    pub(super) ascending: &'static [&'static str],
    /// Columns without a dictionary: their values hardly repeat, or repeat in sequences, which zstd finds in plain
    /// values.
    pub(super) plain: &'static [&'static str],
}

/// Rows of a group: engines read groups apart, and skip those whose times they do not want.
pub(super) const MAX_ROWS: usize = 120 << 10;

/// Bytes of a page before compression: what repeats is only found within one.
const MAX_PAGE: usize = 4 << 20;

/// A dictionary that grows beyond this is given up half-way: no group of rows has that many values.
const MAX_DICTIONARY: usize = 64 << 20;

/// The rows of a table that are not written yet.
pub(super) trait Columns {
    /// Which table it is.
    const TABLE: Table;

    /// Whether the rows are enough for a group.
    fn are_full(&self) -> bool;

    /// Writes all rows, in the order of the schema's columns; none is left.
    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()>;
}

/// A group of rows being written.
pub(super) type RowGroup<'a> = SerializedRowGroupWriter<'a, File>;

/// A file of a table, with the rows that it does not have yet.
pub(super) struct TableWriter<C> {
    writer: SerializedFileWriter<File>,
    pub(super) columns: C,
    has_rows: bool,
}

impl<C: Columns> TableWriter<C> {
    /// Begins a table in an empty file.
    pub(super) fn new(file: File, columns: C) -> std::result::Result<Self, TablesError> {
        let begin = || {
            let schema = Arc::new(parse_message_type(C::TABLE.schema.columns)?);
            SerializedFileWriter::new(file, schema, Arc::new(properties(&C::TABLE)?))
        };
        Ok(Self {
            writer: begin().map_err(error_in::<C>)?,
            columns,
            has_rows: false,
        })
    }

    /// Is told that a row was added.
    pub(super) fn end_row(&mut self) -> std::result::Result<(), TablesError> {
        self.has_rows = true;
        if self.columns.are_full() {
            self.flush().map_err(error_in::<C>)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        self.columns.write(&mut group)?;
        group.close()?;
        self.has_rows = false;
        Ok(())
    }

    /// Writes what is left, and the file's end.
    pub(super) fn finish(mut self) -> std::result::Result<(), TablesError> {
        let flushed = if self.has_rows { self.flush() } else { Ok(()) };
        let finished = flushed.and_then(|()| self.writer.finish());
        finished.map(drop).map_err(error_in::<C>)
    }
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
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
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
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("more columns than the schema".into()));
        };
        let levels = |levels: &[i16]| (!levels.is_empty()).then(|| levels.to_vec());
        let (definitions, repetitions) = (levels(&self.definitions), levels(&self.repetitions));
        column.typed::<D>().write_batch(
            &self.values,
            definitions.as_deref(),
            repetitions.as_deref(),
        )?;
        column.close()?;
        self.values.clear();
        self.definitions.clear();
        self.repetitions.clear();
        Ok(())
    }
}

/// A text, as columns hold it.
pub(super) fn text(text: &str) -> ByteArray {
    ByteArray::from(text)
}

/// Writes a column that has one value, or NULL, in all of these rows.
pub(super) fn write_same<D: DataType>(
    value: Option<&D::T>,
    n_rows: usize,
    group: &mut RowGroup<'_>,
) -> Result<()> {
    let mut column = Column::<D> {
        values: value.map_or_else(Vec::new, |value| vec![value.clone(); n_rows]),
        definitions: vec![value.is_some().into(); n_rows],
        repetitions: Vec::new(),
    };
    column.write(group)
}
