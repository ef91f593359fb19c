//! The attrs of groups: members follow their leader. Whether the kernel takes a group is tried.

use crate::error::Error;
use crate::note::Note;
use crate::opening::attrs::Prepared;
use crate::opening::groups::units;
use crate::opening::trial::Trial;
use rprof_abi::{AttrFlags, PerfEventAttr, ReadFormat};
use rprof_events::Grouping;
use rprof_ringbuf::{OpenError, OpenWith};

/// Completes the attrs of groups, and tries whether the kernel takes them. Of a weak group that it does not
/// take, each event is counted alone.
///
/// # Errors
/// [`Error::Group`] for a group that the kernel does not take.
pub(crate) fn complete(
    events: &mut [Prepared],
    trial: Trial,
    note: &mut dyn FnMut(Note),
) -> Result<(), Error> {
    for unit in units(events.iter().map(|event| &event.grouping)) {
        let Some((leader, members)) = events[unit].split_first_mut() else {
            continue;
        };
        if members.is_empty() {
            leader.grouping = Grouping::Alone;
            continue;
        }
        let separate: Vec<PerfEventAttr> = members.iter().map(|one| one.attr.clone()).collect();
        complete_attrs(leader, members);
        let Err((at, why)) = trial.open_group(leader, members) else {
            continue;
        };
        let is_weak = matches!(leader.grouping, Grouping::Leader { is_weak: true, .. });
        // What is read with its leader takes no samples by itself.
        if !is_weak || members.iter().any(|member| member.grouping.is_read()) {
            return Err(Error::Group {
                leader: leader.name.clone(),
                member: members.get(at).unwrap_or(leader).name.clone(),
                why,
            });
        }
        note(Note::GroupSplit {
            leader: leader.name.clone(),
        });
        split(leader, members, separate);
    }
    Ok(())
}

/// As perf: members are on whenever their leader is; those that are read with it look like it to readers.
fn complete_attrs(leader: &mut Prepared, members: &mut [Prepared]) {
    let has_values = members.iter().any(|member| member.grouping.is_read());
    if has_values {
        leader.attr.read_format = leader.attr.read_format.with(ReadFormat::GROUP);
    }
    for member in members {
        let attr = &mut member.attr;
        attr.flags = attr.flags.without(AttrFlags::DISABLED);
        if member.grouping.is_read() {
            attr.sample_type = leader.attr.sample_type;
            attr.read_format = leader.attr.read_format;
        }
    }
}

/// Makes events of a group single ones, with the attrs that they had before.
fn split(leader: &mut Prepared, members: &mut [Prepared], separate: Vec<PerfEventAttr>) {
    leader.grouping = Grouping::Alone;
    for (member, attr) in members.iter_mut().zip(separate) {
        member.attr = attr;
        member.grouping = Grouping::Alone;
    }
}

impl Trial {
    /// Opens a group for a moment; the error says at which member.
    fn open_group(self, leader: &Prepared, members: &[Prepared]) -> Result<(), (usize, OpenError)> {
        let trial = self.on_cpus_of(leader.cpus.as_deref());
        let open = |event: &Prepared, leader| {
            let text = event.text.as_deref();
            trial.open_with(&event.attr, OpenWith { leader, text })
        };
        let leader = open(leader, None).map_err(|why| (usize::MAX, why))?;
        let mut opened = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let member = open(member, Some(&leader));
            opened.push(member.map_err(|why| (at, why))?);
        }
        Ok(())
    }
}
