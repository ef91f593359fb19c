//! `rprof annotate`.

mod below;
mod choice;
mod excerpts;
mod inlined;
mod refused;
mod view;
mod wanted;

use super::no_match;
use super::reading::{open_code, with_progress};
use super::several::{self, SharedWarnings};
use crate::args::{AnnotateArgs, Recordings};
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result, anyhow};
use choice::NotChosen;
use excerpts::{ChooseInstructions, TakeListing};
use inlined::{Chosen, ShownInlined};
#[cfg(feature = "tui")]
use rprof_analysis::WantedFunction;
use rprof_analysis::{CodeRecording, CountedCode, FoundFunction};
use rprof_annotate::SourceSettings;
use rprof_base::Share;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
#[cfg(feature = "tui")]
use rprof_profile::NameList;
#[cfg(feature = "tui")]
use rprof_profile::code::CodeLine;
use std::path::PathBuf;
use std::process::ExitCode;
use view::View;
use wanted::Wanted;

pub(crate) fn run(args: &AnnotateArgs, paging: PagerArgs) -> Result<ExitCode> {
    args.listing.check()?;
    let recordings = several::recordings_with_code(&args.recordings(), args.samples.limits)?;
    let reader = open_code(recordings.first().path(), args.samples.limits)?;
    if !args.caller.is_empty() && !reader.has_call_chains() {
        return Err(usage(
            "--caller needs callers, but the recording has no call chains: record with rprof record -g",
        ));
    }
    let mut warnings = SharedWarnings::default();
    let others = count_others(args, recordings.others(), &mut warnings)?;
    let locator = args.samples.locator(&reader);
    let opened = (&reader, &locator);
    let recording = with_progress(&reader, |show| {
        CodeRecording::open_with(opened, args.options(), others, show)
    })?;
    if !args.listing.look.quiet {
        recording.warnings.iter().for_each(say::warning);
        warnings.into_sentences().iter().for_each(say::warning);
    }
    let (mut inlined, mut note, mut called) = (None, None, None);
    let wanted = match args.function() {
        Some(wanted) => {
            let said = NotChosen {
                args,
                wanted,
                recording: &recording,
                opened: (&reader, &locator),
            };
            let chosen = Chosen::of(&recording, wanted, recording.choose(wanted));
            match chosen.map_err(|error| said.error(&error))? {
                Chosen::Standalone(function, said) => {
                    if args.into.is_some() {
                        return Err(usage(format_args!(
                            "--into is for inlined code; most samples of {} are in its own",
                            function.name
                        )));
                    }
                    let is_empty = function.own.iter().all(|own| own.samples == 0);
                    let below = is_empty
                        .then(|| below::sentence(args, &reader, &recording, &function.name));
                    (note, called) = (said, below.flatten());
                    Wanted::all(vec![function])
                }
                Chosen::Inlined(shown) => {
                    let containers = match &args.into {
                        Some(names) => shown
                            .containers_named(names)
                            .map_err(|why| anyhow!("--into: no such function: {why}"))?,
                        None => shown.containers(&recording, args.share),
                    };
                    inlined = Some(shown);
                    containers
                }
            }
        }
        None if args.into.is_some() => {
            return Err(usage("--into needs the function that was inlined"));
        }
        None => hottest(args, &recording),
    };
    if wanted.functions.is_empty() {
        say::warning(nothing(args, (&reader, &recordings), &recording.unnamed));
    }
    if let Some(times) = args.samples.filter().times {
        let said = format!(
            "only samples of --time {}: percentages are of these",
            times.text()
        );
        note = [note, Some(said)].into_iter().flatten().reduce(both);
    }
    // Last: it ends with a command.
    note = [note, called].into_iter().flatten().reduce(both);
    let view = View {
        args,
        reader: &reader,
        recording: &recording,
        servers: locator.debuginfod.as_deref(),
        inlined,
        note,
        sources: Some(args.listing.sources(args.samples.symfs())),
    };
    view.show(&wanted, paging)
}

/// Two notes as one.
fn both(one: String, other: String) -> String {
    format!("{one}; {other}")
}

/// Counts the samples of all recordings but the first.
fn count_others(
    args: &AnnotateArgs,
    others: &[PathBuf],
    warnings: &mut SharedWarnings,
) -> Result<CountedCode> {
    let mut counted = CountedCode::default();
    for path in others {
        let reader = open_code(path, args.samples.limits)?;
        let locator = args.samples.locator(&reader);
        let add = |show: &mut dyn FnMut(f64)| counted.add(&reader, &locator, &args.options(), show);
        let said = with_progress(&reader, add);
        warnings.add(
            path,
            &said.with_context(|| format!("reading {}", path.display()))?,
        );
    }
    Ok(counted)
}

/// Lines of code that was inlined; the functions that it is a part of, with its samples there.
#[cfg(feature = "tui")]
pub(crate) type InlinedLines = (Vec<CodeLine>, Vec<(String, u64)>);

/// A request for the code of functions, with the recording and its files.
pub(crate) struct CodeOf<'a, 'r> {
    pub(crate) args: &'a AnnotateArgs,
    pub(crate) reader: &'a Reader,
    pub(crate) recording: &'a CodeRecording<'r>,
    pub(crate) locator: &'a Locator,
}

impl<'a, 'r> CodeOf<'a, 'r> {
    /// Hands over functions with code, the hottest first, of which some instructions are shown; without places of source
    /// files, these are not looked for. Returns the functions whose code cannot be shown, and why.
    pub(crate) fn excerpts(
        &self,
        functions: Vec<FoundFunction>,
        sources: Option<SourceSettings>,
        choose: &ChooseInstructions<'_>,
        take: &mut TakeListing<'_>,
    ) -> Result<Vec<(FoundFunction, anyhow::Error)>> {
        let view = View {
            sources,
            ..self.view(None)
        };
        view.excerpts(functions, choose, take)
    }

    /// The code of functions, in the lines that `rprof annotate` prints.
    #[cfg(feature = "tui")]
    pub(crate) fn lines(&self, functions: Vec<FoundFunction>) -> Result<Vec<CodeLine>> {
        self.view(None).lines(&Wanted::all(functions))
    }

    /// The code of a function that was inlined, in the functions that it is a part of, or in one of them; nothing if
    /// there is none.
    #[cfg(feature = "tui")]
    pub(crate) fn inlined_lines(
        &self,
        name: &str,
        into: Option<&str>,
    ) -> Result<Option<InlinedLines>> {
        let wanted = WantedFunction::named(name);
        let found = self.recording.inlined(&wanted);
        let Some(inlined) = found.map(|found| ShownInlined::found(wanted, found)) else {
            return Ok(None);
        };
        let all = inlined
            .counted_containers()
            .map(|(name, n)| (name.to_owned(), n))
            .collect();
        let wanted = match into {
            Some(into) => inlined
                .containers_named(&NameList::of([into]))
                .map_err(anyhow::Error::msg)?,
            None => inlined.containers(self.recording, 100.0),
        };
        let lines = self.view(Some(inlined)).lines(&wanted)?;
        Ok(Some((lines, all)))
    }

    fn view(&self, inlined: Option<ShownInlined>) -> View<'a, 'r> {
        View {
            args: self.args,
            reader: self.reader,
            recording: self.recording,
            servers: self.locator.debuginfod.as_deref(),
            inlined,
            note: None,
            sources: Some(self.args.listing.sources(self.args.samples.symfs())),
        }
    }
}

/// Why there is no function to show.
fn nothing(
    args: &AnnotateArgs,
    (reader, recordings): (&Reader, &Recordings),
    unnamed: &[String],
) -> String {
    match args.samples.filter().accepts_all() && args.caller.is_empty() {
        true if !unnamed.is_empty() => format!("no functions: {}", unnamed.join("; ")),
        true => format!("no samples in functions: {}", recordings.name()),
        false if args.caller.is_empty() => no_match::sentence(reader, &args.samples),
        false => "no sample with this caller matches the filters".to_owned(),
    }
}

/// Functions with samples of their own, the hottest by all events first.
pub(crate) fn by_heat(recording: &CodeRecording<'_>) -> Vec<FoundFunction> {
    let events = recording.events();
    let heat_of = |function: &FoundFunction| {
        let counts = function.own.iter().zip(&events);
        heat(counts.map(|(own, event)| (own.weight, event.all.weight)))
    };
    let functions = recording.functions().iter();
    let mut functions: Vec<(f64, &FoundFunction)> =
        functions.map(|one| (heat_of(one), one)).collect();
    functions.retain(|&(heat, _)| heat > 0.0);
    functions.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    functions.into_iter().map(|(_, one)| one.clone()).collect()
}

/// The shares (percent) that a function has of the events, added up; of each, its own weight and that of all.
pub(crate) fn heat(weights: impl Iterator<Item = (u64, u64)>) -> f64 {
    weights
        .map(|(own, all)| Share::of(own, all).percent())
        .sum()
}

/// The functions to show by default. Functions without code do not count towards the share.
fn hottest(args: &AnnotateArgs, recording: &CodeRecording<'_>) -> Wanted {
    let percent = |function: &FoundFunction| -> Vec<f64> {
        let events = function.own.iter().zip(recording.events());
        let events = events.map(|(own, event)| Share::of(own.weight, event.all.weight).percent());
        events.collect()
    };
    let shares = recording.functions().iter().map(percent);
    let heat: f64 = shares.flatten().sum();
    let mut functions: Vec<(FoundFunction, f64)> = Vec::new();
    for function in recording.functions() {
        let shares = percent(function);
        let is_small = shares.iter().all(|&share| share < args.percent_limit);
        let own: f64 = shares.iter().sum();
        // One is shown whatever its share is.
        if own > 0.0 && (functions.is_empty() || !is_small) {
            functions.push((function.clone(), own));
        }
    }
    functions.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Wanted {
        functions,
        heat: heat * args.share / 100.0,
    }
}
