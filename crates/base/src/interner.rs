//! Values that are kept once and go by a number.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash, RandomState};

/// What values of an [`Interner`] go by: a number, with a type of its own.
pub trait Id: Copy {
    /// From the number.
    fn from_number(number: u32) -> Self;

    /// The number.
    fn number(self) -> u32;
}

impl Id for u32 {
    #[inline]
    fn from_number(number: u32) -> Self {
        number
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }
}

/// Makes an [`Id`] of a struct around a `u32`.
#[macro_export]
macro_rules! impl_id {
    ($name:ident) => {
        impl $crate::Id for $name {
            #[inline]
            fn from_number(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }
    };
}

/// Values, each once, numbered from 0 in the order in which they came.
///
/// They are told apart by `K`, which is the value itself where nothing else is said. `u32::MAX` is the
/// number of no value: all that come after that many get it.
#[derive(Clone, Debug)]
pub struct Interner<I, T, S = RandomState, K = T> {
    ids: HashMap<K, I, S>,
    values: Vec<T>,
}

impl<I, T, S: Default, K> Default for Interner<I, T, S, K> {
    fn default() -> Self {
        Self {
            ids: HashMap::default(),
            values: Vec::new(),
        }
    }
}

impl<I: Id, T, S: BuildHasher, K: Eq + Hash> Interner<I, T, S, K> {
    /// The id of what has this key, made if it is new.
    #[inline]
    pub fn intern_with(&mut self, key: K, make: impl FnOnce(&K) -> T) -> I {
        match self.ids.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = next_number(self.values.len());
                if number < u32::MAX {
                    self.values.push(make(new.key()));
                    new.insert(I::from_number(number));
                }
                I::from_number(number)
            }
        }
    }

    /// The id of what has this key, if it has come.
    #[inline]
    pub fn find<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<I>
    where
        K: Borrow<Q>,
    {
        self.ids.get(key).copied()
    }
}

impl<I: Id, T: Clone + Eq + Hash, S: BuildHasher> Interner<I, T, S> {
    /// The id of a value, new or seen before.
    #[inline]
    pub fn intern(&mut self, value: T) -> I {
        self.intern_with(value, T::clone)
    }

    /// The id of a value that is copied only if it is new.
    #[inline]
    pub fn intern_ref<Q: Eq + Hash + ?Sized>(&mut self, value: &Q) -> I
    where
        T: Borrow<Q> + for<'q> From<&'q Q>,
    {
        match self.find(value) {
            Some(id) => id,
            None => self.intern(value.into()),
        }
    }
}

impl<I: Id, T, S, K> Interner<I, T, S, K> {
    /// The value of an id; `None` for one of another interner.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.values.get(id.number() as usize)
    }

    /// The value of an id, to change what it is not told apart by.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.values.get_mut(id.number() as usize)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values, by number.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, by number, to change what they are not told apart by.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// All values with their ids, by number.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        (0..).map(I::from_number).zip(&self.values)
    }

    /// All values, by number; what is needed only for adding is freed.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
}

/// The number after this many.
fn next_number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Name(u32);

    impl_id!(Name);

    #[test]
    fn values_are_kept_once_in_the_order_they_came() {
        let mut names: Interner<Name, Box<str>> = Interner::default();
        assert!(names.is_empty());
        let ids: Vec<u32> = ["b", "a", "b", "", "a"]
            .iter()
            .map(|&name| names.intern_ref(name).0)
            .collect();
        assert_eq!(ids, [0, 1, 0, 2, 1]);
        assert_eq!(names.intern("a".into()), Name(1));
        assert_eq!(names.find("a"), Some(Name(1)));
        assert_eq!(names.find("c"), None);
        assert_eq!(names.get(Name(0)).map(|name| &**name), Some("b"));
        assert_eq!(names.get(Name(3)), None);
        assert_eq!(names.len(), 3);
        let listed: Vec<(u32, &str)> = names.iter().map(|(id, name)| (id.0, &**name)).collect();
        assert_eq!(listed, [(0, "b"), (1, "a"), (2, "")]);
        assert_eq!(names.values().len(), 3);
        assert_eq!(names.into_values(), ["b".into(), "a".into(), "".into()]);
    }

    #[test]
    fn bytes_are_looked_up_without_being_copied() {
        let mut paths: Interner<u32, Vec<u8>> = Interner::default();
        assert_eq!(paths.intern_ref(&b"/bin/sh"[..]), 0);
        assert_eq!(paths.find(&b"/bin/sh"[..]), Some(0));
    }

    #[test]
    fn values_are_made_once_for_each_key() {
        let mut squares: Interner<u32, u64, RandomState, u32> = Interner::default();
        for number in [7, 3, 7] {
            squares.intern_with(number, |&number| u64::from(number).pow(2));
        }
        assert_eq!(squares.intern_with(3, |_| unreachable!("known")), 1);
        if let Some(square) = squares.get_mut(1) {
            *square += 1;
        }
        assert_eq!(squares.find(&3), Some(1));
        assert_eq!(squares.values(), [49, 10]);
    }

    #[test]
    fn the_last_number_is_of_no_value() {
        assert_eq!(next_number(7), 7);
        let many = usize::try_from(u64::from(u32::MAX) + 7).unwrap_or(usize::MAX);
        assert_eq!(next_number(many), u32::MAX);
        let mut few: Interner<u32, u8> = Interner::default();
        few.intern(1);
        assert_eq!(few.get(u32::MAX), None);
    }
}
