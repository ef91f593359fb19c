//! What tracepoints wrote, as texts that samples are told apart by.

use crate::tracepoints::TracepointFormats;
use foldhash::fast::RandomState;
use rprof_abi::tracepoint::TracepointNames;
use rprof_abi::{Endian, Fields, Shape, Value};
use rprof_base::Interner;
use rprof_perfdata::Reader;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Bytes of texts that are kept: what comes then is counted together.
const MOST_BYTES: usize = 64 << 20;

/// The text of what comes then.
const OTHERS: &str = "[others]";

/// Texts by number; threads share them.
#[derive(Debug)]
pub(super) struct TraceTexts {
    formats: TracepointFormats,
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    all: Interner<u32, Vec<u8>, RandomState>,
    bytes: usize,
    /// Whether some had no room.
    is_full: bool,
}

impl TraceTexts {
    /// With the formats of a recording, if they are asked for.
    pub(super) fn of(reader: &Reader, is_asked: bool) -> Self {
        Self {
            formats: if is_asked {
                TracepointFormats::of(reader).0
            } else {
                TracepointFormats::default()
            },
            texts: Mutex::default(),
        }
    }

    /// The number of all that a sample's tracepoint wrote.
    pub(super) fn whole(&self, event: usize, raw: &[u8], endian: Endian) -> Option<u64> {
        Some(self.number(self.printed(event, raw, endian)?))
    }

    /// The number of a field: texts as they are, others as the whole text has them.
    pub(super) fn field(
        &self,
        event: usize,
        raw: &[u8],
        endian: Endian,
        name: &str,
    ) -> Option<u64> {
        let format = self.formats.of_event(event)?;
        let mut text = TextOf { name, text: None };
        format.visit(&self.formats.data(raw, endian), &mut text);
        if let Some(text) = text.text {
            return Some(self.number(text));
        }
        let printed = self.printed(event, raw, endian)?;
        if let Some(value) = word_of(&printed, name) {
            return Some(self.number(value.to_vec()));
        }
        let mut fields = Vec::new();
        format.print_fields(&self.formats.data(raw, endian), &mut fields);
        word_of(&fields, name).map(|value| self.number(value.to_vec()))
    }

    fn printed(&self, event: usize, raw: &[u8], endian: Endian) -> Option<Vec<u8>> {
        let format = self.formats.of_event(event)?;
        let mut printed = Vec::new();
        format.print(&self.formats.data(raw, endian), self, &mut printed);
        Some(printed)
    }

    fn number(&self, text: Vec<u8>) -> u64 {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.bytes >= MOST_BYTES && texts.all.find(&text).is_none() {
            texts.is_full = true;
            return u64::MAX;
        }
        let (before, bytes) = (texts.all.len(), text.len());
        let number = texts.all.intern(text);
        if texts.all.len() > before {
            texts.bytes += bytes + size_of::<Vec<u8>>();
        }
        number.into()
    }

    /// The text with a number.
    pub(super) fn text(&self, number: u64) -> String {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = u32::try_from(number).ok();
        let text = number.and_then(|number| texts.all.get(number));
        text.map_or(OTHERS.to_owned(), |text| {
            String::from_utf8_lossy(text).into_owned()
        })
    }

    /// What was left out.
    pub(super) fn warning(&self) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts
            .is_full
            .then(|| format!("too many different tracepoint texts: the rest is shown as {OTHERS}"))
    }
}

/// Takes the field of a name, if it is a text: that may have blanks.
struct TextOf<'n> {
    name: &'n str,
    text: Option<Vec<u8>>,
}

impl Fields for TextOf<'_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        if let Value::Text(text) = value
            && name == self.name
        {
            self.text = Some(text.to_vec());
        }
    }

    fn open(&mut self, _name: &str, _shape: Shape) {}

    fn close(&mut self) {}
}

/// What stands after `name=`, up to the next blank.
fn word_of<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let words = text.split(|&byte| byte == b' ');
    let value = |word: &'t [u8]| word.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    words.into_iter().find_map(value)
}

impl TracepointNames for TraceTexts {
    /// Functions stay addresses here: one is told from another by them as well.
    fn kernel_symbol(&self, _address: u64) -> Option<(Cow<'_, str>, u64)> {
        None
    }

    fn printk_string(&self, address: u64) -> Option<&[u8]> {
        self.formats.string(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_words_of_the_text() {
        let text = b"comm=make pid=12 next_comm=a==> b";
        assert_eq!(word_of(text, "pid"), Some(&b"12"[..]));
        assert_eq!(word_of(text, "next_comm"), Some(&b"a==>"[..]));
        assert_eq!(word_of(text, "om"), None);
    }
}
