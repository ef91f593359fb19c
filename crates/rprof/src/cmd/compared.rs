//! `rprof export --against`: the events that both recordings have, for a page.

use super::against::Before;
use super::sure::SureEvents;
use super::trees::{NamedEvent, event_called};
use crate::say;
use anyhow::{Context, Result};
use rprof_diff::NamedRun;
use rprof_export::{ComparedRecordings, DifferentialPage, EventOfBoth, Page, PageCode};
use rprof_profile::Profile;
use rprof_profile::view::{FirstFrame, ThreadNames};
use rprof_report::quality_line;

/// All events that can be compared, and the page of them.
///
/// # Errors
/// If there are none, what is wrong with the first.
pub(super) fn compared(
    before: &Before,
    run: NamedRun,
    profile: &Profile,
) -> Result<(DifferentialPage, ComparedRecordings)> {
    let name = run.name.clone();
    let mut events = Vec::new();
    let mut refused = Vec::new();
    let mut notes = vec![
        format!("before: {}", quality_line(before.profile())),
        format!("after: {}", quality_line(profile)),
    ];
    for event in &profile.events {
        let other = event_called(before.profile(), event.name.raw());
        let is_empty = event.samples == 0 && other.is_none_or(|other| other.samples == 0);
        if is_empty && profile.events.len() > 1 {
            continue;
        }
        if let Some(other) = other.filter(|other| other.name.raw() != event.name.raw()) {
            notes.push(format!("comparing {} with {}", event.name, other.name));
        }
        let after = NamedEvent {
            name: name.clone(),
            profile,
            event,
        };
        match before.tree(after, (FirstFrame::Outermost, ThreadNames::Pooled)) {
            Ok(tree) => events.push(EventOfBoth {
                name: event.name.raw().to_owned(),
                kind: event.kind,
                tree,
                sure: Vec::new(),
            }),
            Err(error) => refused.push(error),
        }
    }
    if events.is_empty() {
        let first = refused.into_iter().next();
        return Err(first.context("the recording has no events to compare")?);
    }
    for error in refused {
        say::warning(&error);
        notes.push(error.to_string());
    }
    let measures = SureEvents::all(&before.with(run))?;
    for event in &mut events {
        let sure = measures.iter();
        let sure = sure.map(|one| one.changes(&event.name, event.kind));
        event.sure = sure.collect();
    }
    let warnings = before.profile().warnings.iter().chain(&profile.warnings);
    notes.extend(warnings.cloned());
    let before = before.name();
    let page = Page {
        title: format!("{before} → {name}"),
        recording: None,
        notes,
        code: PageCode::default(),
        is_filtered: false,
        max_bytes: Page::MAX_BYTES,
    };
    let recordings = ComparedRecordings {
        names: [before, name],
        measures: measures.iter().map(|one| one.scaling).collect(),
        events,
    };
    Ok((DifferentialPage(page), recordings))
}
