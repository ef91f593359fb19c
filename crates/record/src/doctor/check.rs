//! A check, and what came of it.

/// Whether something stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does not.
    Fine,
    /// A profile is possible, but lacks something.
    Less,
    /// Nothing can be recorded because of it.
    Blocked,
    /// Good to know; a profile of one's own programs lacks nothing by it.
    Note,
}

impl State {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Less => "less",
            Self::Blocked => "blocked",
            Self::Note => "note",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it stands in the way.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What comes of it, if it stands in the way.
    pub consequence: Option<String>,
    /// The smallest step that would help.
    pub fix: Option<String>,
}

impl Check {
    pub(super) fn new(name: &'static str, state: State, found: impl Into<String>) -> Option<Self> {
        Some(Self {
            name,
            state,
            found: found.into(),
            consequence: None,
            fix: None,
        })
    }

    pub(super) fn fine(name: &'static str, found: impl Into<String>) -> Option<Self> {
        Self::new(name, State::Fine, found)
    }

    /// The same with what comes of it, and what would help.
    pub(super) fn but(
        self,
        consequence: impl Into<String>,
        fix: impl Into<String>,
    ) -> Option<Self> {
        Some(Self {
            consequence: Some(consequence.into()),
            fix: Some(fix.into()),
            ..self
        })
    }
}
