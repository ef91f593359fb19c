//! Limits of the kernel's, looked at before it refuses: how often samples are taken, how deep its chains are.

use crate::error::Error;
use crate::note::Note;
use crate::settings::{Rate, Settings};
use rprof_events::Event;

/// The kernel's limit, for a message before it refuses.
pub(super) fn check_max_stack(event: &Event) -> Result<(), Error> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_stack").ok();
    let limit: Option<u16> = text.and_then(|text| text.trim().parse().ok());
    match (event.max_stack, limit) {
        (Some(asked), Some(limit)) if asked > limit => Err(Error::MaxStack {
            event: event.name.clone(),
            asked,
            limit,
        }),
        _ => Ok(()),
    }
}

/// The rate that was asked for, or the highest that the kernel allows.
pub(super) fn allowed_rate(
    settings: &Settings,
    note: &mut dyn FnMut(Note),
) -> Result<Option<Rate>, Error> {
    let Some(Rate::Frequency(from)) = settings.rate else {
        return Ok(settings.rate);
    };
    let limit = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    match limit {
        Some(to) if to < from => {
            // "max" asks for the limit itself.
            if from != u64::MAX && settings.strict_rate {
                return Err(Error::RateTooHigh {
                    asked: from,
                    limit: to,
                });
            }
            if from != u64::MAX {
                note(Note::RateLowered { from, to });
            }
            Ok(Some(Rate::Frequency(to)))
        }
        _ => Ok(settings.rate),
    }
}
