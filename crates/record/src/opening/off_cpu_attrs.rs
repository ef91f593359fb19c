//! The attrs of the events that off-CPU time needs, beside those that were asked for.

use crate::error::Error;
use crate::note::Degraded;
use crate::opening::attrs::{Attrs, Prepared, prepare_event};
use crate::opening::off_cpu::OffCpuEvents;
use crate::settings::Settings;
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::Event;
use rprof_ringbuf::OpenError;
use rprof_targets::CgroupFolder;

/// Adds the events that off-CPU time needs, and says which.
pub(crate) fn add(attrs: &mut Attrs, settings: &Settings) -> OffCpuEvents {
    let mut prepared = Vec::new();
    // Each hit counts, whatever the rate of samples.
    let rate = None;
    let mut prepare = |event: &Event| {
        let mut degraded = Degraded::default();
        let one = prepare_event(event, rate, settings, &mut degraded, &mut |_| {});
        match one {
            // Switches happen in the kernel: without it, the event never happens.
            Ok(one) if is_user_only(&one.attr) && !is_user_only(&event.attr) => {
                Err(OpenError::Access)
            }
            Ok(one) => {
                prepared.push(one);
                Ok(())
            }
            Err(Error::Open { why, .. }) => Err(why),
            Err(_) => Err(OpenError::Invalid),
        }
    };
    let chosen = OffCpuEvents::choose(settings, &mut prepare);
    // Those of a method that was given up come first.
    let n_unused = prepared.len() - chosen.events.len();
    let used = prepared.drain(n_unused..).zip(&chosen.events);
    let used: Vec<Prepared> = used
        .map(|(prepared, one)| Prepared {
            purpose: one.purpose,
            ..prepared
        })
        .collect();
    let sampling = &mut attrs.sampling;
    let groups = sampling.iter().map(|event| event.cgroup.clone());
    let mut groups: Vec<Option<CgroupFolder>> = groups.collect();
    groups.dedup_by_key(|group| group.as_ref().map(|group| group.name().to_owned()));
    for cgroup in groups {
        sampling.extend(used.iter().cloned().map(|event| Prepared {
            cgroup: cgroup.clone(),
            ..event
        }));
    }
    if chosen.needs_records(settings) {
        let flags = &mut attrs.sideband.attr.flags;
        *flags = flags.with(AttrFlags::CONTEXT_SWITCH);
    }
    attrs.inherit_as(settings.inherit);
    chosen
}

/// Lets events be sampled on these CPUs only: records of switches are of all.
pub(crate) fn sample_on(sampling: &mut [Prepared], cpus: &[u32]) {
    for event in sampling {
        let own = event.cpus.take();
        let is_own = |cpu: &u32| own.as_ref().is_none_or(|own| own.contains(cpu));
        event.cpus = Some(cpus.iter().copied().filter(is_own).collect());
    }
}

fn is_user_only(attr: &PerfEventAttr) -> bool {
    attr.flags.has(AttrFlags::EXCLUDE_KERNEL)
}
