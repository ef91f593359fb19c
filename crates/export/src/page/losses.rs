//! Moments of losses, few of them.

use super::columns::{difference, unsigned};
use rprof_profile::SampledProfile;
use rprof_profile::TimedLoss;

/// Moments of losses at most; more are joined.
const MAX_LOSSES: u64 = 4096;

/// Moments of losses: since the first sample, and how many.
pub(super) fn write(sampled: &SampledProfile, out: &mut Vec<u8>) {
    let start_ns = sampled.samples.span_ns().map_or(0, |span| *span.start());
    let losses = joined_losses(sampled);
    let mut before = 0;
    for TimedLoss { time_ns, samples } in losses {
        // A loss may be before the first sample.
        let since = time_ns.wrapping_sub(start_ns);
        difference(out, since, before);
        unsigned(out, samples);
        before = since;
    }
}

/// Losses, those within a short time as one if there are many.
pub(super) fn joined_losses(sampled: &SampledProfile) -> Vec<TimedLoss> {
    let losses = &sampled.losses;
    let (Some(first), Some(last)) = (losses.first(), losses.last()) else {
        return Vec::new();
    };
    if losses.len() as u64 <= MAX_LOSSES {
        return losses.clone();
    }
    let slot_ns = (last.time_ns.saturating_sub(first.time_ns) / MAX_LOSSES).max(1);
    let slot = |loss: &TimedLoss| loss.time_ns.saturating_sub(first.time_ns) / slot_ns;
    let mut joined: Vec<TimedLoss> = Vec::new();
    for loss in losses {
        match joined.last_mut().filter(|last| slot(last) == slot(loss)) {
            Some(last) => last.samples = last.samples.saturating_add(loss.samples),
            None => joined.push(*loss),
        }
    }
    joined
}
