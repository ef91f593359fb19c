//! The profile in few bytes, at a detail that has room.

use super::code::PlacedRows;
use super::detail::Detail;
use super::head::{Head, Parts};
use super::joined::{RowSource, Rows};
use super::losses;
use super::options::Page;
use super::packing::Packing;
use super::stacks::Stacks;
use rprof_base::parallel;
use rprof_profile::SampledProfile;
use std::io;
use std::ops::Range;

/// A compressed profile, and the code of its functions.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// Empty if there is none.
    pub(super) code: Vec<u8>,
}

/// A row takes no less than this many bytes, compressed: what cannot fit is not tried.
const MIN_ROW_BYTES: usize = 1;

impl Payload {
    /// The profile in the finest detail that has room; if none has, the coarsest.
    pub(super) fn of(page: &Page, sampled: &SampledProfile, room: usize) -> io::Result<Self> {
        let span_ns = sampled.samples.span_ns();
        let span_ns = span_ns.map_or(0, |span| span.end() - span.start());
        let mut detail = Detail::FULL;
        let mut stacks = stacks_of(sampled, detail);
        let mut rows = Rows::of(sampled);
        // Instructions of rows cost little where rows are samples one by one.
        let has_places = !sampled.places.is_empty();
        let placed = has_places.then(|| PlacedRows {
            rows: &rows,
            source: RowSource::of(sampled, &stacks),
            stacks: &stacks,
            places: &sampled.places,
        });
        let parts = Parts {
            stacks: &stacks,
            rows: &rows,
            detail,
        };
        let profile = || compressed_if(may_fit(&rows, room), page, sampled, &parts);
        let (bytes, mut code) = both(profile, || page.code.stream(placed))?;
        let left = room.saturating_sub(code.len());
        let fitting = bytes.filter(|bytes| bytes.len() <= left && may_fit(&rows, left));
        if let Some(bytes) = fitting {
            return Ok(Self { bytes, code });
        }
        if has_places {
            code = page.code.stream(None)?;
        }
        let room = room.saturating_sub(code.len());
        while let Some(next) = detail.coarser(span_ns) {
            let before = std::mem::replace(&mut detail, next);
            let mut joined = before;
            if (before.threads, before.min_samples) != (detail.threads, detail.min_samples) {
                stacks = stacks_of(sampled, detail);
                rows = Rows::of(sampled);
                joined = Detail::FULL;
            }
            let source = RowSource::of(sampled, &stacks);
            rows.join(source, joined, detail);
            let parts = Parts {
                stacks: &stacks,
                rows: &rows,
                detail,
            };
            let bytes = compressed_if(may_fit(&rows, room), page, sampled, &parts)?;
            if let Some(bytes) = bytes.filter(|bytes| bytes.len() <= room) {
                return Ok(Self { bytes, code });
            }
        }
        let parts = Parts {
            stacks: &stacks,
            rows: &rows,
            detail,
        };
        let bytes = compressed(page, sampled, &parts)?;
        Ok(Self { bytes, code })
    }
}

fn may_fit(rows: &Rows, room: usize) -> bool {
    rows.len().saturating_mul(MIN_ROW_BYTES) <= room
}

/// Makes the profile and the code at the same time.
fn both(
    profile: impl Fn() -> io::Result<Option<Vec<u8>>> + Sync,
    code: impl Fn() -> io::Result<Vec<u8>> + Sync,
) -> io::Result<(Option<Vec<u8>>, Vec<u8>)> {
    let make = |part: Range<usize>| match part.start {
        0 => profile(),
        _ => code().map(Some),
    };
    let mut made = parallel::in_parts(0..2, 2, make).into_iter();
    let (profile, code) = (made.next().transpose()?, made.next().transpose()?);
    Ok((profile.flatten(), code.flatten().unwrap_or_default()))
}

/// The profile, if that is wanted.
fn compressed_if(
    is_wanted: bool,
    page: &Page,
    sampled: &SampledProfile,
    parts: &Parts<'_>,
) -> io::Result<Option<Vec<u8>>> {
    let bytes = is_wanted.then(|| compressed(page, sampled, parts));
    bytes.transpose()
}

fn stacks_of(sampled: &SampledProfile, detail: Detail) -> Stacks {
    if detail.min_samples == 0 {
        return Stacks::of(sampled, |_| true);
    }
    let nodes = sampled.stacks.nodes();
    let mut counts = vec![0u64; nodes.len()];
    for sample in sampled.samples.iter() {
        if let Some(stack) = sample.stack {
            counts[stack as usize] += 1;
        }
    }
    for idx in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[idx].parent {
            counts[parent as usize] += counts[idx];
        }
    }
    Stacks::of(sampled, |node| counts[node] >= detail.min_samples)
}

fn compressed(page: &Page, sampled: &SampledProfile, parts: &Parts<'_>) -> io::Result<Vec<u8>> {
    let head = Head::of(sampled, parts.stacks, parts.detail);
    let mut out = Packing::of(&head.json(page, sampled, parts)?)?;
    head.write_frames(&mut out.bytes);
    parts.stacks.write(&mut out.bytes);
    out.flush()?;
    let source = RowSource::of(sampled, parts.stacks);
    parts.rows.write(source, &mut out)?;
    losses::write(sampled, &mut out.bytes);
    head.write_waits(&mut out.bytes);
    out.finish()
}
