//! Every location gets its frames, in parallel by image.

use super::kernel::Kernel;
use super::known_names::SymbolizeResult;
use super::{downloads, jit};
use crate::Error;
use crate::binaries::locate;
use crate::index::EmbeddedSymbols;
use crate::locations::Location;
use crate::recording::Recording;
use rprof_base::{Avma, FileOffset, parallel};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_symbols::{Reason, Request, symbolize_user};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Mutex;

/// The locations of one image.
pub(crate) struct ImageBatch<'a> {
    /// Its image; `None` for addresses that no mapping holds.
    pub(crate) image: Option<(ImageId, &'a RecordedImage)>,
    pub(crate) locations: Range<usize>,
}

/// Frames of all locations.
pub(crate) struct SymbolizedBatches<'a> {
    /// In the order of locations; `None` for those of images that nothing can name.
    pub(crate) batches: Vec<(ImageBatch<'a>, Option<SymbolizeResult>)>,
    /// What could not be used, one sentence each.
    pub(crate) warnings: Vec<String>,
}

/// Symbolizes all locations, which must be sorted: in parallel by image.
pub(crate) fn symbolize_all<'a>(
    recording: &'a Recording<'_>,
    locations: &[Location],
    request: Request,
    embedded: &EmbeddedSymbols,
) -> Result<SymbolizedBatches<'a>, Error> {
    // One image may have most of the locations: it gets threads of its own for them.
    let request = Request {
        n_threads: parallel::n_cpus(),
        ..request
    };
    let batches = batches_of(recording, locations);
    let work = work_of(&batches);
    let results: Vec<Mutex<Option<SymbolizeResult>>> =
        batches.iter().map(|_| Mutex::new(None)).collect();
    let symbolize = |work: &[usize]| -> Result<(), Error> {
        let kernel = OnceCell::new();
        for &idx in work {
            let batch = &batches[idx];
            let Some((_, image)) = batch.image else {
                continue;
            };
            let own = &locations[batch.locations.clone()];
            let ask = |locations: &[Location], index: bool| {
                let request = Request { index, ..request };
                batch.symbolize(recording, locations, request, &kernel)
            };
            let find = |locations: &[Location]| match &recording.known_names {
                Some(known) => known.name(image, locations, ask),
                None => ask(locations, false),
            };
            let result = embedded.name(image, own, request, find);
            if let Ok(mut slot) = results[idx].lock() {
                *slot = result;
            }
        }
        Ok(())
    };
    let all = (work.len(), parallel::n_cpus());
    parallel::for_each(all, || (), |(), turn| symbolize(&work[turn]), &mut |_| {})?;
    let work = work_again(recording, &batches, &work);
    if !work.is_empty() {
        let all = (work.len(), parallel::n_cpus());
        parallel::for_each(all, || (), |(), turn| symbolize(&work[turn]), &mut |_| {})?;
    }
    // What did not fit beside other files may fit alone.
    for (idx, slot) in results.iter().enumerate() {
        let is_over_budget =
            |slot: &Option<SymbolizeResult>| slot.as_ref().is_some_and(is_over_budget);
        if slot.lock().is_ok_and(|slot| is_over_budget(&slot)) {
            symbolize(&[idx])?;
        }
    }
    let results = results.into_iter();
    let results = results.map(|slot| slot.into_inner().ok().flatten());
    Ok(SymbolizedBatches {
        batches: batches.into_iter().zip(results).collect(),
        warnings: downloads::warnings(recording),
    })
}

/// Whether something was left out of an image's files, so that they fit into the budget.
pub(super) fn is_over_budget(result: &SymbolizeResult) -> bool {
    match result {
        Ok(symbolized) => symbolized.is_over_budget(),
        Err(reason) => *reason == Reason::OverBudget,
    }
}

/// Runs of locations with the same image.
fn batches_of<'a>(recording: &'a Recording<'_>, locations: &[Location]) -> Vec<ImageBatch<'a>> {
    let images = recording.index.history.images();
    let mut batches = Vec::new();
    let mut start = 0;
    for run in locations.chunk_by(|a, b| a.image == b.image) {
        let end = start + run.len();
        let id = run.first().map(|location| ImageId(location.image));
        batches.push(ImageBatch {
            image: id.and_then(|id| Some((id, images.of(id)?))),
            locations: start..end,
        });
        start = end;
    }
    batches
}

/// Batches as units of work, the longest first so that no thread is left with one at the end: the
/// kernel with its modules, whose list of symbols is read once and forgotten, then images by
/// their number of locations.
fn work_of(batches: &[ImageBatch<'_>]) -> Vec<Vec<usize>> {
    let all = 0..batches.len();
    let (kernel, mut images): (Vec<usize>, Vec<usize>) =
        all.partition(|&idx| batches[idx].is_kernel());
    images.sort_by_key(|&idx| std::cmp::Reverse(batches[idx].locations.len()));
    let mut work = vec![kernel];
    work.extend(images.into_iter().map(|idx| vec![idx]));
    work
}

/// What servers have sent a file for since: of the same work, those batches.
fn work_again(
    recording: &Recording<'_>,
    batches: &[ImageBatch<'_>],
    work: &[Vec<usize>],
) -> Vec<Vec<usize>> {
    downloads::wait(recording);
    let has_come = |idx: &usize| {
        let image = batches[*idx].image;
        image.is_some_and(|(_, image)| downloads::has_come(recording, image))
    };
    work.iter()
        .map(|turn| turn.iter().copied().filter(has_come).collect::<Vec<_>>())
        .filter(|turn| !turn.is_empty())
        .collect()
}

impl ImageBatch<'_> {
    fn is_kernel(&self) -> bool {
        let kind = self.image.map(|(_, image)| image.kind);
        matches!(
            kind,
            Some(ImageKind::Kernel { .. } | ImageKind::Module { .. })
        )
    }

    fn symbolize<'c>(
        &self,
        recording: &'c Recording<'_>,
        locations: &[Location],
        request: Request,
        kernel: &OnceCell<Kernel<'c>>,
    ) -> Option<SymbolizeResult> {
        let (id, image) = self.image?;
        match image.kind {
            ImageKind::User => {
                let offsets: Vec<FileOffset> = locations
                    .iter()
                    .map(|location| FileOffset(location.address))
                    .collect();
                let run_time = jit::name_jit_code(recording, (id, image), &offsets, request);
                if run_time.is_some() {
                    return run_time;
                }
                let located = locate(recording, id, image).map_err(Reason::NoFile);
                Some(located.and_then(|located| symbolize_user(&located, &offsets, request)))
            }
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => {
                let addresses: Vec<Avma> = locations
                    .iter()
                    .map(|location| Avma(location.address))
                    .collect();
                let kernel = kernel.get_or_init(|| Kernel::of(recording));
                Some(kernel.name(image, &addresses, request))
            }
            ImageKind::KernelSymbol
            | ImageKind::KernelFunction
            | ImageKind::OutOfLine
            | ImageKind::GuestKernel
            | ImageKind::GuestUser => None,
        }
    }
}
