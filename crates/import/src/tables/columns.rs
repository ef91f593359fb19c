//! Rows of a Parquet file, some thousands at a time: columns by name, whichever engine wrote them.

use super::files::FoundFile;
use super::pages::CountedPages;
use crate::Error;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use rprof_base::tables::{VERSION, VERSION_KEY};
use rprof_untrusted::Budget;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows that are in memory at once.
const BATCH_ROWS: usize = 8192;

/// What looking at a row counts as, bytes of those that may be read: pages say how many rows they have, and have as
/// many without taking any room.
const ROW_BYTES: u64 = 8;

/// Bytes of memory that a value of a list takes, with its levels: lists of a few rows may be all of a group's values.
const LIST_VALUE_BYTES: u64 = 32;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whole numbers, or true and false.
    Number,
    Text,
    /// Lists of whole numbers.
    Numbers,
}

/// A column that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether the table is of no use without it.
    pub(super) is_required: bool,
}

/// Values of a column in some rows.
enum Values {
    /// The file does not have it.
    Missing,
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<ByteArray>>),
    Lists {
        /// By row, the end of its values.
        ends: Vec<usize>,
        values: Vec<i64>,
    },
}

/// Some rows of a file. Columns go by their place in what was wanted.
pub(super) struct Batch {
    pub(super) n_rows: usize,
    columns: Vec<Values>,
}

impl Batch {
    /// A number; `None` for NULL, and where there is no such column.
    pub(super) fn number(&self, column: usize, row: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Values::Numbers(numbers) => *numbers.get(row)?,
            _ => None,
        }
    }

    /// A text; `None` for NULL, and where there is no such column.
    pub(super) fn text(&self, column: usize, row: usize) -> Option<&[u8]> {
        match self.columns.get(column)? {
            Values::Texts(texts) => texts.get(row)?.as_ref().map(ByteArray::data),
            _ => None,
        }
    }

    /// A list; empty for NULL, and where there is no such column.
    pub(super) fn list(&self, column: usize, row: usize) -> &[i64] {
        let Some(Values::Lists { ends, values }) = self.columns.get(column) else {
            return &[];
        };
        let end = |row: usize| ends.get(row).copied().unwrap_or(0);
        let start = row.checked_sub(1).map_or(0, end);
        values.get(start..end(row)).unwrap_or_default()
    }

    /// Whether the file has a column.
    pub(super) fn has(&self, column: usize) -> bool {
        !matches!(self.columns.get(column), None | Some(Values::Missing))
    }
}

/// A file of a table, open.
pub(super) struct TableFile<'w> {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    /// Bytes of the file.
    len: u64,
    wanted: &'w [Wanted],
    /// Numbers of the columns in the file.
    found: Vec<Option<usize>>,
}

impl<'w> TableFile<'w> {
    /// Opens a file.
    ///
    /// # Errors
    /// It is no Parquet file, has a version that is not known, or lacks a column.
    pub(super) fn open(file: &FoundFile, wanted: &'w [Wanted]) -> Result<Self, Error> {
        let path = &file.path;
        let opened = file.open()?;
        let len = opened.metadata().map_err(Error::io(path))?.len();
        let reader = guarded(path, || SerializedFileReader::new(opened))?;
        let about = reader.metadata().file_metadata();
        let mut pairs = about.key_value_metadata().into_iter().flatten();
        let version = pairs.find(|pair| pair.key == VERSION_KEY);
        let version = version.and_then(|pair| pair.value.as_deref());
        // Queries write files without one.
        if let Some(version) = version.filter(|version| *version != VERSION) {
            let what = format!("schema version {version}, and this rprof reads {VERSION}");
            return Err(Error::table(path, what));
        }
        let columns = about.schema_descr().columns();
        let mut found = Vec::new();
        for one in wanted {
            let at = columns.iter().position(|column| {
                column
                    .path()
                    .parts()
                    .first()
                    .is_some_and(|name| name == one.name)
            });
            let column = at.and_then(|at| columns.get(at));
            match column {
                None if one.is_required => {
                    return Err(Error::table(path, format!("no column {}", one.name)));
                }
                Some(column) if !is_of(column, one.kind) => {
                    let kind = column.physical_type();
                    let what = format!(
                        "column {} has the type {kind}: cast it to {}",
                        one.name,
                        one.kind.sql()
                    );
                    return Err(Error::table(path, what));
                }
                _ => {}
            }
            found.push(at);
        }
        Ok(Self {
            path: path.clone(),
            reader,
            len,
            wanted,
            found,
        })
    }

    /// Hands over all rows.
    ///
    /// # Errors
    /// The file is damaged, or takes too much memory; those of `take`.
    pub(super) fn for_each_batch(
        &self,
        budget: &Budget,
        mut take: impl FnMut(&Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for number in 0..self.reader.num_row_groups() {
            let group = guarded(&self.path, || self.reader.get_row_group(number))?;
            self.check(group.metadata(), budget)?;
            let mut columns = Vec::new();
            for found in &self.found {
                let open = || found.map(|at| column(&*group, at)).transpose();
                columns.push(guarded(&self.path, open)?);
            }
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            while left > 0 {
                let n = left.min(BATCH_ROWS);
                let batch = self.batch(&mut columns, n)?;
                take(&batch)?;
                left -= n;
            }
        }
        Ok(())
    }

    /// What a page may unpack to is bounded by what its column says, and rows by what may be read of all files. The
    /// library trusts places of columns.
    fn check(&self, group: &RowGroupMetaData, budget: &Budget) -> Result<(), Error> {
        let mut sum = 0u64;
        for (found, wanted) in self.found.iter().zip(self.wanted) {
            let &Some(at) = found else { continue };
            let column = group.columns().get(at);
            let size = column.and_then(|column| self.checked_size(column, wanted.kind));
            let size = size.ok_or_else(|| Error::table(&self.path, "a column with a bad place"))?;
            sum = sum.saturating_add(size);
        }
        if sum > budget.limits().memory {
            return Err(Error::memory(&self.path, budget));
        }
        let n_rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let read = budget.read(n_rows.saturating_mul(ROW_BYTES));
        read.map_err(|_| Error::Rows {
            path: self.path.clone(),
            most: budget.limits().read / ROW_BYTES,
        })
    }

    /// Bytes of a column before compression, and of its lists in memory; `None` if it is not in the file.
    fn checked_size(&self, column: &ColumnChunkMetaData, kind: Kind) -> Option<u64> {
        let place = column.dictionary_page_offset();
        let start = u64::try_from(place.unwrap_or(column.data_page_offset())).ok()?;
        let len = u64::try_from(column.compressed_size()).ok()?;
        let is_inside = start.checked_add(len)? <= self.len;
        let sizes = [
            column.uncompressed_size(),
            column.data_page_offset(),
            column.num_values(),
        ];
        let is_positive = sizes.iter().all(|&size| size >= 0);
        let size = u64::try_from(column.uncompressed_size()).ok()?;
        let of_lists = match kind {
            Kind::Numbers => n_values(column).saturating_mul(LIST_VALUE_BYTES),
            Kind::Number | Kind::Text => 0,
        };
        (is_inside && is_positive).then_some(size.saturating_add(of_lists))
    }

    fn batch(&self, readers: &mut [Option<ColumnReader>], n_rows: usize) -> Result<Batch, Error> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut columns = Vec::new();
        for ((reader, found), wanted) in readers.iter_mut().zip(&self.found).zip(self.wanted) {
            let (Some(reader), Some(found)) = (reader, found) else {
                columns.push(Values::Missing);
                continue;
            };
            let column = schema.column(*found);
            let read = || read(reader, &column, wanted.kind, n_rows);
            let values = guarded(&self.path, read)?;
            if values.n_rows() != n_rows {
                let what = format!("column {} has fewer rows than others", wanted.name);
                return Err(Error::table(&self.path, what));
            }
            columns.push(values);
        }
        Ok(Batch { n_rows, columns })
    }
}

impl Values {
    fn n_rows(&self) -> usize {
        match self {
            Self::Missing => 0,
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
            Self::Lists { ends, .. } => ends.len(),
        }
    }
}

impl Kind {
    fn sql(self) -> &'static str {
        match self {
            Self::Number => "BIGINT",
            Self::Text => "VARCHAR",
            Self::Numbers => "BIGINT[]",
        }
    }
}

/// Whether a column can be read as what it must be.
fn is_of(column: &ColumnDescriptor, kind: Kind) -> bool {
    let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    let levels = i16::from(kind == Kind::Numbers);
    let is_kind = match column.physical_type() {
        PhysicalType::INT32 | PhysicalType::INT64 => kind != Kind::Text && !is_decimal,
        PhysicalType::BOOLEAN => kind == Kind::Number,
        PhysicalType::BYTE_ARRAY => kind == Kind::Text && !is_decimal,
        _ => false,
    };
    is_kind && column.max_rep_level() == levels
}

/// How many values a column says that it has in a group.
fn n_values(column: &ColumnChunkMetaData) -> u64 {
    u64::try_from(column.num_values()).unwrap_or(0)
}

/// Opens a column of a group.
fn column(group: &dyn RowGroupReader, at: usize) -> Result<ColumnReader, ParquetError> {
    let about = group.metadata().column(at);
    let pages = CountedPages::new(group.get_column_page_reader(at)?, n_values(about));
    Ok(get_column_reader(about.column_descr_ptr(), Box::new(pages)))
}

fn read(
    reader: &mut ColumnReader,
    column: &ColumnDescriptor,
    kind: Kind,
    n_rows: usize,
) -> Result<Values, ParquetError> {
    Ok(match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            numbers(Column::read(reader, column, n_rows)?, kind, i64::from)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            numbers(Column::read(reader, column, n_rows)?, kind, |number| number)
        }
        ColumnReader::BoolColumnReader(reader) => {
            numbers(Column::read(reader, column, n_rows)?, kind, i64::from)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            Values::Texts(Column::read(reader, column, n_rows)?.rows(|text| text))
        }
        _ => return Err(ParquetError::General("a type that is not read".to_owned())),
    })
}

fn numbers<T>(column: Column<T>, kind: Kind, number: impl Fn(T) -> i64) -> Values {
    match kind {
        Kind::Numbers => column.lists(number),
        Kind::Number | Kind::Text => Values::Numbers(column.rows(number)),
    }
}

/// What was read of a column: values, and where there are none.
struct Column<T> {
    values: Vec<T>,
    /// By place, whether there is a value; nothing if each has one.
    is_value: Option<Vec<bool>>,
    /// Of lists, 0 where a row begins.
    repetitions: Vec<i16>,
}

impl<T> Column<T> {
    fn read<D: DataType<T = T>>(
        reader: &mut ColumnReaderImpl<D>,
        column: &ColumnDescriptor,
        n_rows: usize,
    ) -> Result<Self, ParquetError> {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        reader.read_records(
            n_rows,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        let most = column.max_def_level();
        let is_value = definitions.iter().map(|&level| level == most).collect();
        Ok(Self {
            values,
            is_value: (most > 0).then_some(is_value),
            repetitions,
        })
    }

    /// One value for each row, or none.
    fn rows<V>(self, value: impl Fn(T) -> V) -> Vec<Option<V>> {
        let mut values = self.values.into_iter().map(value);
        match self.is_value {
            None => values.map(Some).collect(),
            Some(all) => all
                .into_iter()
                .map(|is| is.then(|| values.next()).flatten())
                .collect(),
        }
    }

    fn lists(self, number: impl Fn(T) -> i64) -> Values {
        let mut values = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut from = self.values.into_iter().map(number);
        for (at, repetition) in self.repetitions.into_iter().enumerate() {
            if repetition == 0 {
                ends.push(values.len());
            }
            let is_value = self
                .is_value
                .as_ref()
                .is_none_or(|all| all.get(at) == Some(&true));
            values.extend(is_value.then(|| from.next()).flatten());
            if let Some(end) = ends.last_mut() {
                *end = values.len();
            }
        }
        Values::Lists { ends, values }
    }
}

/// Asks the library. It panics at some damaged pages: where panics unwind, that is an error of the file.
fn guarded<T>(path: &Path, ask: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(ask)) {
        Ok(answer) => answer.map_err(|error| Error::table(path, error)),
        Err(_) => Err(Error::table(path, "damaged: a page cannot be decoded")),
    }
}
