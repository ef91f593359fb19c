//! A listing as text.

mod chain;
mod folding;
mod gutter;
mod rows;
mod summary;

use crate::listing::CodeListing;
use rprof_base::{Counted, Share};
use rprof_profile::SampleCount;
use rprof_profile::code::{CodeLine, CodeLineKind};
use rprof_profile::text::{Fit, at_right, colored, width};
use rprof_untrusted::printable;
use std::io::{self, Write};

pub(crate) use summary::{ShortNames, call_sites, hottest};

/// How a listing is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// What has rows.
    pub by: By,
    /// What jumps are drawn with.
    pub drawing: Drawing,
    /// What stands in the columns of events.
    pub cells: Cells,
    /// What is left out of what has no samples.
    pub folding: Folding,
    /// Whether instructions have their bytes beside them.
    pub has_bytes: bool,
    /// Whether the hottest functions and lines stand above the code.
    pub has_summary: bool,
    /// Whether percentages and comments have colours.
    pub colors: bool,
    /// Where lines are cut; nowhere if `None`.
    pub fit: Option<Fit>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            by: By::Instructions,
            drawing: Drawing::Ascii,
            cells: Cells::Percent,
            folding: Folding::Automatic,
            has_bytes: false,
            has_summary: true,
            colors: false,
            fit: None,
        }
    }
}

/// What has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum By {
    /// Instructions, with source lines between them.
    #[default]
    Instructions,
    /// Instructions alone.
    InstructionsOnly,
    /// Source lines alone.
    Lines,
}

/// What jumps are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Drawing {
    /// They are not drawn.
    None,
    /// Signs of ASCII.
    #[default]
    Ascii,
    /// Box characters.
    Boxes,
}

/// What stands in the columns of events, in code and tables; perf's choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cells {
    /// Percentages.
    #[default]
    Percent,
    /// Numbers of samples.
    Samples,
    /// Weights: what samples stand for.
    Weight,
}

impl Cells {
    /// Columns of one, as perf has them.
    fn width(self) -> usize {
        match self {
            Self::Percent | Self::Samples => 8,
            Self::Weight => 12,
        }
    }

    /// The name of a column.
    fn title(self) -> &'static str {
        match self {
            Self::Percent => "Percent",
            Self::Samples => "Samples",
            Self::Weight => "Period",
        }
    }
}

/// What is left out of instructions without samples; how many are is said in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Folding {
    /// Nothing, but in a function of more than [`Self::MANY`] instructions all but [`Self::AROUND`] around samples.
    #[default]
    Automatic,
    /// Nothing.
    Off,
    /// All but this many before and after those with samples.
    Around(usize),
}

impl Folding {
    /// More instructions than this are folded unless asked otherwise.
    pub const MANY: usize = 2000;
    /// Instructions around samples that stay then.
    pub const AROUND: usize = 10;
}

/// What takes the lines of a listing, one after the other.
pub type TakeLine<'t> = dyn FnMut(CodeLine) -> io::Result<()> + 't;

/// The lines of one function: what was counted, what is to be known of it, the hottest places, the code.
///
/// # Errors
/// Those of `take`.
pub fn text_lines(
    listing: &CodeListing<'_>,
    options: &TextOptions,
    take: &mut TakeLine<'_>,
) -> io::Result<()> {
    let page = Page::new(listing, options);
    let mut text = |text| take(CodeLine::new(CodeLineKind::Text, text));
    for line in heading(listing) {
        match options.fit {
            Some(fit) => wrapped(&line, fit.columns).try_for_each(&mut text)?,
            None => text(line)?,
        }
    }
    text(String::new())?;
    if options.has_summary {
        page.summary(take)?;
    }
    page.rows(take)
}

/// Writes the lines of one function.
///
/// # Errors
/// The writer's.
pub fn write_text(
    listing: &CodeListing<'_>,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    text_lines(listing, options, &mut |line| writeln!(out, "{}", line.text))
}

/// Writes the code only.
pub(crate) fn write_text_code(
    listing: &CodeListing<'_>,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let take = &mut |line: CodeLine| writeln!(out, "{}", line.text);
    Page::new(listing, options).rows(take)
}

/// What stands above a function: what was counted, and what is to be known of it.
pub(crate) fn heading(listing: &CodeListing<'_>) -> Vec<String> {
    let (name, image) = (printable(&listing.name), printable(&listing.image));
    let mut lines = vec![match &listing.inlined {
        Some(inlined) => format!(
            "{name}, inlined into {} in {image}",
            printable(&inlined.into)
        ),
        None => format!("{name} in {image}"),
    }];
    let events = listing.columns.iter();
    let events = events.filter_map(|&event| listing.events.get(event));
    for (number, event) in events.enumerate() {
        let column = match listing.columns.len() {
            1 => String::new(),
            _ => format!("({}) ", number + 1),
        };
        let samples = Counted::new(event.local.samples, "sample", "samples");
        let share = Share::of(event.local.weight, event.all.weight);
        let name = printable(&event.name);
        lines.push(format!("{column}{samples} of {name}, {share}% of all"));
    }
    if listing.file != listing.image && !listing.file.is_empty() {
        lines.push(format!("code read from {}", printable(&listing.file)));
    }
    for note in &listing.notes {
        lines.push(format!("note: {}", printable(note)));
    }
    if listing.jumps.n_hidden > 0 {
        let jumps = Counted::new(listing.jumps.n_hidden as u64, "jump is", "jumps are");
        lines.push(format!("note: {jumps} not drawn, for lack of room"));
    }
    lines.push(format!("percent: {}", listing.percent_type.word()));
    lines
}

/// A sentence in lines of at most so many columns, unless a word is longer; all but the first are indented.
fn wrapped(text: &str, columns: usize) -> impl Iterator<Item = String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            // What is longer than a line stays with what is before it.
            Some(line) if width(line) + 1 + width(word) <= columns || width(word) + 2 > columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter()
}

/// What all lines of a listing share.
#[derive(Debug)]
pub(crate) struct Page<'l> {
    pub(crate) listing: &'l CodeListing<'l>,
    options: &'l TextOptions,
    names: ShortNames,
}

impl<'l> Page<'l> {
    fn new(listing: &'l CodeListing<'l>, options: &'l TextOptions) -> Self {
        Self {
            listing,
            options,
            names: ShortNames::new(&listing.places),
        }
    }

    fn rows(&self, take: &mut TakeLine<'_>) -> io::Result<()> {
        match self.options.by {
            By::Instructions | By::InstructionsOnly => self.code(take),
            By::Lines => self.lines(take),
        }
    }

    /// A line with counts in its first columns.
    fn line(&self, kind: CodeLineKind, counts: &[SampleCount], text: &str) -> CodeLine {
        let counted = counts.iter().enumerate();
        let mut counted = counted.filter(|(_, count)| **count != SampleCount::default());
        CodeLine {
            share: counted
                .next()
                .map(|(event, &count)| self.listing.share(event, count)),
            ..CodeLine::new(kind, self.shares(counts) + text.trim_end())
        }
    }

    /// Columns before a row's text.
    fn shares_width(&self) -> usize {
        self.listing.columns.len() * self.options.cells.width() + 3
    }

    fn separator(&self) -> &'static str {
        match self.options.drawing {
            Drawing::Boxes => " \u{2502} ",
            Drawing::None | Drawing::Ascii => " : ",
        }
    }

    /// Counts in their columns; nothing where nothing was counted.
    fn shares(&self, counts: &[SampleCount]) -> String {
        let columns = self.options.cells.width();
        let cells = self.listing.columns.iter().map(|&event| {
            let count = counts.get(event).copied().unwrap_or_default();
            if count == SampleCount::default() {
                return " ".repeat(columns);
            }
            let share = self.listing.share(event, count);
            let cell = match self.options.cells {
                Cells::Percent => share.to_string(),
                Cells::Samples => count.samples.to_string(),
                Cells::Weight => count.weight.to_string(),
            };
            // A number that fills its column would touch the one before it.
            let cell = at_right(&format!(" {cell}"), columns);
            if self.options.colors {
                colored(&cell, share)
            } else {
                cell
            }
        });
        cells.collect::<String>() + self.separator()
    }

    /// The same within a text.
    fn shares_in_words(&self, counts: &[SampleCount]) -> String {
        words(self.listing, counts)
    }

    /// A text that begins in a column, cut to the line's end.
    fn fitted(&self, text: &str, column: usize) -> String {
        match self.options.fit {
            Some(fit) => fit.cut(text, fit.room(column)).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Columns from this one on.
    fn room(&self, column: usize) -> usize {
        self.options.fit.map_or(usize::MAX, |fit| fit.room(column))
    }

    /// What is not code.
    fn dim(&self, text: &str) -> String {
        if self.options.colors && !text.is_empty() {
            format!("\x1b[2m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Names of the columns.
    fn columns(&self, kind: CodeLineKind, what: &str) -> CodeLine {
        let n_events = self.listing.columns.len();
        let cells = (1..=n_events).map(|number| {
            let name = match n_events {
                1 => self.options.cells.title().to_owned(),
                _ if self.options.cells == Cells::Percent => format!("% ({number})"),
                _ => format!("({number})"),
            };
            at_right(&name, self.options.cells.width())
        });
        let cells: String = cells.collect();
        CodeLine::new(kind, format!("{cells}{}{what}", self.separator()))
    }
}

/// Percentages of counts, by event.
pub(crate) fn words(listing: &CodeListing<'_>, counts: &[SampleCount]) -> String {
    let shares = listing.columns.iter().map(|&event| {
        let count = counts.get(event).copied().unwrap_or_default();
        format!("{}%", listing.share(event, count))
    });
    shares.collect::<Vec<_>>().join(", ")
}
