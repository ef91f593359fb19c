//! Columns of many rows in few bytes: numbers that are mostly small, and times that are mostly near those before.

/// Numbers: two bytes each while all of them fit.
#[derive(Debug)]
pub(super) enum Numbers {
    Small(Vec<u16>),
    Large(Vec<u32>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl Numbers {
    pub(super) fn with_capacity(n: usize) -> Self {
        Self::Small(Vec::with_capacity(n))
    }

    pub(super) fn push(&mut self, number: u32) {
        match (&mut *self, u16::try_from(number)) {
            (Self::Small(all), Ok(small)) => all.push(small),
            (Self::Small(all), Err(_)) => {
                let mut large = Vec::with_capacity(all.capacity());
                large.extend(all.iter().map(|&small| u32::from(small)));
                large.push(number);
                *self = Self::Large(large);
            }
            (Self::Large(all), _) => all.push(number),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<u32> {
        match self {
            Self::Small(all) => all.get(at).map(|&small| small.into()),
            Self::Large(all) => all.get(at).copied(),
        }
    }
}

/// Times in ascending order, nanoseconds: four bytes each while any 64 in a row lie within 4.29 s.
#[derive(Debug)]
pub(super) enum Times {
    /// The first of each [`TOGETHER`], and how much later each is.
    Near {
        first: Vec<u64>,
        later: Vec<u32>,
    },
    Far(Vec<u64>),
}

/// Times that are told by how much later they are than the first of them.
const TOGETHER: usize = 64;

impl Default for Times {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl Times {
    pub(super) fn with_capacity(n: usize) -> Self {
        Self::Near {
            first: Vec::with_capacity(n.div_ceil(TOGETHER)),
            later: Vec::with_capacity(n),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Near { later, .. } => later.len(),
            Self::Far(all) => all.len(),
        }
    }

    pub(super) fn push(&mut self, time_ns: u64) {
        match self {
            Self::Near { first, later } => {
                if later.len() % TOGETHER == 0 {
                    first.push(time_ns);
                }
                let since = first.last().and_then(|&first| time_ns.checked_sub(first));
                if let Some(Ok(since)) = since.map(u32::try_from) {
                    later.push(since);
                    return;
                }
                let room = later.capacity();
                let mut all = Vec::with_capacity(room);
                all.extend((0..later.len()).filter_map(|at| self.get(at)));
                all.push(time_ns);
                *self = Self::Far(all);
            }
            Self::Far(all) => all.push(time_ns),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<u64> {
        match self {
            Self::Near { first, later } => {
                let since = u64::from(*later.get(at)?);
                Some(first.get(at / TOGETHER)? + since)
            }
            Self::Far(all) => all.get(at).copied(),
        }
    }

    /// The first index from `from` on whose time fails `is_such`; times that pass come first. The length if none fails.
    pub(super) fn first_other(&self, from: usize, is_such: impl Fn(u64) -> bool) -> usize {
        let (mut from, mut to) = (from, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.get(middle).is_some_and(&is_such) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_have_what_was_put_in(
            mut times in prop::collection::vec(0u64..20_000_000_000, 0..300),
            numbers in prop::collection::vec(prop_oneof![9 => 0u32..70_000, 1 => any::<u32>()], 0..20),
            from in 0usize..300,
            limit in 0u64..20_000_000_000,
        ) {
            times.sort_unstable();
            let mut column = Times::with_capacity(times.len());
            times.iter().for_each(|&time| column.push(time));
            prop_assert_eq!(column.len(), times.len());
            let found: Vec<u64> = (0..=times.len()).filter_map(|at| column.get(at)).collect();
            prop_assert_eq!(&found, &times);
            let from = from.min(times.len());
            let expected = from + times[from..].partition_point(|&time| time < limit);
            prop_assert_eq!(column.first_other(from, |time| time < limit), expected);
            let mut column = Numbers::default();
            numbers.iter().for_each(|&number| column.push(number));
            let found: Vec<u32> = (0..=numbers.len()).filter_map(|at| column.get(at)).collect();
            prop_assert_eq!(found, numbers);
        }
    }

    #[test]
    fn most_columns_are_small() {
        const START: u64 = 1 << 60;
        let mut times = Times::default();
        (0..1000).for_each(|at| times.push(START + at * 10_000_000));
        assert!(matches!(times, Times::Near { .. }));
        times.push(u64::MAX);
        assert!(matches!(times, Times::Far(_)));
        assert_eq!(times.get(999), Some(START + 9_990_000_000));
        let mut numbers = Numbers::default();
        numbers.push(u32::from(u16::MAX));
        assert!(matches!(numbers, Numbers::Small(_)));
        numbers.push(u32::from(u16::MAX) + 1);
        assert_eq!(
            (numbers.get(0), numbers.get(1)),
            (Some(65_535), Some(65_536))
        );
    }
}
