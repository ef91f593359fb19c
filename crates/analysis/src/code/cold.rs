//! Samples in cold parts are their functions'.

use super::found::FoundFunction;
use super::images::ImageFiles;
use crate::recording::Recording;
use foldhash::HashMap;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use std::num::NonZeroU32;

/// Adds what was counted in cold parts to their functions, where it is certain whose they are. Parts that stay alone
/// are called parts.
pub(super) fn join_cold<'r>(
    recording: &Recording<'r>,
    files: &ImageFiles<'r>,
    functions: &mut Vec<FoundFunction>,
) {
    // Which names are of cold parts is not to be seen of those that were made readable.
    let mut n_named: HashMap<ImageId, usize> = HashMap::default();
    for function in functions.iter().filter(|one| one.is_named) {
        *n_named.entry(function.image_id).or_default() += 1;
    }
    let mut images: Vec<(usize, ImageId)> = n_named.into_iter().map(|(id, n)| (n, id)).collect();
    // Files with most functions first, or one thread would be left with them at the end.
    images.sort_unstable_by(|one, other| other.cmp(one));
    let recorded = images.into_iter().filter_map(|(_, id)| {
        let image = recording.index.history.images().of(id)?;
        (image.kind == ImageKind::User && !image.is_jit_code()).then_some((id, image))
    });
    let recorded: Vec<(ImageId, &RecordedImage)> = recorded.collect();
    let tables = files.all_cold_parts(recording, &recorded);
    let all = std::mem::take(functions);
    let (cold, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| {
        let table = tables.get(&one.image_id);
        one.is_named && table.is_some_and(|table| table.function(one.start).is_some())
    });
    *functions = others;
    let mut places: HashMap<(ImageId, u64), usize> = HashMap::default();
    for (at, function) in functions.iter_mut().enumerate() {
        places.insert((function.image_id, function.start), at);
        if let Some(table) = tables.get(&function.image_id).filter(|_| function.is_named) {
            let name = std::mem::take(&mut function.name);
            function.name = table.complete(name, function.start);
        }
    }
    for part in cold {
        let table = tables.get(&part.image_id);
        let Some(base) = table.and_then(|table| table.function(part.start)) else {
            continue;
        };
        give(part, base, functions, &mut places);
    }
}

/// Gives the samples of a part to its function, which need not have any itself.
fn give(
    part: FoundFunction,
    (start, size): (u64, u64),
    functions: &mut Vec<FoundFunction>,
    places: &mut HashMap<(ImageId, u64), usize>,
) {
    let place = (part.image_id, start);
    if let Some(function) = places.get(&place).and_then(|&at| functions.get_mut(at)) {
        let own = function.own.iter_mut().zip(&part.own);
        own.for_each(|(own, one)| *own += *one);
        function.locations.extend(part.locations);
        function.locations.sort_unstable();
        return;
    }
    let name = super::parts::base_of_cold(&part.name).unwrap_or(&part.name);
    let size = NonZeroU32::new(u32::try_from(size).unwrap_or(u32::MAX));
    places.insert(place, functions.len());
    functions.push(FoundFunction {
        name: name.to_owned(),
        start,
        size,
        is_named: size.is_some(),
        ..part
    });
}
