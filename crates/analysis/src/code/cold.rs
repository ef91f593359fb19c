//! Samples in cold parts are their functions'.

use super::found::FoundFunction;
use super::parts::{base_of_cold, for_each};
use crate::binaries::locate;
use crate::recording::Recording;
use foldhash::{HashMap, HashSet};
use rprof_images::Located;
use rprof_machine::{ImageId, ImageKind};
use std::num::NonZeroU32;

/// Adds what was counted in cold parts to their functions, where it is certain whose they are.
pub(super) fn join_cold(recording: &Recording<'_>, functions: &mut Vec<FoundFunction>) {
    for image in images_to_ask(functions) {
        let recorded = recording.index.history.images().of(image);
        let is_user = |image: &rprof_machine::RecordedImage| {
            image.kind == ImageKind::User && !image.is_jit_code()
        };
        let Some(recorded) = recorded.filter(|recorded| is_user(recorded)) else {
            continue;
        };
        if let Ok(located) = locate(recording, image, recorded) {
            join(image, &located, functions);
        }
    }
}

/// Images with functions that may be cold parts. Names that are made readable do not say it: the part has its
/// function's.
fn images_to_ask(functions: &[FoundFunction]) -> Vec<ImageId> {
    let mut seen: HashSet<(ImageId, &str)> = HashSet::default();
    let mut images: Vec<ImageId> = Vec::new();
    for function in functions {
        let id = function.image_id;
        let is_new = seen.insert((id, &function.name));
        let may_be_cold =
            !is_new || base_of_cold(&function.name).is_some() || function.name.contains("::");
        if function.is_named && may_be_cold && !images.contains(&id) {
            images.push(id);
        }
    }
    images
}

fn join(image: ImageId, located: &Located, functions: &mut Vec<FoundFunction>) {
    let of_image = |one: &&FoundFunction| one.image_id == image && one.is_named;
    let starts: HashSet<u64> = functions
        .iter()
        .filter(of_image)
        .map(|one| one.start)
        .collect();
    // Cold parts with samples: where each begins, and what it is called.
    let mut cold: HashMap<u64, String> = HashMap::default();
    for_each(located, &mut |function| {
        if starts.contains(&function.address.0) && base_of_cold(function.name).is_some() {
            cold.entry(function.address.0)
                .or_insert_with(|| function.name.to_owned());
        }
    });
    if cold.is_empty() {
        return;
    }
    let bases: HashSet<&str> = cold
        .values()
        .filter_map(|name| base_of_cold(name))
        .collect();
    // Where functions are that have a name of interest, the first of each, and whether there are others.
    let mut places: HashMap<String, (u64, u64, bool)> = HashMap::default();
    let parts: HashSet<&str> = cold.values().map(String::as_str).collect();
    for_each(located, &mut |function| {
        let address = function.address.0;
        if bases.contains(function.name) || parts.contains(function.name) {
            let place = places.entry(function.name.to_owned());
            let place = place.or_insert((address, function.size, false));
            place.2 |= place.0 != address;
        }
    });
    let only = |name: &str| places.get(name).filter(|place| !place.2).copied();
    let mut cold: Vec<(&u64, &String)> = cold.iter().collect();
    cold.sort_unstable();
    for (&start, name) in cold {
        let base = base_of_cold(name).and_then(only);
        if let (Some((base, size, _)), Some(_)) = (base, only(name)) {
            give(image, start, (base, size), functions);
        }
    }
}

/// Gives the samples of a part to its function, which need not have any itself.
fn give(image: ImageId, part: u64, (start, size): (u64, u64), functions: &mut Vec<FoundFunction>) {
    let position = |functions: &[FoundFunction], start: u64| {
        let mut all = functions.iter();
        all.position(|one| (one.image_id, one.start) == (image, start))
    };
    let Some(at) = position(functions, part) else {
        return;
    };
    let cold = functions.remove(at);
    match position(functions, start).and_then(|base| functions.get_mut(base)) {
        Some(function) => {
            let own = function.own.iter_mut().zip(&cold.own);
            own.for_each(|(own, one)| *own += *one);
            function.locations.extend(cold.locations);
            function.locations.sort_unstable();
        }
        None => {
            let name = base_of_cold(&cold.name).unwrap_or(&cold.name).to_owned();
            let size = NonZeroU32::new(u32::try_from(size).unwrap_or(u32::MAX));
            functions.push(FoundFunction {
                name,
                start,
                size,
                is_named: size.is_some(),
                ..cold
            });
        }
    }
}
