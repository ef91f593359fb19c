//! What is the same before and after: functions, images and trees of recordings of two builds.

mod classes;
mod functions;
mod images;
mod keys;
mod names;
mod programs;
mod scaled;
mod sure;
mod tree;

use crate::{Frames, StrId, Strings};

pub use classes::Sides;
pub use functions::{FunctionMatch, MatchedBy, MatchedFunction};
pub use images::unversioned;
pub(crate) use names::family_name;
pub use names::{jit_name, source_name, stable_name, whole_name};
pub use programs::Programs;
pub use scaled::{ScaledPair, Scaling, SideSpans};
pub use sure::{Directions, SureChanges, SureFunction};
pub use tree::{BothCounts, DifferentialNode, DifferentialTree, SideStacks};

/// Before a change, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// What others are compared with.
    Before,
    /// What is compared.
    After,
}

/// What a recording's functions are known by.
#[derive(Clone, Copy, Debug)]
pub struct SideFunctions<'a> {
    /// Which side it is of.
    pub side: Side,
    /// Its functions.
    pub frames: &'a Frames,
    /// Its names.
    pub strings: &'a Strings,
    /// Its images: the short name that frames have, and the build id where it is known.
    pub images: &'a [(StrId, Option<String>)],
    /// Its programs.
    pub programs: &'a Programs,
}
