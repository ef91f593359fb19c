//! Strings, each once.

use foldhash::fast::RandomState;
use rprof_base::{Id, Interner};
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

impl Id for StrId {
    fn from_number(number: u32) -> Self {
        Self(number)
    }

    fn number(self) -> u32 {
        self.0
    }
}

/// All strings of a profile.
#[derive(Clone, Debug, Default)]
pub struct Strings(Interner<StrId, Box<str>, RandomState>);

impl Strings {
    /// The number of a string, new or seen before.
    pub fn intern(&mut self, text: &str) -> StrId {
        self.0.intern_ref(text)
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.values().iter().map(|text| &**text)
    }

    /// The string with a number; empty for one of another profile.
    pub fn of(&self, id: StrId) -> Untrusted<&str> {
        Untrusted::new(self.0.get(id).map_or("", |text| text))
    }
}
