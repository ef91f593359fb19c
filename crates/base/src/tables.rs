//! The tables for query engines, as their files have them: writers and readers of such files agree here. PARQUET.md of
//! `rprof-export` says what they contain.

/// A table: its name, and its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Its name: that of its folder, and of [`TABLE_KEY`].
    pub name: &'static str,
    /// Its columns, as Parquet writes schemas. The numbers of columns (`= 1`) stay theirs.
    pub columns: &'static str,
}

/// The version of all four tables. It is raised when a column changes its meaning, or a hash its value; columns may be
/// added without.
pub const VERSION: &str = "1";

/// The key of a file's metadata whose value is [`VERSION`].
pub const VERSION_KEY: &str = "schema_version";

/// The key of a file's metadata whose value is the name of the table.
pub const TABLE_KEY: &str = "table";

/// A row for each sample.
pub const SAMPLES: TableSchema = TableSchema {
    name: "samples",
    columns: "message samples {
        OPTIONAL INT64 time_ns = 1;
        OPTIONAL BYTE_ARRAY machine (STRING) = 2;
        OPTIONAL BYTE_ARRAY boot (STRING) = 3;
        REQUIRED BYTE_ARRAY recording (STRING) = 4;
        OPTIONAL INT32 pid = 5;
        OPTIONAL INT32 tid = 6;
        REQUIRED BYTE_ARRAY comm (STRING) = 7;
        OPTIONAL INT32 cpu = 8;
        REQUIRED BYTE_ARRAY event (STRING) = 9;
        REQUIRED INT64 weight = 10;
        OPTIONAL INT64 period = 11;
        OPTIONAL BYTE_ARRAY state (STRING) = 12;
        OPTIONAL BYTE_ARRAY cause (STRING) = 13;
        OPTIONAL BYTE_ARRAY span (STRING) = 14;
        OPTIONAL INT64 stack_hash = 15;
        OPTIONAL INT64 span_start_ns = 16;
        OPTIONAL INT64 span_ns = 17;
    }",
};

/// A row for each different stack of a recording.
pub const STACKS: TableSchema = TableSchema {
    name: "stacks",
    columns: "message stacks {
        REQUIRED BYTE_ARRAY recording (STRING) = 1;
        REQUIRED INT64 stack_hash = 2;
        REQUIRED group frame_hashes (LIST) = 3 {
            REPEATED group list {
                REQUIRED INT64 element;
            }
        }
    }",
};

/// A row for each function at a code location of a recording.
pub const FRAMES: TableSchema = TableSchema {
    name: "frames",
    columns: "message frames {
        REQUIRED BYTE_ARRAY recording (STRING) = 1;
        REQUIRED INT64 frame_hash = 2;
        REQUIRED INT32 inline_depth = 3;
        OPTIONAL BYTE_ARRAY build_id (STRING) = 4;
        OPTIONAL INT64 offset = 5;
        OPTIONAL BYTE_ARRAY function (STRING) = 6;
        REQUIRED BOOLEAN is_inlined = 7;
        REQUIRED BYTE_ARRAY module (STRING) = 8;
        OPTIONAL BYTE_ARRAY path (STRING) = 9;
        REQUIRED BYTE_ARRAY level (STRING) = 10;
        OPTIONAL BYTE_ARRAY file (STRING) = 11;
        OPTIONAL INT32 line = 12;
        REQUIRED INT64 known = 13;
    }",
};

/// A row for each event of a recording.
pub const RECORDINGS: TableSchema = TableSchema {
    name: "recordings",
    columns: "message recordings {
        REQUIRED BYTE_ARRAY recording (STRING) = 1;
        OPTIONAL BYTE_ARRAY machine (STRING) = 2;
        OPTIONAL BYTE_ARRAY boot (STRING) = 3;
        REQUIRED BYTE_ARRAY event (STRING) = 4;
        REQUIRED BYTE_ARRAY unit (STRING) = 5;
        REQUIRED INT64 samples = 6;
        REQUIRED INT64 weight = 7;
        OPTIONAL INT64 lost = 8;
        REQUIRED BOOLEAN lost_at_least = 9;
        OPTIONAL INT64 rate_hz = 10;
        OPTIONAL INT64 every = 11;
        OPTIONAL INT64 start_ns = 12;
        OPTIONAL INT64 end_ns = 13;
        OPTIONAL INT64 wall_offset_ns = 14;
        OPTIONAL INT64 stacks_unwound = 15;
        OPTIONAL INT64 stacks_complete = 16;
        OPTIONAL INT64 stacks_truncated = 17;
        OPTIONAL INT64 throttles = 18;
        OPTIONAL INT64 throttled_ns = 19;
        OPTIONAL INT32 n_cpus = 20;
        REQUIRED BYTE_ARRAY quality (STRING) = 21;
        OPTIONAL BYTE_ARRAY source (STRING) = 22;
        OPTIONAL BYTE_ARRAY clock (STRING) = 23;
        OPTIONAL BYTE_ARRAY kernel (STRING) = 24;
        OPTIONAL BYTE_ARRAY arch (STRING) = 25;
        OPTIONAL BYTE_ARRAY cpu_model (STRING) = 26;
        OPTIONAL BYTE_ARRAY command (STRING) = 27;
        OPTIONAL BYTE_ARRAY recorder (STRING) = 28;
    }",
};
