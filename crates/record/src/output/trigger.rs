//! Events that rotate the output file when they happen (`--switch-output-event`).

use crate::control::DumpSize;
use crate::error::Error;
use crate::note::Note;
use crate::opening::attrs::Prepared;
use crate::opening::filter::Filter;
use crate::opening::{Group, Scope, open_group};
use crate::probes;
use crate::settings::Settings;
use crate::words::u32_at;
use rprof_abi::{AttrFlags, RecordKind, SampleType};
use rprof_events::Event;
use rprof_probes::text_of;
use rprof_ringbuf::{Counter, OpenError, Target};

/// Their counters, with rings of their own: nothing of them is written.
#[derive(Debug)]
pub(crate) struct Trigger {
    group: Group,
}

impl Trigger {
    /// Opens them for everybody, as perf does; where that is not permitted, for what is recorded. `None` if
    /// there are none.
    pub(crate) fn open(
        settings: &Settings,
        scope: &Scope<'_>,
        note: &mut dyn FnMut(Note),
    ) -> Result<Option<Self>, Error> {
        if settings.writing.rotation_events.is_empty() {
            return Ok(None);
        }
        let events = probes::resolve(&settings.writing.rotation_events, settings, note)?;
        let open = |targets: Vec<Target>| {
            let is_for_all = targets.contains(&Target::All);
            let prepared: Vec<_> = (events.iter())
                .map(|event| prepared(event, is_for_all))
                .collect();
            let scope = Scope {
                targets,
                cpus: scope.cpus.clone(),
                per_thread: false,
                until_exec: false,
                dump_sizes: None,
                also_by_cpu: false,
                ..*scope
            };
            open_group(&prepared, &scope, 1)
        };
        let group = match open(vec![Target::All]) {
            Err(Error::Open {
                why: OpenError::Access,
                ..
            }) => open(scope.targets.clone())?,
            opened => opened?,
        };
        Ok(Some(Self { group }))
    }

    pub(crate) fn enable(&self) -> Result<(), Error> {
        let enabled = self.group.enable(DumpSize::Large);
        enabled.map_err(Error::system("enabling events"))
    }

    /// Those whose rings wake the recorder up.
    pub(crate) fn ring_owners(&self) -> impl Iterator<Item = &Counter> {
        self.group.ring_owners()
    }

    /// Whether any has happened since this was last asked, elsewhere than in the recorder itself.
    pub(crate) fn has_happened(&mut self) -> bool {
        let own = std::process::id();
        let mut has_happened = false;
        for ring in &mut self.group.rings {
            let mut batch = ring.batch();
            // Damage ends a batch, and says that something was there.
            while let Some(record) = batch.next().unwrap_or(Some(&[])) {
                has_happened |= !is_own(record, own);
                if record.is_empty() {
                    break;
                }
            }
        }
        has_happened
    }
}

/// Whether a record is a sample of this process: header, IDENTIFIER, TID.
fn is_own(record: &[u8], own: u32) -> bool {
    u32_at(record, 0) == Some(RecordKind::SAMPLE.0) && u32_at(record, 16) == Some(own)
}

/// An event that wakes the recorder up each time, unless it has a period of its own.
fn prepared(event: &Event, is_for_all: bool) -> Prepared {
    let mut attr = event.attr.clone();
    attr.sample_period = attr.sample_period.max(1);
    attr.sample_type = SampleType::IDENTIFIER.with(SampleType::TID);
    attr.flags = attr
        .flags
        .with(AttrFlags::DISABLED)
        .with(AttrFlags::WATERMARK);
    attr.wakeup = 1;
    if !is_for_all && event.probe.is_none() {
        attr.flags = attr.flags.with(AttrFlags::INHERIT);
    }
    if !is_for_all && event.user_only().is_some() {
        let flags = attr.flags.with(AttrFlags::EXCLUDE_KERNEL);
        attr.flags = flags.with(AttrFlags::EXCLUDE_HV);
    }
    Prepared {
        cpus: event.cpus.clone(),
        text: text_of(event),
        filter: Filter::from_event(event),
        ..Prepared::new(event.name.clone(), attr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_the_recorder_itself_do_not_count() {
        let record = |kind: u32, pid: u32| {
            let words = [kind, 0, 7, 0, pid, pid];
            words.map(u32::to_ne_bytes).concat()
        };
        let sample = RecordKind::SAMPLE.0;
        assert!(is_own(&record(sample, 5), 5));
        assert!(!is_own(&record(sample, 6), 5));
        // Something was lost, or damaged.
        assert!(!is_own(&record(RecordKind::LOST.0, 5), 5));
        assert!(!is_own(&[], 5));
    }
}
