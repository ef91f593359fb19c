//! The columns of the four tables. PARQUET.md says what they mean.

use super::table::{Column, Columns, MAX_ROWS, NumberedTexts, RowGroup, Table, text, write_same};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::Result;
use rprof_base::tables;

/// What all rows of a recording have in common.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) machine: Option<ByteArray>,
    pub(super) recording: ByteArray,
}

/// Rows of `samples`.
#[derive(Clone)]
pub(super) struct SampleColumns {
    pub(super) origin: Origin,
    pub(super) time_ns: Column<Int64Type>,
    pub(super) pid: Column<Int32Type>,
    pub(super) tid: Column<Int32Type>,
    pub(super) comm: NumberedTexts,
    pub(super) cpu: Column<Int32Type>,
    pub(super) event: NumberedTexts,
    pub(super) weight: Column<Int64Type>,
    pub(super) period: Column<Int64Type>,
    pub(super) state: NumberedTexts,
    pub(super) cause: NumberedTexts,
    pub(super) span: NumberedTexts,
    pub(super) stack_hash: Column<Int64Type>,
    pub(super) span_start_ns: Column<Int64Type>,
    pub(super) span_ns: Column<Int64Type>,
}

impl SampleColumns {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            time_ns: Column::default(),
            pid: Column::default(),
            tid: Column::default(),
            comm: NumberedTexts::default(),
            cpu: Column::default(),
            event: NumberedTexts::default(),
            weight: Column::default(),
            period: Column::default(),
            state: NumberedTexts::default(),
            cause: NumberedTexts::default(),
            span: NumberedTexts::default(),
            stack_hash: Column::default(),
            span_start_ns: Column::default(),
            span_ns: Column::default(),
        }
    }
}

impl Columns for SampleColumns {
    const TABLE: Table = Table {
        schema: tables::SAMPLES,
        ascending: &["time_ns"],
        plain: &[],
        zstd_level: 3,
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
        self.state.write(group)?;
        self.cause.write(group)?;
        self.span.write(group)?;
        self.stack_hash.write(group)?;
        self.span_start_ns.write(group)?;
        self.span_ns.write(group)
    }
}

/// Rows of `stacks`.
#[derive(Clone)]
pub(super) struct StackColumns {
    recording: ByteArray,
    pub(super) stack_hash: Column<Int64Type>,
    pub(super) frame_hashes: Column<Int64Type>,
}

impl StackColumns {
    pub(super) fn new(recording: ByteArray) -> Self {
        Self {
            recording,
            stack_hash: Column::default(),
            frame_hashes: Column::default(),
        }
    }
}

/// Frames of a group of stacks: deep stacks make small groups.
const MAX_FRAMES: usize = 1 << 20;

impl Columns for StackColumns {
    const TABLE: Table = Table {
        schema: tables::STACKS,
        ascending: &[],
        plain: &["stack_hash", "frame_hashes.list.element"],
        zstd_level: 3,
    };

    fn are_full(&self) -> bool {
        self.stack_hash.n_values() >= MAX_ROWS || self.frame_hashes.n_values() >= MAX_FRAMES
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let n_rows = self.stack_hash.n_values();
        write_same::<ByteArrayType>(Some(&self.recording), n_rows, group)?;
        let lists = self.frame_hashes.lists();
        let hashes = self.stack_hash.values().iter().copied();
        let mut rows: Vec<(i64, &[i64])> = hashes.zip(lists).collect();
        // Stacks with the same outer frames, one after the other, compress to three quarters.
        rows.sort_unstable_by(|(_, a), (_, b)| a.iter().rev().cmp(b.iter().rev()));
        let (mut stack_hash, mut frame_hashes) = (Column::default(), Column::default());
        for (hash, frames) in rows {
            stack_hash.push(hash);
            frame_hashes.push_list(frames.iter().copied());
        }
        self.stack_hash = stack_hash;
        self.frame_hashes = frame_hashes;
        self.stack_hash.write(group)?;
        self.frame_hashes.write(group)
    }
}

/// Rows of `frames`.
#[derive(Clone)]
pub(super) struct FrameColumns {
    recording: ByteArray,
    /// Some digits of its name, as a number.
    pub(super) recording_number: u32,
    pub(super) frame_hash: Column<Int64Type>,
    pub(super) inline_depth: Column<Int32Type>,
    pub(super) build_id: NumberedTexts,
    pub(super) offset: Column<Int64Type>,
    pub(super) function: NumberedTexts,
    pub(super) is_inlined: Column<BoolType>,
    pub(super) module: NumberedTexts,
    pub(super) path: NumberedTexts,
    pub(super) level: NumberedTexts,
    pub(super) file: NumberedTexts,
    pub(super) line: Column<Int32Type>,
    pub(super) known: Column<Int64Type>,
}

impl FrameColumns {
    pub(super) fn new(recording: &str) -> Self {
        let digits = recording.get(..8).unwrap_or_default();
        Self {
            recording: text(recording),
            recording_number: u32::from_str_radix(digits, 16).unwrap_or(0),
            frame_hash: Column::default(),
            inline_depth: Column::default(),
            build_id: NumberedTexts::default(),
            offset: Column::default(),
            function: NumberedTexts::default(),
            is_inlined: Column::default(),
            module: NumberedTexts::default(),
            path: NumberedTexts::default(),
            level: NumberedTexts::default(),
            file: NumberedTexts::default(),
            line: Column::default(),
            known: Column::default(),
        }
    }
}

impl Columns for FrameColumns {
    const TABLE: Table = Table {
        schema: tables::FRAMES,
        ascending: &["offset"],
        plain: &["frame_hash"],
        // Names shrink by a fifth more, and are few.
        zstd_level: 9,
    };

    fn are_full(&self) -> bool {
        self.frame_hash.n_values() >= MAX_ROWS
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let n_rows = self.frame_hash.n_values();
        write_same::<ByteArrayType>(Some(&self.recording), n_rows, group)?;
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
        self.line.write(group)?;
        self.known.write(group)
    }
}
