//! PMUs in sysfs: their terms and their named events.

use super::{EventList, ListKind, ListedEvent, ListedPmu, Selection};
use crate::Sources;
use crate::pmu::Pmu;

/// Adds PMUs and their events. A PMU is listed if its name fits, or an event of it.
pub(super) fn list(sources: &Sources, selection: &Selection, list: &mut EventList) {
    if !selection.wants(ListKind::Pmu) {
        return;
    }
    for pmu in Pmu::load_all(sources) {
        let is_named = selection.fits(&pmu.name);
        let n_before = list.events.len();
        for alias in pmu.alias_names() {
            let event = listed(&pmu, &alias);
            if is_named || selection.fits(&event.name) {
                list.events.push(event);
            }
        }
        let terms = terms(&pmu);
        let has_own = !terms.is_empty() || list.events.len() > n_before;
        if has_own && (is_named || list.events.len() > n_before) {
            list.pmus.push(ListedPmu {
                name: pmu.name,
                kind: pmu.kind,
                cpus: pmu.cpus,
                terms,
            });
        }
    }
}

/// Terms that can be read, with what they set.
fn terms(pmu: &Pmu) -> Vec<(String, String)> {
    let with_text = |name: String| {
        let text = pmu.format_text(&name)?;
        Some((name, text))
    };
    (pmu.format_names().into_iter())
        .filter_map(with_text)
        .collect()
}

fn listed(pmu: &Pmu, alias: &str) -> ListedEvent {
    let terms = pmu.alias(alias).and_then(Result::ok);
    // As in `perf list`: what is left to the user is part of the name.
    let open = terms.iter().flat_map(|terms| terms.split(','));
    let open: String = open
        .filter(|term| term.ends_with("=?"))
        .map(|term| format!(",{term}"))
        .collect();
    let name = format!("{}/{alias}{open}/", pmu.name);
    ListedEvent {
        description: pmu.about_alias(alias, "event_descs", "").or(terms),
        unit: pmu.about_alias(alias, "events", ".unit"),
        scale: pmu.about_alias(alias, "events", ".scale"),
        ..ListedEvent::named(ListKind::Pmu, name)
    }
}
