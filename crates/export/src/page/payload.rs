//! The profile in few bytes, at a detail that has room.

use super::code::PlacedRows;
use super::detail::Detail;
use super::head::{Head, Parts};
use super::joined::{RowSource, Rows};
use super::losses;
use super::options::Page;
use super::packing::Packing;
use super::stacks::Stacks;
use rprof_profile::SampledProfile;
use std::io;

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
        let mut code = page.code.stream(has_places.then(|| PlacedRows {
            rows: &rows,
            source: RowSource::of(sampled, &stacks),
            stacks: &stacks,
            places: &sampled.places,
        }))?;
        loop {
            let room = room.saturating_sub(code.len());
            if rows.len().saturating_mul(MIN_ROW_BYTES) <= room {
                let bytes = compressed(
                    page,
                    sampled,
                    &Parts {
                        stacks: &stacks,
                        rows: &rows,
                        detail,
                    },
                )?;
                if bytes.len() <= room {
                    return Ok(Self { bytes, code });
                }
            }
            if detail == Detail::FULL && has_places {
                code = page.code.stream(None)?;
            }
            let before = detail;
            let Some(next) = detail.coarser(span_ns) else {
                let parts = Parts {
                    stacks: &stacks,
                    rows: &rows,
                    detail,
                };
                return Ok(Self {
                    bytes: compressed(page, sampled, &parts)?,
                    code,
                });
            };
            detail = next;
            let mut joined = before;
            if (before.threads, before.min_samples) != (detail.threads, detail.min_samples) {
                stacks = stacks_of(sampled, detail);
                rows = Rows::of(sampled);
                joined = Detail::FULL;
            }
            let source = RowSource::of(sampled, &stacks);
            rows.join(source, joined, detail);
        }
    }
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
