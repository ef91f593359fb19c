//! What the interface requests from the program: code of functions, files to save.

use super::samples::WantedReading;
use anyhow::{Context, Result};
use crossbeam_channel::Sender;
use rprof_export::{Folded, Format};
use rprof_profile::Profile;
use rprof_profile::view::Columns;
use rprof_report::{
    EventTables, FlameOptions, Layout, Percentage, TableOptions, write_flame, write_json,
};
use rprof_tui::{Face, SampleScope, SaveForm, Saved, WantedCode, WantedComparison};
use std::io;
use std::path::PathBuf;

/// The program, as the interface sees it.
pub(super) struct TerminalFace {
    /// Channel to the thread that reads code.
    pub(super) asked: Sender<WantedCode>,
    /// Channel to the thread that reads samples.
    pub(super) reads: Sender<WantedReading>,
}

impl Face for TerminalFace {
    fn ask_code(&mut self, wanted: WantedCode) -> Result<(), String> {
        let sent = self.asked.send(wanted);
        sent.map_err(|_| "code can no longer be read".to_owned())
    }

    fn ask_scope(&mut self, wanted: SampleScope) -> Result<(), String> {
        self.read(WantedReading::Scope(wanted))
    }

    fn ask_comparison(&mut self, wanted: WantedComparison) -> Result<(), String> {
        self.read(WantedReading::Comparison(Box::new(wanted)))
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<String, String> {
        save_view(saved).map_err(|error| format!("{error:#}"))
    }

    fn pause(&mut self, _: bool) {}
}

impl TerminalFace {
    fn read(&self, wanted: WantedReading) -> Result<(), String> {
        let sent = self.reads.send(wanted);
        sent.map_err(|_| "samples can no longer be read".to_owned())
    }
}

/// Writes the view to a new file, and returns its name.
pub(in crate::cmd) fn save_view(saved: &Saved<'_>) -> Result<String> {
    let path = free_name(saved.form)?;
    crate::target::write(Some(&path), |mut out| write(saved, &mut out))?;
    Ok(path.display().to_string())
}

/// The first unused file name; for text, perf's name.
pub(in crate::cmd) fn free_name(form: SaveForm) -> Result<PathBuf> {
    let name = |number: u32| match form {
        SaveForm::Text => format!("perf.hist.{number}"),
        SaveForm::Svg => format!("rprof.{number}.svg"),
        SaveForm::Folded => format!("rprof.{number}.folded"),
        SaveForm::Json => format!("rprof.{number}.json"),
        SaveForm::Recording => format!("rprof.{number}.data"),
    };
    let mut names = (0..1000).map(|number| PathBuf::from(name(number)));
    names
        .find(|path| path.symlink_metadata().is_err())
        .context("too many files with such names here")
}

fn write(saved: &Saved<'_>, mut out: &mut dyn io::Write) -> io::Result<()> {
    match saved.form {
        SaveForm::Text => out.write_all(saved.text.as_bytes()),
        SaveForm::Svg => {
            let options = FlameOptions::default();
            let drawn = write_flame(saved.profile, saved.event, &options, &mut out);
            drawn.map(|_| ()).map_err(io::Error::other)
        }
        SaveForm::Folded => Folded { event: 0 }.write(&alone(saved), out),
        SaveForm::Recording => Err(io::Error::other("this is a recording already")),
        SaveForm::Json => write_json(&alone(saved), &table(saved), &mut out),
    }
}

/// The profile with only the shown event.
fn alone(saved: &Saved<'_>) -> Profile {
    Profile {
        events: vec![saved.event.clone()],
        event_groups: Vec::new(),
        ..saved.profile.clone()
    }
}

fn table(saved: &Saved<'_>) -> TableOptions {
    TableOptions {
        columns: Columns::of(saved.keys, saved.weighing),
        hierarchy: false,
        spans: false,
        events: EventTables::default(),
        graph: None,
        percent_limit: 0.0,
        limits_trees: false,
        is_filtered: true,
        percentage: Percentage::Absolute,
        time_slices: None,
        colors: false,
        layout: Layout::default(),
    }
}
