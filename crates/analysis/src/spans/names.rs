//! Names of spans, by number.

use foldhash::HashMap;
use rprof_untrusted::{Budget, Held, OverBudget, Untrusted};

/// Numbers of names.
#[derive(Debug)]
pub(crate) struct SpanNames {
    all: Vec<Untrusted<String>>,
    numbers: HashMap<String, u32>,
    /// How many spans had one name too many.
    n_other: u64,
    /// The memory of all.
    held: Held,
}

impl SpanNames {
    /// More names tell nothing: they are numbers of requests, or the like.
    pub(crate) const MOST: usize = 100_000;

    /// What all names beyond are called.
    const OTHER: &[u8] = b"[other]";

    /// Memory for a name without its letters, bytes: two strings, and a place in a table that is half empty.
    const BYTES: usize = 2 * (size_of::<(String, u32)>() + size_of::<String>()) + 2 * 16;

    /// None yet.
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::default(),
            n_other: 0,
            held: budget.hold_nothing(),
        }
    }

    /// The number of a name: that of the same name before, or a new one.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub(crate) fn number(&mut self, name: &[u8]) -> Result<u32, OverBudget> {
        let name = String::from_utf8_lossy(name);
        if let Some(&number) = self.numbers.get(&*name) {
            return Ok(number);
        }
        if self.all.len() >= Self::MOST && name.as_bytes() != Self::OTHER {
            self.n_other += 1;
            return self.number(Self::OTHER);
        }
        self.held.grow((Self::BYTES + 2 * name.len()) as u64)?;
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Untrusted::new(name.clone().into_owned()));
        self.numbers.insert(name.into_owned(), number);
        Ok(number)
    }

    /// How many spans had one name too many.
    pub(crate) fn n_other(&self) -> u64 {
        self.n_other
    }

    /// All of them, by number, and their memory.
    pub(crate) fn into_all(self) -> (Vec<Untrusted<String>>, Held) {
        (self.all, self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Limits;

    #[test]
    fn names_are_of_the_budget() {
        let budget = Budget::new(Limits::of_memory(100 * 200));
        let mut names = SpanNames::new(&budget);
        let named = (0..200).take_while(|n: &u32| names.number(n.to_string().as_bytes()).is_ok());
        let n = named.count();
        assert!((50..=150).contains(&n), "{n}");
        assert_eq!(names.number(b"0"), Ok(0));
    }

    #[test]
    fn names_beyond_the_most_are_one() {
        let mut names = SpanNames::new(&Budget::default());
        for n in 0..SpanNames::MOST {
            names.number(n.to_string().as_bytes()).unwrap();
        }
        let other = names.number(b"x").unwrap();
        assert_eq!(names.number(b"y"), Ok(other));
        assert_eq!(names.number(b"7"), Ok(7));
        assert_eq!(names.n_other(), 2);
        let (all, _) = names.into_all();
        assert_eq!(all.len(), SpanNames::MOST + 1);
        assert_eq!(all.last().unwrap().raw(), "[other]");
    }
}
