//! The columns of the four tables. PARQUET.md says what they mean.

use super::table::{Column, Columns, MAX_ROWS, RowGroup, Table, Texts, write_same};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::Result;

/// What all rows of a recording have in common.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) machine: Option<ByteArray>,
    pub(super) recording: ByteArray,
}

/// Rows of `samples`.
pub(super) struct SampleColumns {
    pub(super) origin: Origin,
    pub(super) time_ns: Column<Int64Type>,
    pub(super) pid: Column<Int32Type>,
    pub(super) tid: Column<Int32Type>,
    pub(super) comm: Texts,
    pub(super) cpu: Column<Int32Type>,
    pub(super) event: Texts,
    pub(super) weight: Column<Int64Type>,
    pub(super) period: Column<Int64Type>,
    pub(super) stack_hash: Column<Int64Type>,
}

impl SampleColumns {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            time_ns: Column::default(),
            pid: Column::default(),
            tid: Column::default(),
            comm: Column::default(),
            cpu: Column::default(),
            event: Column::default(),
            weight: Column::default(),
            period: Column::default(),
            stack_hash: Column::default(),
        }
    }
}

impl Columns for SampleColumns {
    const TABLE: Table = Table {
        name: "samples",
        schema: "message samples {
            OPTIONAL INT64 time_ns;
            OPTIONAL BYTE_ARRAY machine (STRING);
            OPTIONAL BYTE_ARRAY boot (STRING);
            REQUIRED BYTE_ARRAY recording (STRING);
            OPTIONAL INT32 pid;
            OPTIONAL INT32 tid;
            REQUIRED BYTE_ARRAY comm (STRING);
            OPTIONAL INT32 cpu;
            REQUIRED BYTE_ARRAY event (STRING);
            REQUIRED INT64 weight;
            OPTIONAL INT64 period;
            OPTIONAL BYTE_ARRAY state (STRING);
            OPTIONAL BYTE_ARRAY cause (STRING);
            OPTIONAL BYTE_ARRAY span (STRING);
            OPTIONAL INT64 stack_hash;
        }",
        ascending: &["time_ns"],
        plain: &[],
    };

    fn are_full(&self) -> bool {
        self.weight.n_values() >= MAX_ROWS
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let n_rows = self.weight.n_values();
        let null = |group: &mut RowGroup<'_>| write_same::<ByteArrayType>(None, n_rows, group);
        self.time_ns.write(group)?;
        write_same::<ByteArrayType>(self.origin.machine.as_ref(), n_rows, group)?;
        null(group)?;
        write_same::<ByteArrayType>(Some(&self.origin.recording), n_rows, group)?;
        self.pid.write(group)?;
        self.tid.write(group)?;
        self.comm.write(group)?;
        self.cpu.write(group)?;
        self.event.write(group)?;
        self.weight.write(group)?;
        self.period.write(group)?;
        null(group)?;
        null(group)?;
        null(group)?;
        self.stack_hash.write(group)
    }
}

/// Rows of `stacks`.
#[derive(Default)]
pub(super) struct StackColumns {
    pub(super) stack_hash: Column<Int64Type>,
    pub(super) frame_hashes: Column<Int64Type>,
}

/// Frames of a group of stacks: deep stacks make small groups.
const MAX_FRAMES: usize = 1 << 20;

impl Columns for StackColumns {
    const TABLE: Table = Table {
        name: "stacks",
        schema: "message stacks {
            REQUIRED INT64 stack_hash;
            REQUIRED group frame_hashes (LIST) {
                REPEATED group list {
                    REQUIRED INT64 element;
                }
            }
        }",
        ascending: &[],
        plain: &["stack_hash", "frame_hashes.list.element"],
    };

    fn are_full(&self) -> bool {
        self.stack_hash.n_values() >= MAX_ROWS || self.frame_hashes.n_values() >= MAX_FRAMES
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        self.stack_hash.write(group)?;
        self.frame_hashes.write(group)
    }
}

/// Rows of `frames`.
#[derive(Default)]
pub(super) struct FrameColumns {
    pub(super) frame_hash: Column<Int64Type>,
    pub(super) inline_depth: Column<Int32Type>,
    pub(super) build_id: Texts,
    pub(super) offset: Column<Int64Type>,
    pub(super) function: Texts,
    pub(super) is_inlined: Column<BoolType>,
    pub(super) module: Texts,
    pub(super) path: Texts,
    pub(super) level: Texts,
    pub(super) file: Texts,
    pub(super) line: Column<Int32Type>,
}

impl Columns for FrameColumns {
    const TABLE: Table = Table {
        name: "frames",
        schema: "message frames {
            REQUIRED INT64 frame_hash;
            REQUIRED INT32 inline_depth;
            OPTIONAL BYTE_ARRAY build_id (STRING);
            OPTIONAL INT64 offset;
            OPTIONAL BYTE_ARRAY function (STRING);
            REQUIRED BOOLEAN is_inlined;
            REQUIRED BYTE_ARRAY module (STRING);
            OPTIONAL BYTE_ARRAY path (STRING);
            REQUIRED BYTE_ARRAY level (STRING);
            OPTIONAL BYTE_ARRAY file (STRING);
            OPTIONAL INT32 line;
        }",
        ascending: &["offset"],
        plain: &["frame_hash"],
    };

    fn are_full(&self) -> bool {
        self.frame_hash.n_values() >= MAX_ROWS
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        self.frame_hash.write(group)?;
        self.inline_depth.write(group)?;
        self.build_id.write(group)?;
        self.offset.write(group)?;
        self.function.write(group)?;
        self.is_inlined.write(group)?;
        self.module.write(group)?;
        self.path.write(group)?;
        self.level.write(group)?;
        self.file.write(group)?;
        self.line.write(group)
    }
}
