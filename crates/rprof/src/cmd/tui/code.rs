//! The code of functions, read beside the interface.

use super::super::annotate::CodeOf;
use crate::args::{AnnotateArgs, TuiArgs};
use anyhow::{Context, Result, bail};
use crossbeam_channel::{Receiver, Sender};
use rprof_analysis::{ChoiceError, CodeOptions, CodeRecording, FoundFunction, WantedFunction};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{FilterError, Profile, TimeSlices};
use rprof_query::SampleSelection;
use rprof_tui::{CodeAnswer, CodeLines, FunctionOf, TuiUpdate, WantedCode};
use std::path::Path;
use std::sync::Arc;

/// What reads code.
pub(super) struct CodeReader {
    reader: Arc<Reader>,
    locator: Arc<Locator>,
    /// The command line's samples.
    options: CodeOptions,
    /// How code is written.
    listing: AnnotateArgs,
    /// Names of the events that are shown, by number.
    events: Vec<String>,
}

impl CodeReader {
    pub(super) fn of(
        args: &TuiArgs,
        (reader, locator): (&Arc<Reader>, &Arc<Locator>),
        profile: &Profile,
    ) -> Result<Self> {
        let events = profile.events.iter();
        Ok(Self {
            reader: Arc::clone(reader),
            locator: Arc::clone(locator),
            options: CodeOptions {
                filter: args.input.filter(),
                fde: !args.fde.no_fde,
                demangling: args.input.demangling(),
                ..CodeOptions::default()
            },
            listing: args.listing()?,
            events: events.map(|event| event.name.raw().to_owned()).collect(),
        })
    }

    /// Reads what is asked for; of several, the last. The samples that were counted last are kept.
    pub(super) fn run(&self, asked: &Receiver<WantedCode>, to: &Sender<TuiUpdate>) {
        let mut last: Option<(CodeOptions, CodeRecording<'_>)> = None;
        while let Ok(wanted) = asked.recv() {
            let wanted = asked.try_iter().last().unwrap_or(wanted);
            let code = self.lines(&wanted, &mut last);
            let code = code.map_err(|error| format!("{error:#}"));
            if to
                .send(TuiUpdate::Code(Box::new(CodeAnswer { wanted, code })))
                .is_err()
            {
                return;
            }
        }
    }

    fn lines<'a>(
        &'a self,
        wanted: &WantedCode,
        last: &mut Option<(CodeOptions, CodeRecording<'a>)>,
    ) -> Result<CodeLines> {
        let WantedCode {
            function,
            selection,
        } = wanted;
        let (options, is_of_selection) = self.options_of(function, selection)?;
        if last.as_ref().is_none_or(|(of, _)| *of != options) {
            let of = options.clone();
            let recording = CodeRecording::open(&self.reader, &self.locator, of, &mut |_| {})?;
            *last = Some((options, recording));
        }
        let (_, recording) = last.as_ref().context("there is no code")?;
        let found = found(recording, function)?;
        let code = CodeOf {
            args: &self.listing,
            reader: &self.reader,
            recording,
            locator: &self.locator,
        };
        let text = code.text(&found)?;
        let text = String::from_utf8(text).context("the code is no text")?;
        Ok(CodeLines {
            lines: text.lines().map(str::to_owned).collect(),
            is_of_selection,
        })
    }

    /// The samples of a selection, as annotation asks for them, and whether they are all that is asked for.
    fn options_of(
        &self,
        function: &FunctionOf,
        selection: &SampleSelection,
    ) -> Result<(CodeOptions, bool)> {
        let mut options = self.options.clone();
        let mut is_exact = true;
        let filter = &mut options.filter;
        if let Some(times) = &selection.times_ns {
            // What is selected is within the command line's, if that is one time.
            is_exact = filter.times.as_ref().is_none_or(TimeSlices::is_one);
            if is_exact {
                filter.times = Some(TimeSlices::of(times.clone()));
            }
        }
        if !selection.comms.is_empty() {
            filter.comms = selection.comms.clone();
        }
        if !selection.tids.is_empty() {
            (filter.pids, filter.tids) = (selection.pids.clone(), selection.tids.clone());
        }
        // Own samples of a function are in its image.
        is_exact &= selection.dsos.accepts(&[&function.image]);
        if !selection.frames.is_empty() && !selection.frames.accepts(&[&function.name]) {
            // What does not fit itself is called by what does; what is not to be in a stack is not asked there.
            match selection.frames.has_unwanted() {
                true => is_exact = false,
                false => options.callers = selection.frames.clone(),
            }
        }
        options.event = self.event_number(selection.event);
        Ok((options, is_exact))
    }

    /// The number in the recording of the event with a number in the profile, if only one is called so.
    fn event_number(&self, number: usize) -> Option<usize> {
        let name = self.events.get(number)?;
        let recorded = self.reader.events().iter().enumerate();
        let mut alike = recorded.filter(|(_, event)| event.name.raw() == name.as_str());
        match (alike.next(), alike.next()) {
            (Some((number, _)), None) => Some(number),
            _ => None,
        }
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
