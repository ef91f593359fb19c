//! Lines of call chains: each made once for a location, then copied.

use crate::data_address::offset_in_dso;
use crate::text;
use foldhash::HashMap;
use rprof_analysis::{Address, Location, LocationCache, Mappings, Query, ResolvedSample, Symbols};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_untrusted::{JsonLayout, JsonWriter, Untrusted};
use std::borrow::Cow;
use std::mem;

/// What a line of a chain shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) ip: bool,
    pub(crate) symbol: bool,
    pub(crate) offset: bool,
    pub(crate) dso: bool,
    /// With the address in the file after its name.
    pub(crate) dso_offset: bool,
    pub(crate) source_line: bool,
    /// Inlined functions as frames of their own.
    pub(crate) inlines: bool,
    /// Objects, with a comma behind each.
    pub(crate) json: bool,
}

/// Lines made so far: one for each location, whatever address it has in which process.
pub(crate) struct FrameLines<'a> {
    query: &'a Query<'a>,
    symbols: Option<&'a Symbols>,
    pub(crate) shown: Shown,
    /// Where the lines of addresses start.
    cache: LocationCache,
    /// By location, and whether it is a return address: where its lines start.
    starts: HashMap<(Location, bool), u32>,
    lines: LineStore,
    /// Where the lines of the chain at hand start, so far.
    found: Vec<u32>,
    /// Functions whose callers are not shown.
    stop_at: &'a [String],
}

impl<'a> FrameLines<'a> {
    pub(crate) fn new(
        query: &'a Query<'a>,
        symbols: Option<&'a Symbols>,
        shown: Shown,
        stop_at: &'a [String],
    ) -> Self {
        Self {
            query,
            symbols,
            shown,
            cache: LocationCache::for_samples(query.recording.index.n_samples),
            starts: HashMap::default(),
            lines: LineStore::default(),
            found: Vec::new(),
            stop_at,
        }
    }

    /// Appends the lines of a sample's chain: for each address one, and one for each function inlined there.
    pub(crate) fn append_chain(&mut self, sample: &ResolvedSample<'_, '_>, out: &mut Vec<u8>) {
        let mut goes_on = true;
        sample.for_each_recorded_address(|address| {
            if self.lines.is_full() {
                goes_on = goes_on && self.copy_found(out);
                self.forget();
            }
            // Found first and copied then: so one frame's memory is not waited for before the next one's is asked for.
            let start = self.find(sample.mappings, address);
            self.found.push(start);
        });
        if goes_on {
            self.copy_found(out);
        }
        self.found.clear();
    }

    /// Appends the lines found so far; returns whether callers are shown, too.
    fn copy_found(&self, out: &mut Vec<u8>) -> bool {
        self.found.iter().all(|&start| {
            let (lines, stops) = self.lines.at(start);
            out.extend_from_slice(lines);
            !stops
        })
    }

    /// Broken chains are full of addresses that occur once: forgotten before they fill the memory.
    fn forget(&mut self) {
        self.lines = LineStore::default();
        self.starts.clear();
        self.cache.clear();
        self.found.clear();
    }

    /// Where the lines of an address start.
    #[inline]
    fn find(&mut self, mappings: Mappings, address: Address) -> u32 {
        let history = &self.query.recording.index.history;
        let Self {
            cache,
            starts,
            lines,
            query,
            symbols,
            shown,
            stop_at,
            ..
        } = self;
        cache.value(history, mappings, address, |location| {
            let is_return = address.is_return;
            *starts.entry((location, is_return)).or_insert_with(|| {
                let line = Line::of(query, *symbols, *shown, is_return, location);
                lines.add(|text| line.append_all(stop_at, text))
            })
        })
    }
}

/// Lines, each with its length in front: one place in memory to look at.
#[derive(Default)]
struct LineStore {
    text: Vec<u8>,
}

impl LineStore {
    const MAX_BYTES: usize = 48 << 20;

    /// Of the word in front of lines: the chain stops there.
    const STOPS: u32 = 1 << 31;

    fn is_full(&self) -> bool {
        self.text.len() > Self::MAX_BYTES
    }

    /// Adds what `append` appends, which says whether the chain stops there. Returns where it is.
    fn add(&mut self, append: impl FnOnce(&mut Vec<u8>) -> bool) -> u32 {
        let start = self.text.len();
        self.text.extend_from_slice(&[0; 4]);
        let stops = append(&mut self.text);
        let len = self.text.len() - start - 4;
        // Names are far shorter.
        let len = u32::try_from(len).unwrap_or(u32::MAX).min(!Self::STOPS);
        let word = len | if stops { Self::STOPS } else { 0 };
        self.text[start..start + 4].copy_from_slice(&word.to_ne_bytes());
        u32::try_from(start).unwrap_or(u32::MAX)
    }

    /// The lines that start there, and whether the chain stops there.
    #[inline]
    fn at(&self, start: u32) -> (&[u8], bool) {
        let rest = self.text.get(start as usize..).unwrap_or_default();
        let Some((word, rest)) = rest.split_first_chunk() else {
            return (&[], false);
        };
        let word = u32::from_ne_bytes(*word);
        let lines = rest.get(..(word & !Self::STOPS) as usize);
        (lines.unwrap_or_default(), word & Self::STOPS != 0)
    }
}

/// The line of one location, or its lines: one for each function inlined there.
struct Line<'a> {
    /// With the number of the location.
    symbols: Option<(&'a Symbols, u32)>,
    image: Option<&'a RecordedImage>,
    /// Where in its file user code is, and other addresses as they are: so does perf.
    ip: u64,
    is_return: bool,
    shown: Shown,
}

impl<'a> Line<'a> {
    fn of(
        query: &'a Query<'_>,
        symbols: Option<&'a Symbols>,
        shown: Shown,
        is_return: bool,
        key: Location,
    ) -> Self {
        let images = query.recording.index.history.images();
        Self {
            symbols: symbols.map(|symbols| (symbols, symbols.number(key))),
            image: images.of(ImageId(key.image)),
            ip: key.address.wrapping_add(u64::from(is_return)),
            is_return,
            shown,
        }
    }

    /// Appends all lines, up to one of the functions to stop at; returns whether there is one.
    fn append_all(&self, stop_at: &[String], out: &mut Vec<u8>) -> bool {
        let frames = self
            .symbols
            .map(|(symbols, location)| symbols.frames(location));
        if self
            .symbols
            .is_some_and(|(symbols, one)| symbols.is_hidden(one))
        {
            return false;
        }
        let outermost = frames.map_or(0, |frames| frames.len().saturating_sub(1));
        let first = if self.shown.inlines { 0 } else { outermost };
        for idx in first..=outermost {
            let is_inlined = idx < outermost;
            if self.shown.json {
                self.append_object(idx, is_inlined, out);
            } else {
                self.append(idx, is_inlined, out);
                out.push(b'\n');
            }
            let name = self.name(idx).map(|(name, _)| name.into_raw());
            if stop_at.iter().any(|stop| Some(&**stop) == name) {
                return true;
            }
        }
        false
    }

    fn append(&self, idx: usize, is_inlined: bool, out: &mut Vec<u8>) {
        if self.shown.ip {
            out.push(b'\t');
            text::hex(out, self.ip, 16);
        }
        if self.shown.symbol {
            out.push(b' ');
            self.symbol(idx, out);
        }
        if self.shown.dso && !is_inlined {
            out.extend_from_slice(b" (");
            text::name_of_bytes(out, &dso(self.image));
            if self.shown.dso_offset {
                offset_in_dso(self.image, self.ip, out);
            }
            out.push(b')');
        }
        if self.shown.source_line {
            self.source(idx, is_inlined, out);
        }
        if is_inlined {
            out.extend_from_slice(b" (inlined)");
        }
    }

    fn symbol(&self, idx: usize, out: &mut Vec<u8>) {
        let Some((name, offset)) = self.name(idx) else {
            out.extend_from_slice(b"[unknown]");
            return;
        };
        text::name(out, &name);
        if self.shown.offset {
            out.extend_from_slice(b"+0x");
            text::hex(out, offset, 0);
        }
    }

    /// The function's name, and how far into it the code is.
    fn name(&self, idx: usize) -> Option<(Untrusted<&str>, u64)> {
        let (symbols, location) = self.symbols?;
        let frame = symbols.frames(location).get(idx)?;
        let name = symbols.functions.of(*frame).name?;
        let offset = if self.is_return {
            symbols.return_offset(location)
        } else {
            symbols.offset(location)
        };
        Some((symbols.strings.of(name), offset))
    }

    /// The source file and line.
    fn source_of(&self, idx: usize) -> Option<(Untrusted<&str>, u32)> {
        let (symbols, location) = self.symbols?;
        // The innermost one's, if what is inlined is not shown.
        let idx = if self.shown.inlines { idx } else { 0 };
        let (file, line) = (*symbols.lines(location).get(idx)?)?;
        Some((symbols.strings.of(file), line))
    }

    /// Appends an object of JSON with a comma behind it: all of the frame, as far as it is shown.
    fn append_object(&self, idx: usize, is_inlined: bool, out: &mut Vec<u8>) {
        let shown = self.shown;
        let name = self.name(idx).filter(|_| shown.symbol);
        let mut json = JsonWriter::after(mem::take(out), JsonLayout::Compact);
        json.object(|json| {
            json.key("address").hex(self.ip);
            json.field_if("name", name.map(|(name, _)| name.into_raw()));
            if let Some((_, offset)) = name.filter(|_| shown.offset && !is_inlined) {
                json.key("offset").hex(offset);
            }
            if let Some(image) = self.image.filter(|_| shown.dso) {
                json.key("image").text_of_bytes(&dso(Some(image)));
            }
            if is_inlined {
                json.field("inlined", true);
            }
            if let Some((file, line)) = self.source_of(idx).filter(|_| shown.source_line) {
                json.field("file", file.into_raw());
                json.field("line", line);
            }
        });
        *out = json.into_text();
        out.push(b',');
    }

    /// The source line, or where the code is whose line is not known.
    fn source(&self, idx: usize, is_inlined: bool, out: &mut Vec<u8>) {
        match (self.source_of(idx), self.image) {
            (Some((file, line)), _) => source_line(file, line, out),
            (None, Some(image)) if !is_inlined => no_source_line(image, self.ip, out),
            _ => {}
        }
    }
}

/// A line of a file, without its folders, on a line of its own.
fn source_line(file: Untrusted<&str>, line: u32, out: &mut Vec<u8>) {
    let name = file.into_raw().rsplit('/').next().map(Untrusted::new);
    out.extend_from_slice(b"\n  ");
    text::name(out, &name.unwrap_or(file));
    out.push(b':');
    text::decimal(out, line.into(), 0);
}

/// Where code is whose line is not known.
fn no_source_line(image: &RecordedImage, address: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n  ");
    text::name_of_bytes(out, &image.short_name());
    out.push(b'[');
    text::hex(out, address, 0);
    out.push(b']');
}

/// An image as perf script writes it: its whole path.
pub(crate) fn dso(image: Option<&RecordedImage>) -> Cow<'_, [u8]> {
    match image {
        None => b"[unknown]".into(),
        Some(image) if image.kind == ImageKind::User => (&image.path).into(),
        Some(image) => image.short_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_they_were_added() {
        let mut store = LineStore::default();
        let lines: [(&[u8], bool); 4] = [
            (b"\tone\n", false),
            (b"", false),
            (b"\ttwo\n\tthree\n", true),
            (b"", true),
        ];
        let add = |(lines, stops): (&[u8], bool)| {
            store.add(|text| {
                text.extend_from_slice(lines);
                stops
            })
        };
        let starts = lines.map(add);
        assert_eq!(starts.map(|start| store.at(start)), lines);
        assert_eq!(store.at(u32::MAX), (&[][..], false));
        assert!(!store.is_full());
    }
}
