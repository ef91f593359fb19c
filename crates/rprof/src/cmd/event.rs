//! Which event is shown, where one is.

use crate::say;
use anyhow::{Result, bail};
use rprof_analysis::bookkeeping_events;
use rprof_perfdata::Reader;
use rprof_profile::{Account, EventChoice, EventProfile, Profile};
use rprof_untrusted::Untrusted;

/// Says which event is shown, if others have samples, too, and `how` those are.
pub(crate) fn say_which(profile: &Profile, shown: &EventProfile, how: &str) {
    let others = profile.events.iter().filter(|event| event.samples > 0);
    let others = others.filter(|event| event.name.raw() != shown.name.raw());
    let others: Vec<String> = others.map(|event| event.name.to_string()).collect();
    if !others.is_empty() {
        let (name, others) = (&shown.name, others.join(", "));
        say::line(format_args!("event: {name}; {how}: {others}"));
    }
}

/// Says which events are not shown, though they have samples: waiting time is derived from them.
pub(crate) fn say_bookkeeping(reader: &Reader) {
    let events = bookkeeping_events(reader).into_iter();
    let names: Vec<String> = events
        .filter_map(|at| Some(reader.events().get(at)?.name.to_string()))
        .collect();
    if !names.is_empty() {
        say::line(format_args!(
            "not shown: {} (of record --off-cpu); -e NAME shows one, rprof report --off-cpu the time spent waiting",
            names.join(", ")
        ));
    }
}

/// The event that was named; else all that were asked for when they were recorded.
pub(crate) fn chosen(name: Option<&str>) -> EventChoice {
    match name {
        Some(name) => EventChoice::Named(name.to_owned()),
        None => EventChoice::Asked,
    }
}

/// Index of the event with this name, or of the first that has samples; `None` if there are none.
pub(crate) fn choose(profile: &Profile, name: Option<&str>) -> Result<Option<usize>> {
    let Some(name) = name else {
        // An event may have counted nothing.
        let first = profile.events.iter().position(|event| event.samples > 0);
        return Ok(first.or((!profile.events.is_empty()).then_some(0)));
    };
    of_name(profile.events.iter().map(|event| &event.name), name).map(Some)
}

/// Whether a recording has an event with this name, or its samples will be of that event.
pub(crate) fn check(reader: &Reader, account: Account, name: &str) -> Result<()> {
    if let Some((derived, _)) = account.event() {
        let derived = Untrusted::new(derived.to_owned());
        return of_name([&derived].into_iter(), name).map(drop);
    }
    let events = reader.events().iter().filter(|event| !event.is_dummy());
    of_name(events.map(|event| &event.name), name).map(drop)
}

/// Which one it is, or what there is instead.
fn of_name<'n>(
    names: impl Iterator<Item = &'n Untrusted<String>> + Clone,
    name: &str,
) -> Result<usize> {
    match names.clone().position(|one| one.raw() == name) {
        Some(number) => Ok(number),
        None => {
            let names: Vec<String> = names.map(ToString::to_string).collect();
            bail!(
                "no event '{name}' in the recording; it has {}",
                names.join(", ")
            )
        }
    }
}
