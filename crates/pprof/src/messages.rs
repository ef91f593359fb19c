//! The messages of a pprof profile.
//!
//! Source: proto/profile.proto of github.com/google/pprof. Strings are numbers in the list of
//! strings, whose first is empty; ids count from 1.

/// What values are: `cpu` in `nanoseconds`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofValueType {
    /// What was measured, as a string.
    #[prost(int64, tag = "1")]
    pub kind: i64,
    /// Its unit, as a string.
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

/// A stack, with its values and labels.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofSample {
    /// Ids of locations, innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub location_id: Vec<u64>,
    /// One of each sample type.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    /// What else is known of it.
    #[prost(message, repeated, tag = "3")]
    pub label: Vec<PprofLabel>,
}

/// A word about a sample: its thread, say.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofLabel {
    /// What it says, as a string.
    #[prost(int64, tag = "1")]
    pub key: i64,
    /// The value as a string; 0 if it is a number.
    #[prost(int64, tag = "2")]
    pub str: i64,
}

/// An image where it was mapped.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofMapping {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Where it began in memory.
    #[prost(uint64, tag = "2")]
    pub memory_start: u64,
    /// The first address after it.
    #[prost(uint64, tag = "3")]
    pub memory_limit: u64,
    /// Where in the file that beginning lies.
    #[prost(uint64, tag = "4")]
    pub file_offset: u64,
    /// Path of the file, as a string.
    #[prost(int64, tag = "5")]
    pub filename: i64,
    /// In hexadecimal digits, as a string.
    #[prost(int64, tag = "6")]
    pub build_id: i64,
    /// Whether its locations have functions: if not, `pprof` looks for them.
    #[prost(bool, tag = "7")]
    pub has_functions: bool,
    /// Whether its functions have source files.
    #[prost(bool, tag = "8")]
    pub has_filenames: bool,
    /// Whether its lines have numbers.
    #[prost(bool, tag = "9")]
    pub has_line_numbers: bool,
    /// Whether its locations name inlined functions, too.
    #[prost(bool, tag = "10")]
    pub has_inline_frames: bool,
}

/// An address of code, and what is there.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofLocation {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Id of the mapping; 0 if there is none.
    #[prost(uint64, tag = "2")]
    pub mapping_id: u64,
    /// In memory as the mapping says.
    #[prost(uint64, tag = "3")]
    pub address: u64,
    /// Functions there: those inlined come before their callers.
    #[prost(message, repeated, tag = "4")]
    pub line: Vec<PprofLine>,
}

/// A function of a location, with the line.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofLine {
    /// Id of the function.
    #[prost(uint64, tag = "1")]
    pub function_id: u64,
    /// From 1; 0 if it is not known.
    #[prost(int64, tag = "2")]
    pub line: i64,
}

/// A function of a program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofFunction {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name, as a string.
    #[prost(int64, tag = "2")]
    pub name: i64,
    /// Its mangled name, as a string. `pprof` demangles names only where this is the same.
    #[prost(int64, tag = "3")]
    pub system_name: i64,
    /// Its source file, as a string.
    #[prost(int64, tag = "4")]
    pub filename: i64,
}

/// A profile but for its samples, which are written one by one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PprofRest {
    /// What the values of each sample are.
    #[prost(message, repeated, tag = "1")]
    pub sample_type: Vec<PprofValueType>,
    /// The first is the main program.
    #[prost(message, repeated, tag = "3")]
    pub mapping: Vec<PprofMapping>,
    /// All that samples lead to.
    #[prost(message, repeated, tag = "4")]
    pub location: Vec<PprofLocation>,
    /// All that locations lead to.
    #[prost(message, repeated, tag = "5")]
    pub function: Vec<PprofFunction>,
    /// All strings; the first is empty.
    #[prost(string, repeated, tag = "6")]
    pub string_table: Vec<String>,
    /// When the profile began, since 1970.
    #[prost(int64, tag = "9")]
    pub time_nanos: i64,
    /// How long it took.
    #[prost(int64, tag = "10")]
    pub duration_nanos: i64,
    /// What was counted between samples.
    #[prost(message, optional, tag = "11")]
    pub period_type: Option<PprofValueType>,
    /// How much of it lay between samples.
    #[prost(int64, tag = "12")]
    pub period: i64,
    /// Remarks, as strings.
    #[prost(int64, repeated, tag = "13")]
    pub comment: Vec<i64>,
    /// The sample type that is shown first, as a string: its kind.
    #[prost(int64, tag = "14")]
    pub default_sample_type: i64,
}

/// The field of a profile that holds its samples.
pub const PPROF_SAMPLE: u32 = 2;
