//! Strings, each once.

use foldhash::HashMap;
use rprof_untrusted::Untrusted;

/// Number of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StrId(u32);

impl StrId {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// All strings of a profile.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    all: Vec<Box<str>>,
    numbers: HashMap<Box<str>, StrId>,
}

impl Strings {
    /// The number of a string, new or seen before.
    pub fn intern(&mut self, text: &str) -> StrId {
        if let Some(&id) = self.numbers.get(text) {
            return id;
        }
        let id = StrId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(text.into());
        self.numbers.insert(text.into(), id);
        id
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|text| &**text)
    }

    /// The string with a number; empty for one of another profile.
    pub fn of(&self, id: StrId) -> Untrusted<&str> {
        Untrusted::new(self.all.get(id.0 as usize).map_or("", |text| text))
    }
}
