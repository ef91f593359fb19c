//! Probes: from names of functions and markers to places in files, and to events that happen there.
//!
//! The kernel has two ways to make an event of a place ([`text_of`], [`Defined`]):
//!
//! - the PMUs `uprobe` and `kprobe` take a path (or a function of the kernel) and an offset with the event. They read
//!   the path from the memory of the process that opens the event, and again, at the same address, from that of each
//!   process that inherits it. So these events cannot be inherited.
//! - a definition in tracefs is a tracepoint, which threads and children inherit.

mod defined;
mod error;
mod files;
mod function_dwarf;
mod functions;
mod location;
mod parameters;
mod recorded;
mod searched;
mod tracefs;
mod value;

use defined::is_return;
pub use defined::{Defined, is_defined};
pub use error::{DefineError, NoPlace, ProbeError};
pub use functions::readable;
pub use searched::Searched;
pub use tracefs::Tracefs;

use location::ProbeLocation;
use rprof_base::{Svma, glob_matches, is_glob};
use rprof_events::{
    Event, Grouping, ProbePoint, ProbeSite, ProbedCode, Sources, set_semaphore, suggest,
};
use rprof_images::{Elf, Marker, markers};
use rprof_untrusted::Budget;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most places of one pattern. Each stops every program that comes there, and is an open file on each CPU.
const MOST_PLACES: usize = 256;

/// The events with each probe's place; patterns give several.
///
/// # Errors
/// The first probe without a place, and why.
pub fn resolve(events: &[Event], searched: Searched<'_>) -> Result<Vec<Event>, NoPlace> {
    let mut resolved = Vec::new();
    for event in events {
        let Some(point) = &event.probe else {
            resolved.push(event.clone());
            continue;
        };
        let found = resolve_one(event, point, searched);
        resolved.extend(found.map_err(|source| NoPlace {
            event: event.name.clone(),
            source,
        })?);
    }
    Ok(resolved)
}

/// Whether a probe may be in the middle of an instruction: nothing here knows how long instructions are.
pub fn is_inside(site: &ProbeSite) -> bool {
    match site {
        ProbeSite::Function { offset, .. } => *offset > 0,
        ProbeSite::Address(_) => true,
        ProbeSite::Marker { .. } => false,
    }
}

fn resolve_one(
    event: &Event,
    point: &ProbePoint,
    searched: Searched<'_>,
) -> Result<Vec<Event>, ProbeError> {
    if point.code == ProbedCode::Kernel {
        if point.with_parameters().is_some() {
            return Err(ProbeError::KernelParameters);
        }
        return in_kernel(event, point).map(|event| vec![event]);
    }
    let mut events = Vec::new();
    let places = places(point, searched)?;
    let has_parameters = places.iter().any(|place| place.arguments.is_some());
    if has_parameters && is_return(event) {
        return Err(ProbeError::AtReturn);
    }
    if places.len() > MOST_PLACES {
        return Err(ProbeError::TooMany { n: places.len() });
    }
    for place in places {
        let mut one = event.clone();
        one.name = name_of(event, point, &place);
        one.attr.config2 = place.offset;
        if let Some(semaphore) = place.semaphore {
            set_semaphore(&mut one.attr, semaphore, &Sources::default())
                .map_err(|_| ProbeError::NoSemaphores)?;
        }
        one.probe = Some(ProbePoint {
            code: ProbedCode::File(place.path),
            site: point.site.clone(),
            arguments: place.arguments.unwrap_or_else(|| point.arguments.clone()),
        });
        if let (Grouping::Leader { .. }, false) = (&event.grouping, events.is_empty()) {
            let is_read = event.sample_read;
            one.grouping = Grouping::Member { is_read };
        }
        events.push(one);
    }
    Ok(events)
}

fn in_kernel(event: &Event, point: &ProbePoint) -> Result<Event, ProbeError> {
    let mut event = event.clone();
    match &point.site {
        ProbeSite::Function { name, .. } if is_glob(name) => return Err(ProbeError::KernelPattern),
        ProbeSite::Function { offset, .. } => event.attr.config2 = *offset,
        ProbeSite::Address(address) => event.attr.config2 = *address,
        ProbeSite::Marker { .. } => return Err(ProbeError::NoFile),
    }
    Ok(event)
}

/// What the kernel reads where `config1` points to: a path, or the name of a function of the kernel.
pub fn text_of(event: &Event) -> Option<CString> {
    let point = event.probe.as_ref()?;
    let text = match (&point.code, &point.site) {
        (ProbedCode::File(path), _) => path.as_os_str().as_bytes().to_vec(),
        (ProbedCode::Kernel, ProbeSite::Function { name, .. }) => name.clone().into_bytes(),
        _ => return None,
    };
    CString::new(text).ok()
}

/// The name of what a pattern found, in the place of the pattern.
fn name_of(event: &Event, point: &ProbePoint, place: &ProbeLocation) -> String {
    let Some(found) = &place.name else {
        return event.name.clone();
    };
    let parameters = point
        .with_parameters()
        .filter(|_| place.arguments.is_some());
    let wanted = match &point.site {
        ProbeSite::Function { name, .. } => name.clone(),
        ProbeSite::Marker { provider, name } => format!("{provider}:{name}"),
        ProbeSite::Address(_) => return event.name.clone(),
    };
    // From behind: the path may have the same word.
    match event.name.rsplit_once(&wanted) {
        Some((before, after)) => match parameters {
            Some(point) => format!("{before}{found}({}){after}", point.arguments.join(",")),
            None => format!("{before}{found}{after}"),
        },
        None => event.name.clone(),
    }
}

fn places(point: &ProbePoint, searched: Searched<'_>) -> Result<Vec<ProbeLocation>, ProbeError> {
    let open = |path: &Path| {
        let path = files::found(path, searched);
        Elf::open(&path, &Budget::default()).map_err(ProbeError::File)
    };
    match (&point.code, &point.site) {
        (ProbedCode::File(path), ProbeSite::Function { name, offset }) => {
            let elf = open(path)?;
            match (
                functions::places(&elf, name, *offset),
                point.with_parameters(),
            ) {
                (Err(ProbeError::NoFunction { .. }), Some(point)) => with_parameters(&elf, &point),
                (places, _) => places,
            }
        }
        (ProbedCode::File(path), ProbeSite::Address(address)) => {
            let place = ProbeLocation::at(&open(path)?, None, Svma(*address), None)?;
            Ok(vec![place])
        }
        (ProbedCode::File(path), ProbeSite::Marker { provider, name }) => {
            marked(&[open(path)?], provider, name)
        }
        (_, ProbeSite::Marker { provider, name }) => {
            marked(&recorded::files(searched)?, provider, name)
        }
        _ => Err(ProbeError::NoFile),
    }
}

/// Where functions start, with places of their parameters there.
fn with_parameters(elf: &Elf, point: &ProbePoint) -> Result<Vec<ProbeLocation>, ProbeError> {
    let ProbeSite::Function { name, .. } = &point.site else {
        return Ok(Vec::new());
    };
    let found = functions::places(elf, name, 0)?;
    if found.len() > MOST_PLACES {
        return Err(ProbeError::TooMany { n: found.len() });
    }
    let (mut places, mut first_error) = (Vec::new(), None);
    for mut place in found {
        let name = place.name.as_deref().unwrap_or(name);
        match parameters::place_arguments(elf, name, place.address, &point.arguments) {
            Ok(placed) => {
                place.arguments = Some(placed);
                places.push(place);
            }
            // Of overloads, parts of a function and what a pattern fits, those count that have such parameters.
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if places.is_empty() => Err(error),
        _ => Ok(places),
    }
}

/// Where the markers of this provider and name, or of these patterns, are.
fn marked(files: &[Elf], provider: &str, name: &str) -> Result<Vec<ProbeLocation>, ProbeError> {
    let mut places = Vec::new();
    let mut known = BTreeSet::new();
    for elf in files {
        for marker in markers(elf) {
            let Marker {
                provider: own_provider,
                name: own_name,
                address,
                semaphore,
            } = marker;
            let full = format!("{own_provider}:{own_name}");
            if glob_matches(provider, &own_provider) && glob_matches(name, &own_name) {
                places.push(ProbeLocation::at(elf, Some(full), address, semaphore)?);
            } else {
                known.insert(full);
            }
        }
    }
    if places.is_empty() {
        let marker = format!("{provider}:{name}");
        let paths: Vec<String> = files
            .iter()
            .map(|elf| elf.path().display().to_string())
            .collect();
        return Err(ProbeError::NoMarker {
            suggestions: suggest(&marker, known),
            searched: match &paths[..] {
                [one] => one.clone(),
                many => format!(
                    "the {} executable files of the recorded processes",
                    many.len()
                ),
            },
            marker,
        });
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_functions_start_instructions_are_known_to_begin() {
        let function = |offset| ProbeSite::Function {
            name: "f".to_owned(),
            offset,
        };
        assert!(!is_inside(&function(0)));
        assert!(is_inside(&function(1)) && is_inside(&ProbeSite::Address(8)));
    }
}
