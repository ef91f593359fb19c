//! `rprof annotate`.

use super::no_match;
use super::reading::{open, progress};
use crate::args::{AnnotateArgs, ListingFormat};
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result, anyhow};
use rprof_analysis::{
    AskedCode, ChoiceError, CodeOptions, CodeRecording, Description, FoundFunction, OpenCode,
};
use rprof_annotate::{
    CodeListing, Disassembled, FetchSource, SourceFiles, write_json, write_markdown, write_text,
};
use rprof_base::Share;
use rprof_disassembly::{Decoder, Instruction};
use rprof_events::suggest;
use rprof_locate::Debuginfod;
use rprof_perfdata::Reader;
use rprof_untrusted::Held;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Functions that are listed where several are meant, or offered where none is.
const N_OFFERED: usize = 12;

pub(crate) fn run(args: &AnnotateArgs, paging: PagerArgs) -> Result<ExitCode> {
    args.listing.check()?;
    let reader = open(args.recording(), args.samples.limits)?;
    if !args.caller.is_empty() && !reader.has_call_chains() {
        return Err(usage(
            "--caller is of callers, and the recording has no call chains: rprof record -g has them",
        ));
    }
    let locator = args.samples.locator(&reader);
    let options = CodeOptions {
        filter: args.samples.filter(),
        callers: args.callers(),
        fde: !args.fde.no_fde,
        demangling: args.samples.demangling(),
    };
    let mut progress = progress(&reader);
    let recording = CodeRecording::open(&reader, &locator, options, &mut |share| {
        progress.show(share);
    })?;
    drop(progress);
    if !args.quiet {
        recording.warnings.iter().for_each(say::warning);
    }
    let wanted = match args.function() {
        Some(name) => {
            let chosen = recording.choose(name);
            let function = chosen.map_err(|error| not_chosen(name, &error, &recording))?;
            Wanted {
                functions: vec![(function, 0.0)],
                heat: f64::INFINITY,
            }
        }
        None => hottest(args, &recording),
    };
    if wanted.functions.is_empty() {
        say::warning(nothing(args, &reader, &recording.unnamed));
    }
    let view = View {
        args,
        reader: &reader,
        recording: &recording,
        servers: locator.debuginfod.as_deref(),
    };
    view.show(&wanted, paging)
}

/// Why there is no function.
fn nothing(args: &AnnotateArgs, reader: &Reader, unnamed: &[String]) -> String {
    match args.samples.filter().accepts_all() && args.caller.is_empty() {
        true if !unnamed.is_empty() => format!("no functions: {}", unnamed.join("; ")),
        true => format!("no samples in functions: {}", args.recording().display()),
        false if args.caller.is_empty() => no_match::sentence(reader, &args.samples),
        false => "no sample has such a caller, and fits the filters".to_owned(),
    }
}

/// Functions to show, in this order, each with its heat: its shares of all events together.
struct Wanted {
    functions: Vec<(FoundFunction, f64)>,
    /// No more are shown once those shown have this much.
    heat: f64,
}

/// The functions that are shown without being asked for. What has no code to show takes nothing of the share.
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

fn not_chosen(name: &str, error: &ChoiceError, recording: &CodeRecording<'_>) -> anyhow::Error {
    let text = match error {
        ChoiceError::Unknown(known) => unknown(name, known, recording),
        ChoiceError::Several(several) => ambiguous(name, several, recording),
    };
    anyhow!(text)
}

fn unknown(name: &str, known: &[String], recording: &CodeRecording<'_>) -> String {
    let mut text = format!("no function '{name}' in the {}", recording.searched());
    let close = suggest(name, known.iter().cloned()).to_string();
    let wanted = name.to_lowercase();
    let has_it = |one: &&String| one.to_lowercase().contains(&wanted);
    let with_part: Vec<&String> = known.iter().filter(has_it).take(N_OFFERED).collect();
    let joined = |names: &[&String]| {
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        names.join(", ")
    };
    if !with_part.is_empty() {
        text += &format!("; these have it in their names: {}", joined(&with_part));
    } else if !close.is_empty() {
        text += &close;
    } else if !known.is_empty() {
        let hottest: Vec<&String> = known.iter().take(3).collect();
        text += &format!("; the hottest are: {}", joined(&hottest));
    }
    for reason in recording.unnamed.iter().take(3) {
        text += &format!("; {reason}");
    }
    text
}

fn ambiguous(name: &str, several: &[FoundFunction], recording: &CodeRecording<'_>) -> String {
    let events = recording.events();
    let all = events.first().map_or(0, |event| event.all.weight);
    let one = |one: &FoundFunction| {
        let share = Share::of(one.own.first().map_or(0, |own| own.weight), all);
        format!("{}@{:#x} ({share}%, {})", one.name, one.start, one.image)
    };
    let listed: Vec<String> = several.iter().take(N_OFFERED).map(one).collect();
    let more = match several.len().saturating_sub(N_OFFERED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "several functions are meant by '{name}': {}{more}; choose one by NAME@0xSTART, or by its image with -d",
        listed.join(", ")
    )
}

/// What functions are shown with.
struct View<'a> {
    args: &'a AnnotateArgs,
    reader: &'a Reader,
    recording: &'a CodeRecording<'a>,
    /// Asked for source files that are not here.
    servers: Option<&'a Debuginfod>,
}

/// A function with its code, as it was decoded.
struct Decoded {
    code: OpenCode,
    instructions: Vec<Vec<Instruction>>,
    /// The memory that it takes until it is written.
    _held: Held,
}

/// Bytes of memory that a byte of code takes, decoded and listed.
const MEMORY_OF_BYTE: u64 = 150;

/// Functions whose code cannot be shown, by why.
#[derive(Default)]
struct Refused(BTreeMap<String, Vec<String>>);

impl Refused {
    fn add(&mut self, function: &FoundFunction, why: &anyhow::Error) {
        let names = self.0.entry(format!("{why:#}")).or_default();
        names.push(function.name.clone());
    }

    /// One line for each reason.
    fn say(&self) {
        for (why, names) in &self.0 {
            match names.as_slice() {
                [only] if why.starts_with(only) => say::warning(why),
                [only] => say::warning(format!("{only}: {why}")),
                [first, second, ..] => say::warning(format!(
                    "{} functions ({first}, {second}{}): {why}",
                    names.len(),
                    if names.len() > 2 { ", ..." } else { "" },
                )),
                [] => {}
            }
        }
    }
}

impl View<'_> {
    fn show(&self, wanted: &Wanted, paging: PagerArgs) -> Result<ExitCode> {
        let args = self.args;
        let mut all: Vec<Decoded> = Vec::new();
        let mut refused = Refused::default();
        let mut shown = 0.0;
        for (function, heat) in &wanted.functions {
            if shown >= wanted.heat {
                break;
            }
            match self.decode(function) {
                Ok(decoded) => {
                    all.push(decoded);
                    shown += heat;
                }
                Err(error) if args.function().is_some() => return Err(error),
                Err(error) if args.quiet => drop(error),
                Err(error) => refused.add(function, &error),
            }
        }
        refused.say();
        let descriptions = self.describe(&all);
        let settings = args.listing.sources(args.samples.symfs());
        let mut sources = SourceFiles::new(settings, self.reader.budget());
        let listings = all.iter().zip(&descriptions);
        let mut listings = listings.map(|(decoded, description)| {
            let function = Disassembled {
                code: &decoded.code.function,
                instructions: &decoded.instructions,
                frames: &description.frames,
                names: &description.names,
            };
            let servers = self.servers.zip(decoded.code.build_id());
            sources.fetch_with(servers.map(|(servers, id)| -> Box<FetchSource<'_>> {
                Box::new(move |path| servers.find_source(id, path))
            }));
            CodeListing::of(&function, args.percent_type.into(), &mut sources)
        });
        let pager = args.paging.or(paging).pager();
        pager.write(|mut out| {
            let written = match args.listing.format {
                ListingFormat::Json => write_json(listings, &mut out),
                ListingFormat::Markdown => listings.try_for_each(|listing| {
                    write_markdown(&listing, &args.listing.markdown(), &mut out)
                }),
                ListingFormat::Text => {
                    let options = args.listing.text();
                    let mut is_first = true;
                    listings.try_for_each(|listing| {
                        if !std::mem::take(&mut is_first) {
                            writeln!(out)?;
                        }
                        write_text(&listing, &options, &mut out)
                    })
                }
            };
            written.context("writing the code")
        })?;
        Ok(match all.is_empty() && !wanted.functions.is_empty() {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    }

    fn decode(&self, function: &FoundFunction) -> Result<Decoded> {
        let code = self.recording.code(function)?;
        let syntax = self.args.disassembler_style.into();
        let bytes = code
            .function
            .parts
            .iter()
            .map(|part| part.bytes.len() as u64);
        let bytes = bytes
            .fold(0, u64::saturating_add)
            .saturating_mul(MEMORY_OF_BYTE);
        let held = self.reader.budget().hold(bytes);
        let held = held.with_context(|| format!("{}: its code", code.function.name))?;
        let decoder = Decoder::of(&code.function.machine, syntax)?;
        let parts = code.function.parts.iter();
        let instructions = parts.map(|part| decoder.decode(part.address, &part.bytes));
        let instructions = instructions.collect();
        Ok(Decoded {
            code,
            instructions,
            _held: held,
        })
    }

    fn describe(&self, all: &[Decoded]) -> Vec<Description> {
        let asked = all.iter().map(|decoded| {
            let instructions = || decoded.instructions.iter().flatten();
            let references = instructions().filter_map(|one| one.reference);
            AskedCode {
                code: &decoded.code,
                addresses: instructions().map(|one| one.address).collect(),
                references: references
                    .map(|reference| (reference.address, reference.is_pointer))
                    .collect(),
            }
        });
        self.recording.describe(&asked.collect::<Vec<_>>())
    }
}
