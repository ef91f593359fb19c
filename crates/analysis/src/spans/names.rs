//! Names of spans, by number.

use foldhash::HashMap;
use rprof_untrusted::Untrusted;

/// Numbers of names.
#[derive(Debug, Default)]
pub(crate) struct SpanNames {
    all: Vec<Untrusted<String>>,
    numbers: HashMap<String, u32>,
}

impl SpanNames {
    /// The number of a name: that of the same name before, or a new one.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        let name = String::from_utf8_lossy(name);
        if let Some(&number) = self.numbers.get(&*name) {
            return number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Untrusted::new(name.clone().into_owned()));
        self.numbers.insert(name.into_owned(), number);
        number
    }

    /// All of them, by number.
    pub(crate) fn into_all(self) -> Vec<Untrusted<String>> {
        self.all
    }
}
