//! The pass over samples in order of time that writes their lines.

use crate::data_src;
use crate::fields::Field;
use crate::line::{Layout, Lines};
use rprof_abi::sample::DataSource;
use rprof_analysis::{DecodedSample, OrderedPass, ResolvedSample, TaskSample};

impl<'a> OrderedPass for &'a Layout<'a> {
    type Local = Lines<'a>;
    /// Bytes of the longest data source: perf pads what follows to it.
    type Before = usize;

    fn local(&self) -> Lines<'a> {
        Lines::new(self)
    }

    fn pass_on<'s>(&self, width: &mut usize, samples: impl Iterator<Item = DecodedSample<'s>>) {
        if !self.fields.iter().any(|one| one.has(Field::DataSrc)) {
            return;
        }
        for decoded in samples {
            let fields = self.fields_of(&decoded);
            let recorded = decoded.all_fields(self.query.recording.reader);
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
        !self.fields_of(sample.decoded).is_empty() && self.has_shown_function(sample)
    }

    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool {
        self.shows_chain(decoded)
    }

    fn sample(&self, lines: &mut Lines<'a>, sample: &ResolvedSample<'_, '_>, out: &mut Vec<u8>) {
        lines.append(sample, out);
    }
}
