//! Tables, one after each refresh: what `top -b` is to `top`.

use super::warnings::SaidWarnings;
use super::window::LiveWindow;
use crate::args::{TopViewArgs, TopWindow};
use crate::say;
use crate::screen::{self, Colors};
use anyhow::{Context, Result};
use rprof_base::Counted;
use rprof_profile::Profile;
use rprof_profile::view::{Sum, WantedColumns};
use rprof_record::{NextSegment, RecordedSegment, Segments};
use rprof_report::{EventTables, Layout, Percentage, TableOptions, write_table};
use rprof_untrusted::printable;
use std::io::{BufWriter, IsTerminal, Write};
use std::time::Duration;

/// Writes tables.
pub(super) struct Tables {
    window: LiveWindow,
    view: TopViewArgs,
    /// Number of segments that were not read in time.
    n_dropped: u64,
    /// Warnings already printed.
    said: SaidWarnings,
}

/// Number of rows without a terminal.
const ROWS: usize = 40;

/// Number of lines of a table that are not rows; those below it are broken between words.
const OTHER_LINES: usize = 20;

/// Timeout of one wait for a segment.
const WAIT: Duration = Duration::from_secs(3600);

impl Tables {
    pub(super) fn new(window: LiveWindow, view: TopViewArgs) -> Self {
        Self {
            window,
            view,
            n_dropped: 0,
            said: SaidWarnings::default(),
        }
    }

    /// Shows each segment as it comes, until the recording ends.
    pub(super) fn show(&mut self, segments: &Segments) -> Result<()> {
        let shown = self.show_all(segments);
        self.said.rest().for_each(say::warning);
        shown?;
        match &self.view.save {
            Some(path) => self.window.save_and_say(path),
            None => Ok(()),
        }
    }

    fn show_all(&mut self, segments: &Segments) -> Result<()> {
        loop {
            match segments.next(WAIT) {
                NextSegment::End => return Ok(()),
                NextSegment::NotYet => {}
                NextSegment::Segment(segment) => {
                    let n_dropped = segments.take_dropped();
                    if n_dropped > 0 {
                        self.window.skip();
                    }
                    self.n_dropped += n_dropped;
                    self.refresh(segment)?;
                    if self.view.once {
                        segments.stop();
                        return Ok(());
                    }
                }
            }
        }
    }

    fn refresh(&mut self, segment: RecordedSegment) -> Result<()> {
        self.window.take(segment)?;
        let profile = self.window.profile();
        for warning in &profile.warnings {
            if let Some(warning) = self.said.take(warning) {
                say::warning(warning);
            }
        }
        let stdout = std::io::stdout().lock();
        let can_clear = stdout.is_terminal() && !screen::is_dumb();
        let mut out = BufWriter::with_capacity(1 << 16, stdout);
        let mut write = || -> std::io::Result<()> {
            if can_clear && !self.view.once {
                // The upper left corner, and nothing below.
                out.write_all(b"\x1b[H\x1b[2J")?;
            }
            self.write_head(&profile, &mut out)?;
            write_table(&profile, &self.options(), &mut out)?;
            out.flush()
        };
        write().context("writing the table")
    }

    /// Writes the line above the table.
    fn write_head(&self, profile: &Profile, out: &mut impl Write) -> std::io::Result<()> {
        let samples: u64 = profile.events.iter().map(|event| event.samples).sum();
        let names = profile.events.iter().map(|event| event.name.raw());
        let names: Vec<&str> = names.collect();
        let samples = Counted::new(samples, "sample", "samples");
        let mut line = format!(
            "rprof top: {}: {samples} {}, {} new ({:.0}/s), {}",
            names.join(", "),
            self.since(),
            self.window.n_new,
            self.window.rate,
            self.window.lost(),
        );
        if self.n_dropped > 0 {
            let dropped = Counted::new(self.n_dropped, "sample was", "samples were");
            line += &format!("; {dropped} not shown: they arrived faster than they could be read");
        }
        if self.window.left_out() > 0 {
            let left_out = Counted::new(self.window.left_out(), "older sample", "older samples");
            line += &format!("; {left_out} omitted: too many to keep");
        }
        writeln!(out, "{}", printable(&line))
    }

    /// The time span of the counted samples, in words.
    fn since(&self) -> String {
        match self.view.window {
            TopWindow::All if !self.view.zero => "since the start".to_owned(),
            _ => format!("in {:.1} s", self.window.time().as_secs_f64()),
        }
    }

    fn options(&self) -> TableOptions {
        let view = &self.view;
        let wanted = WantedColumns {
            sums: view
                .show_nr_samples
                .then_some(Sum::Samples)
                .into_iter()
                .collect(),
            ..WantedColumns::default()
        };
        TableOptions {
            columns: wanted.columns(&view.keys(), view.weighing()),
            hierarchy: false,
            spans: false,
            events: EventTables::default(),
            graph: None,
            percent_limit: view.percent_limit,
            limits_trees: false,
            is_filtered: false,
            percentage: Percentage::Absolute,
            time_slices: None,
            colors: Colors::Auto.is_on(),
            layout: Layout {
                limit: Some(view.entries.unwrap_or_else(rows)),
                fit: screen::fit(),
                ..Layout::default()
            },
        }
    }
}

/// Number of rows that fit.
fn rows() -> usize {
    match screen::lines() {
        None => ROWS,
        Some(lines) => lines.saturating_sub(OTHER_LINES).max(5),
    }
}
