//! What the interface asks of the program: code of functions, files.

use super::super::annotate::CodeOf;
use crate::args::{AnnotateArgs, TuiArgs};
use crate::target;
use anyhow::{Context, Result, bail};
use rprof_analysis::{ChoiceError, CodeOptions, CodeRecording, FoundFunction, WantedFunction};
use rprof_export::{Folded, Format};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::view::Columns;
use rprof_profile::{FilterError, NameList, Profile};
use rprof_report::{
    EventTables, FlameOptions, Layout, Percentage, TableOptions, write_flame, write_json,
};
use rprof_tui::{Face, FunctionOf, SaveForm, Saved};
use std::io;
use std::path::{Path, PathBuf};

/// The program, as the interface sees it.
pub(super) struct TerminalFace<'r> {
    args: &'r TuiArgs,
    reader: &'r Reader,
    locator: &'r Locator,
    /// How code is written.
    listing: AnnotateArgs,
    /// Read when the first code is asked for.
    code: Option<CodeRecording<'r>>,
}

impl<'r> TerminalFace<'r> {
    pub(super) fn of(args: &'r TuiArgs, reader: &'r Reader, locator: &'r Locator) -> Result<Self> {
        Ok(Self {
            args,
            reader,
            locator,
            listing: args.listing()?,
            code: None,
        })
    }

    fn code_lines(&mut self, function: &FunctionOf) -> Result<Vec<String>> {
        if self.code.is_none() {
            let options = CodeOptions {
                filter: self.args.input.filter(),
                callers: NameList::default(),
                fde: !self.args.fde.no_fde,
                demangling: self.args.input.demangling(),
            };
            let recording = CodeRecording::open(self.reader, self.locator, options, &mut |_| {})?;
            self.code = Some(recording);
        }
        let recording = self.code.as_ref().context("there is no code")?;
        let found = found(recording, function)?;
        let code = CodeOf {
            args: &self.listing,
            reader: self.reader,
            recording,
            locator: self.locator,
        };
        let text = code.text(&found)?;
        let text = String::from_utf8(text).context("the code is no text")?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// The function of that name, image and start: no other one that is called so.
fn found(recording: &CodeRecording<'_>, function: &FunctionOf) -> Result<FoundFunction> {
    let is_meant = |one: &FoundFunction| {
        let short = Path::new(&one.image).file_name();
        let is_image = short.is_some_and(|short| short == function.image.as_str())
            || one.image == function.image;
        // A jitdump has other addresses.
        let is_start = one.is_jit || function.start.is_none_or(|start| one.start == start);
        is_image && is_start
    };
    let sampled = recording.functions().iter();
    let sampled = sampled.filter(|one| one.name == function.name && is_meant(one));
    let sampled: Vec<FoundFunction> = sampled.cloned().collect();
    let all = match sampled.is_empty() {
        true => without_samples(recording, function),
        false => sampled,
    };
    let mut meant = all.into_iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => bail!(
            "{}: its code in {} is not found",
            function.name,
            function.image
        ),
        (Some(_), Some(_)) => bail!("{} has several functions {}", function.image, function.name),
    }
}

/// Functions that a file has under this name, where none has samples of its own.
fn without_samples(recording: &CodeRecording<'_>, function: &FunctionOf) -> Vec<FoundFunction> {
    let no_file = |_: &str| Err(FilterError("no file".to_owned()));
    let name = match function.start {
        Some(start) => format!("{}@{start:#x}", function.name),
        None => function.name.clone(),
    };
    match WantedFunction::parse(&name, no_file).map(|wanted| recording.choose(&wanted)) {
        Ok(Ok(one)) => vec![one],
        Ok(Err(ChoiceError::Several(all) | ChoiceError::Elsewhere(all))) => all,
        _ => Vec::new(),
    }
}

impl Face for TerminalFace<'_> {
    fn code(&mut self, function: &FunctionOf) -> Result<Vec<String>, String> {
        self.code_lines(function)
            .map_err(|error| format!("{error:#}"))
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<String, String> {
        save_view(saved).map_err(|error| format!("{error:#}"))
    }

    fn pause(&mut self, _: bool) {}
}

/// Writes what is seen into a new file, and returns its name.
pub(in crate::cmd) fn save_view(saved: &Saved<'_>) -> Result<String> {
    let path = free_name(saved.form)?;
    target::write(Some(&path), |mut out| write(saved, &mut out))?;
    Ok(path.display().to_string())
}

/// The first name that no file has: perf's for text.
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
        .context("there are too many such files here")
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
        SaveForm::Recording => Err(io::Error::other("it is one")),
        SaveForm::Json => write_json(&alone(saved), &table(saved), &mut out),
    }
}

/// The profile with the event that is seen, and no other.
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
        events: EventTables::default(),
        graph: None,
        percent_limit: 0.0,
        is_filtered: true,
        percentage: Percentage::Absolute,
        time_slices: None,
        colors: false,
        layout: Layout::default(),
    }
}
