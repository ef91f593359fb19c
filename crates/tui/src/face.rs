//! What only the program can do for the interface, and what it gives it.

use rprof_profile::code::CodeLine;
use rprof_profile::text::Fit;
use rprof_profile::view::{SortKey, Weighing};
use rprof_profile::{Account, Dimension, EventProfile, Profile, SampledProfile};
use rprof_query::SampleSelection;
use std::ops::RangeInclusive;

/// What is looked at. It may be replaced while somebody looks.
#[derive(Clone, Debug, Default)]
pub struct TuiData {
    /// The samples.
    pub sampled: SampledProfile,
    /// Which these are.
    pub scope: SampleScope,
    /// The parts of the time of threads that may be asked for instead; none if there is no choice.
    pub accounts: Vec<Account>,
    /// What the recording is called.
    pub title: String,
    /// How good it is, in a line.
    pub quality: String,
    /// What would make it better, if anything.
    pub advice: Option<String>,
    /// About the recording: a line each.
    pub about: Vec<String>,
}

/// Which samples are read, and what is known of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleScope {
    /// The part of the time of threads that they are of.
    pub account: Account,
    /// What they are told apart by, beside the names of threads.
    pub by: Vec<Dimension>,
}

/// Other samples that were asked for.
#[derive(Debug)]
pub struct ScopeAnswer {
    /// What was asked for.
    pub wanted: SampleScope,
    /// The samples; or why they could not be read, in a line.
    pub data: Result<TuiData, String>,
}

/// Two times of the samples that are shown, to be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedComparison {
    /// The part of the time of threads that is shown.
    pub account: Account,
    /// The name of the event.
    pub event: String,
    /// Samples that are compared, whatever their times.
    pub selection: SampleSelection,
    /// The time that is compared with the rest, nanoseconds of the recording's clock.
    pub times_ns: RangeInclusive<u64>,
    /// What the rest is of.
    pub all_ns: RangeInclusive<u64>,
    /// Where lines end.
    pub fit: Fit,
}

/// What became of a comparison.
#[derive(Debug)]
pub struct ComparisonAnswer {
    /// What was asked for.
    pub wanted: WantedComparison,
    /// Lines of text; or why they could not be read.
    pub lines: Result<Vec<String>, String>,
}

/// A function whose code is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOf {
    /// Its name, as the files have it.
    pub name: String,
    /// Short name of its image; none if any may have it.
    pub image: Option<String>,
    /// Whether its code was inlined into other functions.
    pub is_inlined: bool,
}

/// Code that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedCode {
    /// Whose.
    pub function: FunctionOf,
    /// Of inlined code, the function whose part is shown; nothing shows all.
    pub into: Option<String>,
    /// The part of the time of threads that is shown.
    pub account: Account,
    /// Samples that are to be counted in it.
    pub selection: SampleSelection,
    /// The name of their event.
    pub event: String,
}

/// Code as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeLines {
    /// Lines, with what was sampled at each.
    pub lines: Vec<CodeLine>,
    /// The functions that inlined code is a part of, with its samples there, the heaviest first.
    pub into: Vec<(String, u64)>,
    /// What else they count than the samples that were asked for, or what they do not, in a few words.
    pub note: Option<&'static str>,
}

/// Code that was asked for.
#[derive(Debug)]
pub struct CodeAnswer {
    /// What was asked for.
    pub wanted: WantedCode,
    /// The code; or why there is none, in a line.
    pub code: Result<CodeLines, String>,
}

/// As what a view is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveForm {
    /// The lines of the view, as text.
    Text,
    /// A flame graph.
    Svg,
    /// Stacks, a line each.
    Folded,
    /// Rows, for other programs.
    Json,
    /// The samples, of what is recorded while it is looked at.
    Recording,
}

/// What comes while somebody looks.
#[derive(Debug)]
pub enum TuiUpdate {
    /// Other data instead.
    Data(Box<TuiData>),
    /// Code that was asked for.
    Code(Box<CodeAnswer>),
    /// Samples that were asked for.
    Scope(Box<ScopeAnswer>),
    /// A comparison that was asked for.
    Comparison(Box<ComparisonAnswer>),
    /// The end.
    End,
}

/// What is to be saved.
#[derive(Debug)]
pub struct Saved<'a> {
    /// As what.
    pub form: SaveForm,
    /// Names and functions.
    pub profile: &'a Profile,
    /// The event with the stacks of the samples that are selected.
    pub event: &'a EventProfile,
    /// What rows are grouped by.
    pub keys: &'a [SortKey],
    /// What rows count.
    pub weighing: Weighing,
    /// The lines of the view.
    pub text: &'a str,
}

/// What only the program can do.
pub trait Face {
    /// Begins to read the code of a function: it comes as [`TuiUpdate::Code`].
    ///
    /// # Errors
    /// Why there is none, in a line.
    fn ask_code(&mut self, wanted: WantedCode) -> Result<(), String>;

    /// Begins to read other samples of the recording: they come as [`TuiUpdate::Scope`].
    ///
    /// # Errors
    /// Why there are none, in a line.
    fn ask_scope(&mut self, wanted: SampleScope) -> Result<(), String>;

    /// Begins to compare two times: the result comes as [`TuiUpdate::Comparison`].
    ///
    /// # Errors
    /// Why there is none, in a line.
    fn ask_comparison(&mut self, wanted: WantedComparison) -> Result<(), String>;

    /// Writes what is seen into a file, and returns its name.
    ///
    /// # Errors
    /// Why it cannot be written, in a line.
    fn save(&mut self, saved: &Saved<'_>) -> Result<String, String>;

    /// Whether other data may come ([`TuiSettings::is_live`](crate::TuiSettings::is_live)).
    fn pause(&mut self, is_paused: bool);
}
