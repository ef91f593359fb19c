//! The views: what each of them selects, and how that moves.

pub(crate) mod box_names;
pub(crate) mod boxes;
pub(crate) mod calls;
pub(crate) mod flame;
pub(crate) mod lanes;
pub(crate) mod opened;
pub(crate) mod table;

/// A view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum ViewKind {
    #[default]
    Rows,
    Calls,
    Flame,
    Threads,
}

impl ViewKind {
    pub(crate) const ALL: [Self; 4] = [Self::Rows, Self::Calls, Self::Flame, Self::Threads];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Calls => "calls",
            Self::Flame => "flame",
            Self::Threads => "threads",
        }
    }

    /// That of a key.
    pub(crate) fn of_number(number: char) -> Option<Self> {
        let at = number.to_digit(10)?.checked_sub(1)?;
        Self::ALL.get(at as usize).copied()
    }

    /// The view beside it.
    pub(crate) fn beside(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|one| *one == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}
