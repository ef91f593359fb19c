//! The pass over samples in order of time that writes their lines.

use crate::data_src;
use crate::fields::Field;
use crate::json;
use crate::line::{Layout, Lines};
use crate::records::{self, ShownRecords};
use rprof_abi::RecordKind;
use rprof_abi::sample::DataSource;
use rprof_analysis::{
    DecodedSample, OrderedPass, OrderedRecord, ResolvedSample, Symbols, TaskSample,
};

/// The pass, with which records it writes beside samples.
pub(crate) struct ScriptPass<'a> {
    pub(crate) layout: &'a Layout<'a>,
    records: ShownRecords,
    wants: Box<dyn Fn(RecordKind) -> bool + Sync>,
}

impl<'a> ScriptPass<'a> {
    pub(crate) fn new(layout: &'a Layout<'a>, records: ShownRecords) -> Self {
        Self {
            layout,
            records,
            wants: Box::new(move |kind| records.has(kind)),
        }
    }
}

impl<'a> OrderedPass for ScriptPass<'a> {
    type Local = Lines<'a>;
    /// Bytes of the longest data source: perf pads what follows to it.
    type Before = usize;
    type Stack = ();

    fn local(&self) -> Lines<'a> {
        Lines::new(self.layout)
    }

    fn pass_on<'s>(&self, width: &mut usize, samples: impl Iterator<Item = DecodedSample<'s>>) {
        if !self.layout.fields.iter().any(|one| one.has(Field::DataSrc)) {
            return;
        }
        for decoded in samples {
            let fields = self.layout.fields_of(&decoded);
            let recorded = decoded.all_fields(self.layout.query.recording.reader);
            let source = recorded.and_then(|recorded| recorded.data_src);
            if let Some(source) = source.filter(|_| fields.has(Field::DataSrc)) {
                *width = (*width).max(data_src::text(DataSource(source)).len());
            }
        }
    }

    fn start(&self, lines: &mut Lines<'a>, width: usize) {
        lines.data_src_width = width;
    }

    fn wants(&self, sample: &TaskSample<'_, '_>) -> bool {
        !self.layout.fields_of(sample.decoded).is_empty() && self.layout.has_shown_function(sample)
    }

    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool {
        self.layout.shows_chain(decoded) || self.layout.kept.is_some()
    }

    fn keeps(&self, lines: &mut Lines<'a>, sample: &ResolvedSample<'_, '_>) -> bool {
        lines.keeps(sample)
    }

    fn sample(
        &self,
        lines: &mut Lines<'a>,
        sample: &ResolvedSample<'_, '_>,
        _known: Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if self.layout.json {
            json::append(lines, self.layout, sample, out);
        } else {
            lines.append(sample, out);
        }
        None
    }

    fn wanted_records(&self) -> Option<&dyn Fn(RecordKind) -> bool> {
        self.records.any().then_some(&*self.wants)
    }

    /// As perf does: the ends of rounds have no time.
    fn in_file_order(&self) -> bool {
        self.records.rounds
    }

    fn symbols(&self) -> Option<&Symbols> {
        self.layout.symbols
    }

    fn record(&self, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
        if self.layout.json {
            json::append_switch(self.layout, record, out);
        } else {
            records::append(self.layout, record, out);
        }
    }
}
