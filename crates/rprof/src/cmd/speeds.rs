//! The slow spans of a recording against its others: `rprof diff --slower-than p99 perf.data`.

use super::reading::open_any_file;
use crate::args::DiffArgs;
use anyhow::Result;
use rprof_analysis::span_events;
use rprof_diff::Per;
use rprof_profile::{Account, SpanSide, SpanSpeed};
use std::path::PathBuf;

/// Which spans are on each side.
pub(super) struct Speeds {
    asked: SpanSpeed,
}

impl Speeds {
    /// `None` if recordings are compared, and not what one of them has.
    pub(super) fn of(
        args: &DiffArgs,
        before: &[PathBuf],
        after: &[PathBuf],
    ) -> Result<Option<Self>> {
        let asked = args.filters.filter().span_speed;
        Ok(asked
            .filter(|_| before == after)
            .map(|asked| Self { asked }))
    }

    /// Those of the first side or the second, and what they are called.
    pub(super) fn at(&self, side: usize) -> (SpanSpeed, &'static str) {
        let speed = match side {
            0 => self.asked.other_side(),
            _ => self.asked.clone(),
        };
        let what = match speed.side {
            SpanSide::Slower => "slow",
            SpanSide::Others => "other",
        };
        (speed, what)
    }
}

/// What amounts are divided by, if nobody says: slow spans are compared with others by what each took.
pub(super) fn usual_per(
    args: &DiffArgs,
    before: &[PathBuf],
    after: &[PathBuf],
) -> Result<Option<Per>> {
    let filter = args.filters.filter();
    let (Some(speed), true) = (filter.span_speed, before == after) else {
        return Ok(None);
    };
    let (Some(path), Account::OnCpu) = (before.first(), filter.account) else {
        return Ok(Some(Per::Event));
    };
    let reader = open_any_file(path, args.limits)?;
    let mut begins = span_events(&reader).into_iter();
    let mut begins = begins.by_ref().filter(|(name, _)| {
        let asked = speed.name.as_deref();
        asked.is_none_or(|asked| asked == name.raw())
    });
    // Of several events, none counts all spans.
    Ok(Some(match (begins.next(), begins.next()) {
        (Some((_, event)), None) => Per::Count(event.into_raw()),
        _ => Per::Event,
    }))
}
