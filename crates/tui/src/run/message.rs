//! What the loop waits for.

use crate::app::Input;
use crate::face::{CodeAnswer, ComparisonAnswer, ScopeAnswer, TuiData};
use crate::task::Made;
use std::io;

/// What comes from outside.
pub(super) enum Message {
    Input(Input),
    Data(Box<TuiData>),
    Code(Box<CodeAnswer>),
    Scope(Box<ScopeAnswer>),
    Comparison(Box<ComparisonAnswer>),
    End,
    Broken(io::Error),
    Made(Box<Made>),
    /// Nobody types: there is time for what is still to be opened.
    Idle,
}

impl Message {
    /// What it is, for the log.
    pub(super) fn name(&self) -> String {
        let name = match self {
            Self::Input(Input::Paste(_)) => "paste",
            Self::Input(input) => return format!("{input:?}"),
            Self::Data(_) => "data",
            Self::Code(_) => "code",
            Self::Scope(_) => "samples",
            Self::Comparison(_) => "comparison",
            Self::End => "end",
            Self::Broken(_) => "broken",
            Self::Made(_) => "made",
            Self::Idle => "idle",
        };
        name.to_owned()
    }
}
