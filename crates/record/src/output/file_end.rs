//! The end of a file: build ids and other sections that are known only then, written in the background.

use crate::background::in_background;
use crate::drain::DrainCounts;
use crate::drain::missing_build_ids::MissingBuildIds;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::output::Created;
use crate::output::features::{self, encoded};
use crate::output::segments::SegmentEnd;
use crossbeam_channel::Receiver;
use foldhash::HashSet;
use rprof_perfdata::feature::{
    CpuBudget, LeftOut, RecorderCost, SampleCoverage, SampleThinning, StackEnds,
};
use rprof_perfdata::{FeatureId, Finished, Writer};
use std::time::Duration;

/// The timeout for checksums of files: a little more than their own.
const CONTENTS_TIMEOUT: Duration = Duration::from_millis(1500);

/// The end of a file: what is known only then.
pub(crate) struct FileEnd<'e> {
    pub(crate) writer: Writer,
    pub(crate) counts: DrainCounts,
    pub(crate) stacks: Option<&'e StackEnds>,
    pub(crate) coverage: Option<SampleCoverage>,
    pub(crate) cost: RecorderCost,
    pub(crate) budget: Option<CpuBudget>,
    pub(crate) thinning: Option<SampleThinning>,
    /// When events were paused, if they could be.
    pub(crate) pauses: Option<(FeatureId, Vec<u8>)>,
    /// What threads waited for, if it was looked at.
    pub(crate) waited_files: Option<(FeatureId, Vec<u8>)>,
    pub(crate) missing_build_ids: MissingBuildIds,
    /// Paths of the images that stacks led into, if that is known.
    pub(crate) entered: Option<HashSet<Vec<u8>>>,
    /// Whether build ids are written.
    pub(crate) build_ids: bool,
    /// Who gets it, if it is a segment.
    pub(crate) segment: Option<SegmentEnd>,
}

/// The end of a file that is being written.
#[derive(Debug)]
pub(crate) struct Ending {
    finished: Receiver<Result<Finished, rprof_perfdata::Error>>,
    /// Bytes of its records.
    size_bytes: u64,
}

impl FileEnd<'_> {
    /// Writes it in the background: the reader of a pipe may not read just now.
    pub(crate) fn start(self) -> Result<Ending, Error> {
        let mut sections = Vec::from_iter(features::of_samples(&self.counts));
        sections.extend(self.stacks.map(features::of_stacks));
        let coverage = self.coverage.as_ref();
        sections.extend(coverage.map(|coverage| encoded(FeatureId::COVERAGE, coverage)));
        sections.extend(features::of_left_out(LeftOut {
            own: self.counts.own_samples,
            others: self.counts.others_samples,
        }));
        sections.push(encoded(FeatureId::RECORDER_COST, &self.cost));
        let budget = self.budget.as_ref();
        sections.extend(budget.map(|budget| encoded(FeatureId::CPU_BUDGET, budget)));
        let thinning = self.thinning.as_ref();
        sections.extend(thinning.map(|thinning| encoded(FeatureId::THINNING, thinning)));
        sections.extend(self.pauses);
        sections.extend(self.waited_files);
        let (writer, missing_build_ids) = (self.writer, self.missing_build_ids);
        let size_bytes = writer.data_len();
        let finished = in_background("rprof-end", move || {
            if !self.build_ids {
                return writer.finish(sections);
            }
            sections.push((FeatureId::BUILD_ID, missing_build_ids.section()));
            if let Some(segment) = self.segment {
                // It is read at once, while files are what they were.
                let finished = writer.finish(sections)?;
                let time = Duration::from_nanos(self.cost.wall_ns);
                segment.send(self.counts.samples, finished.size_bytes, time);
                return Ok(finished);
            }
            // Files may be on a slow disk, and all else is worth more.
            let entered = self.entered;
            let contents = in_background("rprof-contents", move || {
                missing_build_ids.contents(entered.as_ref())
            });
            let contents = contents
                .ok()
                .and_then(|all| all.recv_timeout(CONTENTS_TIMEOUT).ok());
            sections.extend(contents.and_then(|all| features::of_contents(&all)));
            writer.finish(sections)
        })?;
        Ok(Ending {
            finished,
            size_bytes,
        })
    }
}

impl Ending {
    /// Waits until it is written; returns the size of the file, bytes. `created` is that file.
    pub(crate) fn wait(self, interrupts: &Interrupts, created: &Created) -> Result<u64, Error> {
        match interrupts.receive(&self.finished, || created.progress())? {
            Ok(finished) => Ok(finished.size_bytes),
            Err(source) => Err(created.write_error(source, self.size_bytes)),
        }
    }
}
