//! Lines of call chains: each made once for an address, then copied.

use super::spot::offset_in_dso;
use super::text;
use crate::load::{Address, Cache, Context, Names, PlaceKey, Space};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::Profile;
use rustc_hash::FxHashMap;

/// What a line of a chain shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) ip: bool,
    pub(super) symbol: bool,
    pub(super) offset: bool,
    pub(super) dso: bool,
    /// With the address in the file behind its name.
    pub(super) dso_offset: bool,
}

/// Names of all places, if they are to be shown.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) names: &'a Names,
    pub(super) profile: &'a Profile,
}

/// Lines made so far: one for each place, whatever address it has in which process.
pub(super) struct FrameLines<'a> {
    context: &'a Context<'a>,
    named: Option<Named<'a>>,
    pub(super) shown: Shown,
    cache: Cache,
    /// By place, and whether it is a return address.
    numbers: FxHashMap<(PlaceKey, bool), u32>,
    text: Vec<u8>,
    /// Ends of the lines by number; each starts where the one before ends.
    ends: Vec<u32>,
}

/// Broken chains are full of addresses that occur once: forgotten before they fill the memory.
const MAX_TEXT: usize = 48 << 20;

impl<'a> FrameLines<'a> {
    pub(super) fn new(context: &'a Context<'a>, named: Option<Named<'a>>, shown: Shown) -> Self {
        Self {
            context,
            named,
            shown,
            cache: Cache::new(),
            numbers: FxHashMap::default(),
            text: Vec::new(),
            ends: vec![0],
        }
    }

    /// Appends the lines of an address: one, and one for each function inlined there.
    pub(super) fn append(&mut self, space: Space, address: Address, out: &mut Vec<u8>) {
        if self.text.len() > MAX_TEXT {
            self.text.clear();
            self.ends.truncate(1);
            self.numbers.clear();
            self.cache.clear();
        }
        let history = &self.context.skimmed.history;
        let Self {
            cache,
            numbers,
            text,
            ends,
            context,
            named,
            shown,
        } = self;
        let number = cache.value(history, space, address, |place| {
            let is_return = address.is_return;
            *numbers.entry((place, is_return)).or_insert_with(|| {
                frame_lines(text, context, *named, *shown, is_return, place);
                ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
                u32::try_from(ends.len() - 2).unwrap_or(u32::MAX)
            })
        });
        if let Some(&[start, end]) = ends.get(number as usize..).and_then(<[_]>::first_chunk) {
            let lines = text.get(start as usize..end as usize);
            out.extend_from_slice(lines.unwrap_or_default());
        }
    }
}

fn frame_lines(
    out: &mut Vec<u8>,
    context: &Context<'_>,
    named: Option<Named<'_>>,
    shown: Shown,
    is_return: bool,
    key: PlaceKey,
) {
    let image = context.skimmed.history.images().of(ImageId(key.image));
    // Where in its file user code is, and other addresses as they are: so does perf.
    let ip = key.address.wrapping_add(u64::from(is_return));
    let place = named.map(|named| named.names.place(key));
    let frames = match (named, place) {
        (Some(named), Some(place)) => named.names.frames(place),
        _ => &[],
    };
    let n_inlined = frames.len().saturating_sub(1);
    for idx in 0..=n_inlined {
        if shown.ip {
            out.push(b'\t');
            text::hex(out, ip, 16);
        }
        if shown.symbol {
            let name = named.and_then(|named| {
                let frame = named.profile.frames.of(*frames.get(idx)?);
                Some(named.profile.strings.of(frame.name?))
            });
            out.push(b' ');
            match (name, place, named) {
                (Some(name), Some(place), Some(named)) => {
                    text::name(out, name.as_bytes());
                    if shown.offset {
                        let offset = named.names.offset(place);
                        out.extend_from_slice(b"+0x");
                        text::hex(out, offset.wrapping_add(u64::from(is_return)), 0);
                    }
                }
                _ => out.extend_from_slice(b"[unknown]"),
            }
        }
        if idx < n_inlined {
            out.extend_from_slice(b" (inlined)");
        } else if shown.dso {
            out.extend_from_slice(b" (");
            text::name(out, dso(image));
            if shown.dso_offset {
                offset_in_dso(image, ip, out);
            }
            out.push(b')');
        }
        out.push(b'\n');
    }
}

/// An image as perf script writes it: its whole path.
pub(super) fn dso(image: Option<&RecordedImage>) -> &[u8] {
    match image {
        None => b"[unknown]",
        Some(image) if image.kind == ImageKind::User => &image.path,
        Some(image) => image.short_name(),
    }
}
