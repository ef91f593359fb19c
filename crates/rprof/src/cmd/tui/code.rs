//! The code of functions, read beside the interface.

use super::super::annotate::CodeOf;
use crate::args::{AnnotateArgs, Recordings, TuiArgs};
use anyhow::{Context, Result, anyhow, bail};
use crossbeam_channel::{Receiver, Sender};
use rprof_analysis::{ChoiceError, CodeOptions, CodeRecording, FoundFunction, WantedFunction};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{Account, Filter, TimeSlices};
use rprof_query::SampleSelection;
use rprof_tui::{CodeAnswer, CodeLines, FunctionOf, TuiUpdate, WantedCode};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Reads code, with the samples and format of the command line.
pub(in crate::cmd) struct CodeReader {
    options: CodeOptions,
    listing: AnnotateArgs,
    /// Whether samples of several recordings are shown, whose code may differ.
    is_of_several: bool,
}

/// Samples that were counted by code, and which ones.
pub(in crate::cmd) type LastCounted<'r> = Option<(CodeOptions, CodeRecording<'r>)>;

impl CodeReader {
    /// For recordings.
    pub(super) fn of(args: &TuiArgs, recordings: &Recordings) -> Result<Self> {
        let (input, symfs) = (&args.input, args.input.samples.symfs());
        Ok(Self {
            options: CodeOptions {
                filter: input.filter(),
                fde: !input.fde.no_fde,
                demangling: input.demangling(),
                ..CodeOptions::default()
            },
            listing: AnnotateArgs::of_screen(Some(recordings.first().path()), symfs.as_deref())?,
            is_of_several: !recordings.others().is_empty(),
        })
    }

    /// For samples that are not in a file yet.
    pub(in crate::cmd) fn of_live(filter: Filter) -> Result<Self> {
        Ok(Self {
            options: CodeOptions {
                filter,
                fde: true,
                ..CodeOptions::default()
            },
            listing: AnnotateArgs::of_screen(None, None)?,
            is_of_several: false,
        })
    }

    /// Answers requests on a recording until the channel closes. Keeps the samples counted last.
    pub(super) fn run(
        &self,
        (reader, locator): (&Reader, &Locator),
        asked: &Receiver<WantedCode>,
        to: &Sender<TuiUpdate>,
    ) {
        let mut last = None;
        answer(asked, to, |wanted| {
            self.lines((reader, locator), wanted, &mut last)
        });
    }

    /// The code of a function. `last` holds the samples counted last, of the same recording.
    pub(in crate::cmd) fn lines<'r>(
        &self,
        (reader, locator): (&'r Reader, &'r Locator),
        wanted: &WantedCode,
        last: &mut LastCounted<'r>,
    ) -> Result<CodeLines> {
        if self.is_of_several {
            bail!("code is shown of one recording: use rprof annotate -i FILE");
        }
        let (options, note) = self.options_of(reader, wanted);
        if last.as_ref().is_none_or(|(of, _)| *of != options) {
            let of = options.clone();
            let recording = CodeRecording::open(reader, locator, of, &mut |_| {})?;
            *last = Some((options, recording));
        }
        let (_, recording) = last.as_ref().context("no code")?;
        let code = CodeOf {
            args: &self.listing,
            reader,
            recording,
            locator,
        };
        let inlined = if wanted.function.is_inlined {
            code.inlined_lines(&wanted.function.name, wanted.into.as_deref())?
        } else {
            None
        };
        let (lines, into) = match inlined {
            Some(inlined) => inlined,
            None => (code.lines(found(recording, &wanted.function)?)?, Vec::new()),
        };
        Ok(CodeLines { lines, note, into })
    }

    /// The samples that are asked for, as annotation asks for them, and what is to be said where it cannot ask for them
    /// alone.
    fn options_of(
        &self,
        reader: &Reader,
        wanted: &WantedCode,
    ) -> (CodeOptions, Option<&'static str>) {
        let WantedCode {
            function,
            account,
            selection,
            event,
            into: _,
        } = wanted;
        let mut options = self.options.clone();
        options.filter.account = *account;
        let mut is_exact = true;
        let filter = &mut options.filter;
        if let Some(times) = &selection.times_ns {
            // What is selected is within the command line's, if that is one time.
            is_exact = filter.times.as_ref().is_none_or(TimeSlices::is_one);
            if is_exact {
                filter.times = Some(TimeSlices::of([times.clone()]));
            }
        }
        narrow_tasks(filter, selection);
        // Own samples of a function are in its image.
        is_exact &= match &function.image {
            Some(image) => selection.dsos.accepts(&[image]),
            None => selection.dsos.is_empty(),
        };
        if selection.frames.has_unwanted() {
            // What is not to be in a stack cannot be asked of callers.
            is_exact = false;
        } else if !selection.frames.accepts(&[&function.name]) {
            // What does not fit itself is called by what does.
            options.callers = selection.frames.clone();
        }
        options.event = match options.filter.account {
            Account::OnCpu => event_number(reader, event),
            // All samples are of one event.
            Account::OffCpu | Account::Wall => None,
        };
        let note = match (is_exact, options.event) {
            (false, _) => Some("all samples, ignoring zooms"),
            (true, None) if options.filter.account == Account::OnCpu => Some("all events"),
            (true, _) => None,
        };
        (options, note)
    }
}

/// Leaves the tasks of a selection.
pub(super) fn narrow_tasks(filter: &mut Filter, selection: &SampleSelection) {
    filter.comms.narrow(&selection.comms);
    if !selection.pids.is_empty() {
        filter.pids.clone_from(&selection.pids);
    }
    if !selection.tids.is_empty() {
        filter.tids.clone_from(&selection.tids);
    }
}

/// The index of the event with this name, if only one has it.
fn event_number(reader: &Reader, name: &str) -> Option<usize> {
    let recorded = reader.events().iter().enumerate();
    let mut alike = recorded.filter(|(_, event)| event.name.raw() == name);
    match (alike.next(), alike.next()) {
        (Some((number, _)), None) => Some(number),
        _ => None,
    }
}

/// Answers requests until the channel closes; of several pending requests, only the last.
pub(in crate::cmd) fn answer(
    asked: &Receiver<WantedCode>,
    to: &Sender<TuiUpdate>,
    mut lines: impl FnMut(&WantedCode) -> Result<CodeLines>,
) {
    while let Ok(wanted) = asked.recv() {
        let wanted = asked.try_iter().last().unwrap_or(wanted);
        let code = or_why(|| lines(&wanted));
        let answer = Box::new(CodeAnswer { wanted, code });
        if to.send(TuiUpdate::Code(answer)).is_err() {
            return;
        }
    }
}

/// What was read; or why nothing was, in a line.
pub(super) fn or_why<T>(read: impl FnOnce() -> Result<T>) -> Result<T, String> {
    let read = catch_unwind(AssertUnwindSafe(read));
    let read = read.unwrap_or_else(|_| Err(anyhow!("reading the recording failed")));
    read.map_err(|error| format!("{error:#}"))
}

/// The functions of that name in that image: those with samples of their own, the heaviest first, else those that its
/// file has.
fn found(recording: &CodeRecording<'_>, function: &FunctionOf) -> Result<Vec<FoundFunction>> {
    let is_meant = |one: &FoundFunction| {
        function.image.as_ref().is_none_or(|image| {
            let short = Path::new(&one.image).file_name();
            short.is_some_and(|short| short == image.as_str()) || one.image == *image
        })
    };
    let sampled = recording.functions().iter();
    let sampled = sampled.filter(|one| one.name == function.name && is_meant(one));
    let mut all: Vec<FoundFunction> = sampled.cloned().collect();
    if all.is_empty() {
        all = without_samples(recording, &function.name);
        all.retain(is_meant);
    }
    if all.is_empty() {
        let FunctionOf { name, image, .. } = function;
        let image = image.as_deref().unwrap_or("any file");
        bail!("{name}: code not found in {image}");
    }
    Ok(all)
}

/// Functions that files have under a name, where none has samples of its own.
fn without_samples(recording: &CodeRecording<'_>, name: &str) -> Vec<FoundFunction> {
    match recording.choose(&WantedFunction::named(name)) {
        Ok(one) => vec![one],
        Err(ChoiceError::Several(all) | ChoiceError::Elsewhere(all)) => all,
        Err(_) => Vec::new(),
    }
}
