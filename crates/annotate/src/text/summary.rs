//! The hottest functions and lines above the code; lines alone.

use super::{By, Page, TakeLine};
use crate::listing::CodeListing;
use crate::places::{FileLine, Places};
use rprof_base::Counted;
use rprof_profile::SampleCount;
use rprof_profile::code::{CallSite, CodeFrame, CodeLine, CodeLineKind};
use rprof_profile::text::at_right;
use rprof_untrusted::printable;
use std::collections::BTreeMap;
use std::io;

/// Rows of a table above the code.
const MOST: usize = 10;

/// Files by as many of the last parts of their paths as tell them apart.
#[derive(Debug, Default)]
pub(crate) struct ShortNames(BTreeMap<String, String>);

impl ShortNames {
    pub(crate) fn new(places: &Places) -> Self {
        let files = places.files.iter().map(|file| file.file.as_str());
        let mut open: Vec<&str> = files.collect();
        let mut names = BTreeMap::new();
        let longest = open.iter().map(|file| file.split('/').count()).max();
        for n_parts in 1..=longest.unwrap_or(0) {
            let mut n_with: BTreeMap<&str, usize> = BTreeMap::new();
            for file in &open {
                *n_with.entry(end(file, n_parts)).or_default() += 1;
            }
            open.retain(|file| {
                let is_alone = n_with.get(end(file, n_parts)) == Some(&1);
                if is_alone {
                    names.insert((*file).to_owned(), end(file, n_parts).to_owned());
                }
                !is_alone
            });
        }
        Self(names)
    }

    /// A file's name.
    pub(crate) fn file(&self, file: &str) -> String {
        let known = self.0.get(file).map(String::as_str);
        // Files of calls only: they have no instruction of their own.
        let name = known.unwrap_or_else(|| end(file, 1));
        printable(name).into_owned()
    }

    /// A line as `file:line`.
    pub(crate) fn line(&self, file: &str, line: u32) -> String {
        format!("{}:{line}", self.file(file))
    }
}

/// The last parts of a path.
fn end(path: &str, n_parts: usize) -> &str {
    let slash = path.rmatch_indices('/').nth(n_parts.saturating_sub(1));
    slash.map_or(path, |(at, _)| path.get(at + 1..).unwrap_or(path))
}

/// Numbers of counts that are not zero: those that the first events have most of first.
pub(crate) fn hottest<'c>(all: impl Iterator<Item = (usize, &'c [SampleCount])>) -> Vec<usize> {
    let mut found: Vec<(usize, Vec<u64>)> = all
        .filter(|(_, counts)| is_counted(counts))
        .map(|(number, counts)| (number, counts.iter().map(|count| count.weight).collect()))
        .collect();
    found.sort_by(|(one, left), (other, right)| right.cmp(left).then(one.cmp(other)));
    found.into_iter().map(|(number, _)| number).collect()
}

/// Where an inlined function was called, with what was counted there, the hottest first.
pub(crate) fn call_sites(
    listing: &CodeListing<'_>,
    names: &ShortNames,
) -> Vec<(Vec<SampleCount>, String)> {
    let sites = listing.inlined.as_ref().map_or(&[][..], |it| &it.sites);
    let order = hottest(sites.iter().map(|site| &site.counts[..]).enumerate());
    let row = |site: &CallSite| {
        let CodeFrame { function, line } = &site.caller;
        let function = printable(function);
        let text = match line {
            Some((file, line)) => format!("{}  in {function}", names.line(file, *line)),
            None => format!("in {function}"),
        };
        (site.counts.clone(), text)
    };
    order
        .iter()
        .filter_map(|&at| sites.get(at))
        .map(row)
        .collect()
}

impl Page<'_> {
    pub(super) fn summary(&self, take: &mut TakeLine<'_>) -> io::Result<()> {
        let places = &self.listing.places;
        let sites = call_sites(self.listing, &self.names);
        if !sites.is_empty() {
            let heading = (CodeLineKind::TableHeading, "Inlined at");
            self.table(heading, &sites, take)?;
        }
        if places.has_inlined() {
            let all = places.inlined.iter().map(|it| &it.counts[..]);
            let rows = hottest(all.enumerate()).into_iter().filter_map(|number| {
                let found = places.inlined.get(number)?;
                let function = printable(&found.function);
                let inlined = if found.is_inlined { " (inlined)" } else { "" };
                Some((found.counts.clone(), format!("{function}{inlined}")))
            });
            let heading = (CodeLineKind::TableHeading, "Functions");
            self.table(heading, &rows.collect::<Vec<_>>(), take)?;
        }
        if self.options.by == By::InstructionsOnly {
            return Ok(());
        }
        let all = places.lines.iter().map(|it| &it.counts[..]);
        let rows = hottest(all.enumerate()).into_iter().filter_map(|number| {
            let found = places.lines.get(number)?;
            let name = self.names.line(&found.file, found.line);
            let text = found.text.as_deref().unwrap_or_default().trim();
            Some((found.counts.clone(), format!("{name}  {text}")))
        });
        let mut rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            return Ok(());
        }
        if is_counted(&places.no_line) {
            rows.push((places.no_line.clone(), "(no line)".to_owned()));
        }
        self.table((CodeLineKind::LinesHeading, "Lines"), &rows, take)
    }

    fn table(
        &self,
        (heading, what): (CodeLineKind, &str),
        rows: &[(Vec<SampleCount>, String)],
        take: &mut TakeLine<'_>,
    ) -> io::Result<()> {
        take(self.columns(heading, what))?;
        for (counts, text) in rows.iter().take(MOST) {
            let text = self.fitted(text, self.shares_width());
            take(self.row(counts, &text))?;
        }
        let rest = rows.get(MOST..).unwrap_or_default();
        if !rest.is_empty() {
            let n_events = self.listing.events.len();
            let sums = crate::listed::sums(n_events, rest.iter().map(|(counts, _)| &counts[..]));
            take(self.row(&sums, &format!("... {} more", rest.len())))?;
        }
        take(blank())
    }

    fn row(&self, counts: &[SampleCount], text: &str) -> CodeLine {
        self.line(CodeLineKind::TableRow, counts, text)
    }

    /// Lines alone, file by file.
    pub(super) fn lines(&self, take: &mut TakeLine<'_>) -> io::Result<()> {
        let places = &self.listing.places;
        let all = places.lines.iter().map(|it| &it.counts[..]);
        let hottest = hottest(all.enumerate()).first().copied();
        let last = places.lines.iter().map(|it| it.line).max();
        let columns = last.unwrap_or(0).to_string().len();
        for file in &places.files {
            take(self.columns(CodeLineKind::TableHeading, &printable(&file.file)))?;
            let mut next = None;
            for line in &file.lines {
                if next.is_some_and(|next| next != line.line) {
                    take(self.row(&[], "..."))?;
                }
                take(self.source_line(line, columns, hottest))?;
                next = line.line.checked_add(1);
            }
            take(blank())?;
        }
        if is_counted(&places.no_line) {
            take(self.row(&places.no_line, "(no line)"))?;
        }
        if places.lines.is_empty() {
            let n = self.listing.instructions.len() as u64;
            let n = Counted::new(n, "instruction", "instructions");
            let text = format!("no source lines are known for its {n}");
            take(CodeLine::new(CodeLineKind::Text, text))?;
        }
        Ok(())
    }

    fn source_line(&self, line: &FileLine, columns: usize, hottest: Option<usize>) -> CodeLine {
        let places = &self.listing.places;
        let place = line.place.and_then(|place| places.lines.get(place));
        let counts = place.map_or(&[][..], |place| &place.counts);
        let mark = if line.place.is_some() && line.place == hottest {
            '>'
        } else {
            ' '
        };
        let number = at_right(&line.line.to_string(), columns);
        let text = line.text.as_deref().unwrap_or_default();
        let text = self.fitted(text, self.shares_width() + columns + 4);
        self.row(counts, &format!("{mark} {number}  {text}"))
    }
}

fn blank() -> CodeLine {
    CodeLine::new(CodeLineKind::Text, String::new())
}

/// Whether anything was counted, of any event.
pub(super) fn is_counted(counts: &[SampleCount]) -> bool {
    counts.iter().any(|&count| count != SampleCount::default())
}
