//! A listing as Markdown, for tickets: the hottest lines and functions as tables, the code around samples fenced.

use crate::listing::CodeListing;
use crate::text::{
    By, Folding, ShortNames, TextOptions, call_sites, heading, hottest, write_text_code,
};
use rprof_profile::SampleCount;
use rprof_profile::text::markdown_cell;
use std::io::{self, Write};

/// Rows of a table.
const MOST: usize = 10;

/// How a listing is written as Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MarkdownOptions {
    /// What has rows in the code.
    pub by: By,
    /// Instructions around samples that are shown; by default a few.
    pub folding: Folding,
}

/// Writes what one function has.
///
/// # Errors
/// The writer's.
pub fn write_markdown(
    listing: &CodeListing<'_>,
    options: &MarkdownOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = heading(listing).into_iter();
    let title = lines.next().unwrap_or_default();
    writeln!(out, "## {}\n", markdown_cell(&title))?;
    for line in lines {
        writeln!(out, "- {}", markdown_cell(&line))?;
    }
    writeln!(out)?;
    let places = &listing.places;
    let names = ShortNames::new(places);
    let sites = call_sites(listing, &names);
    let sites = sites
        .iter()
        .map(|(counts, text)| (&counts[..], text.clone()));
    write_table(listing, "Inlined at", &sites.collect::<Vec<_>>(), out)?;
    let functions = places.inlined.iter();
    let functions = functions.map(|it| (&it.counts[..], it.function.clone()));
    if places.has_inlined() {
        write_table(listing, "Function", &functions.collect::<Vec<_>>(), out)?;
    }
    let lines = places.lines.iter().map(|it| {
        let text = it.text.as_deref().unwrap_or_default().trim();
        let line = format!("{} {text}", names.line(&it.file, it.line));
        (&it.counts[..], line)
    });
    write_table(listing, "Line", &lines.collect::<Vec<_>>(), out)?;
    let folding = match options.folding {
        Folding::Automatic => Folding::Around(Folding::AROUND / 2),
        own => own,
    };
    let text = TextOptions {
        by: options.by,
        folding,
        ..TextOptions::default()
    };
    let mut code = Vec::new();
    write_text_code(listing, &text, &mut code)?;
    let code = String::from_utf8_lossy(&code);
    let fence = fence(&code);
    writeln!(out, "{fence}text\n{code}{fence}\n")
}

fn write_table(
    listing: &CodeListing<'_>,
    what: &str,
    rows: &[(&[SampleCount], String)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = rows.iter().map(|(counts, _)| *counts).enumerate();
    let order = hottest(all);
    if order.is_empty() {
        return Ok(());
    }
    let columns = listing.columns.iter();
    let events: String = columns
        .filter_map(|&event| listing.events.get(event))
        .map(|event| format!(" {} |", markdown_cell(&event.name)))
        .collect();
    writeln!(out, "|{events} {what} |")?;
    writeln!(out, "|{} --- |", " ---: |".repeat(listing.columns.len()))?;
    for (counts, text) in order.iter().take(MOST).filter_map(|&row| rows.get(row)) {
        let shares = listing.columns.iter().map(|&event| {
            let count = counts.get(event).copied().unwrap_or_default();
            format!(" {}% |", listing.share(event, count))
        });
        let shares: String = shares.collect();
        writeln!(out, "|{shares} {} |", markdown_cell(text))?;
    }
    if order.len() > MOST {
        writeln!(out, "\n... {} more", order.len() - MOST)?;
    }
    writeln!(out)
}

/// More backticks than the code has in a row.
fn fence(code: &str) -> String {
    let (mut longest, mut here) = (2, 0);
    for character in code.chars() {
        here = if character == '`' { here + 1 } else { 0 };
        longest = longest.max(here);
    }
    "`".repeat(longest + 1)
}
