//! What frames are called in trees, without making a text for each: files may have one long name for many functions.

use crate::strings::start_of;
use crate::{FrameId, FrameInfo, Frames, Strings};
use rprof_untrusted::{Untrusted, printable};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A frame's label, in parts.
#[derive(Clone, Debug)]
pub struct Label<'a>([Cow<'a, str>; 5]);

impl Label<'_> {
    /// Appends it as it is displayed.
    pub fn append_to(&self, text: &mut String) {
        self.0
            .iter()
            .for_each(|part| text.push_str(&printable(part)));
    }

    /// As the files have it.
    pub(crate) fn raw(&self) -> Untrusted<String> {
        Untrusted::new(self.0.concat())
    }

    /// Where its text begins, as a number: no later text begins with a lower one.
    pub(crate) fn start(&self) -> u128 {
        start_of(self.bytes())
    }

    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flat_map(|part| part.bytes())
    }

    /// Orders two as their texts would be.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let ([a, ..], [b, ..]) = (&self.0, &other.0);
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let n_both = a.len().min(b.len());
        a[..n_both]
            .cmp(&b[..n_both])
            .then_with(|| self.bytes().skip(n_both).cmp(other.bytes().skip(n_both)))
    }
}

impl Frames {
    /// How a frame is called in trees.
    pub fn label(&self, id: FrameId, strings: &Strings) -> Untrusted<String> {
        self.label_parts(id, strings).raw()
    }

    /// The same in parts: its name, or where it starts, or its address and image; then its place, if it has one.
    pub fn label_parts<'a>(&self, id: FrameId, strings: &'a Strings) -> Label<'a> {
        let frame = self.of(id);
        let place = frame.place.map(|place| strings.of(place.text).into_raw());
        let place = place.unwrap_or_default();
        let blank = if place.is_empty() { "" } else { " " };
        if let Some(name) = frame.name {
            let name = strings.of(name).into_raw();
            let inlined = if frame.is_inlined { " (inlined)" } else { "" };
            return Label([name, blank, place, inlined, ""].map(Cow::Borrowed));
        }
        let [first, second, third] = frame.nameless_label(strings);
        Label([first, second, third, blank.into(), place.into()])
    }
}

/// An address as perf writes it where nothing has a name: 0 without `0x`, as C has it.
pub fn padded_hex(address: u64) -> String {
    match address {
        0 => format!("{address:016x}"),
        _ => format!("{address:#018x}"),
    }
}

impl FrameInfo {
    /// What code without a name is called.
    fn nameless_label<'a>(&self, strings: &'a Strings) -> [Cow<'a, str>; 3] {
        if let Some(Label([first, second, third, ..])) = self.fde_label(strings) {
            return [first, second, third];
        }
        let borrowed = |parts: [&'a str; 3]| parts.map(Cow::Borrowed);
        let image = strings.of(self.image).into_raw();
        match (self.start, image) {
            (Some(address), "[unknown]") => [format!("{address:#x}").into(), "".into(), "".into()],
            (Some(address), image) => [format!("{address:#x} (").into(), image.into(), ")".into()],
            (None, "[unknown]") => borrowed(["[unknown]", "", ""]),
            (None, image) => borrowed(["[unknown] (", image, ")"]),
        }
    }

    /// How it is called in tables: perf's sign of its level, and its name or address.
    pub fn symbol(&self, strings: &Strings) -> String {
        let sign = self.level.sign();
        match self.name {
            Some(name) if self.is_inlined => format!("[{sign}] {} (inlined)", strings.of(name)),
            Some(name) => {
                let name = strings.of(name);
                let name = name.shown();
                let mut symbol = String::with_capacity(name.len() + 4);
                symbol.extend(['[', sign, ']', ' ']);
                symbol + &name
            }
            None => match (self.fde_label(strings), self.start) {
                (Some(label), _) => format!("[{sign}] {}", label.raw()),
                (None, Some(address)) => format!("[{sign}] {}", padded_hex(address)),
                (None, None) => format!("[{sign}] [unknown]"),
            },
        }
    }

    /// What filters know it by: its name, or what stands for one.
    pub fn filter_name<'a>(&self, strings: &'a Strings) -> Option<Cow<'a, str>> {
        match self.name {
            Some(name) => Some(strings.of(name).into_raw().into()),
            None => Some(self.fde_label(strings)?.0.concat().into()),
        }
    }

    /// What stands for the name of a function without one: `[python3.11+0x1a85c0]`.
    pub(crate) fn fde_label<'a>(&self, strings: &'a Strings) -> Option<Label<'a>> {
        let start = self.start.filter(|_| self.is_fde)?;
        let image = strings.of(self.image).into_raw();
        let image = image.trim_start_matches('[').trim_end_matches(']');
        let end = format!("+{start:#x}]");
        let nothing = || "".into();
        Some(Label([
            "[".into(),
            image.into(),
            end.into(),
            nothing(),
            nothing(),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_their_texts() {
        let label = |parts: [&'static str; 5]| Label(parts.map(Cow::Borrowed));
        let parts = [
            ["a", "", "", "", ""],
            ["a", "", "", " (inlined)", ""],
            ["a", " ", "a.c:7", "", ""],
            ["a ", "b", "", "", ""],
            ["ab", "", "", "", ""],
            ["", "ab", "c", "", ""],
        ];
        for a in parts {
            for b in parts {
                assert_eq!(
                    label(a).compare(&label(b)),
                    a.concat().cmp(&b.concat()),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}
