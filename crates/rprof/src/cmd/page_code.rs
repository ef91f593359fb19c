//! The code of a recording's hottest functions, for its page: what `rprof annotate` shows of them.

use super::annotate::{CodeOf, by_heat};
use super::page_refused::{Refused, refused_in_page};
use super::reading::with_progress;
use super::several::OpenedRecordings;
use crate::args::{AnnotateArgs, ExportArgs};
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{CodeError, CodeOptions, CodeRecording, CountedCode, FoundFunction, OpenCode};
use rprof_annotate::{CodeListing, CodeLoop, samples_at, skid_notes};
use rprof_base::Counted;
use rprof_disassembly::Instruction;
use rprof_export::{
    PageCode, PageCounts, PageFrame, PageFunction, PageInstruction, PageLoop, PagePart, PageSource,
};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::code::FunctionCode;
use rprof_profile::{Profile, SamplePlace};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// Of functions with more instructions, only those near the hottest ones are in the page.
const MANY: usize = 200;

/// How near.
const AROUND: usize = 10;

/// How many of them, or a few more.
const MOST: usize = 400;

/// Fewer instructions are not worth a row that says that they are left out.
const LEAST: usize = 3;

/// The code of the hottest functions of a profile's recordings, which are read for it.
///
/// # Errors
/// A recording cannot be read at all.
pub(super) fn joined_page_code(
    args: &ExportArgs,
    opened: &OpenedRecordings<'_>,
    profile: &Profile,
) -> Result<PageCode> {
    let options = CodeOptions {
        filter: args.input.filter(),
        fde: !args.input.fde.no_fde,
        demangling: args.input.demangling(),
        ..CodeOptions::default()
    };
    let reader = &opened.first;
    let locator = args.input.samples.locator(reader);
    let others = count_others(args, opened, &options)?;
    let recording = with_progress(reader, |show| {
        CodeRecording::open_with((reader, &locator), options, others, show)
    })?;
    page_code(args, (reader, &locator), &recording, profile)
}

/// The code of the hottest functions of a recording, which are also those of a profile.
///
/// # Errors
/// The encoder's; a function whose code takes more memory than `--mem` allows.
pub(super) fn page_code(
    args: &ExportArgs,
    (reader, locator): (&Reader, &Locator),
    recording: &CodeRecording<'_>,
    profile: &Profile,
) -> Result<PageCode> {
    let events = events_in(profile, recording);
    let mut wanted = by_heat(recording);
    let n_functions = wanted.len();
    let mut others = wanted.split_off(n_functions.min(PageCode::MAX_FUNCTIONS));
    let mut tried: BTreeSet<_> = wanted.iter().map(FoundFunction::image_id).collect();
    others.retain(|one| tried.insert(one.image_id()));
    let all = wanted.iter().chain(&others);
    let images = all.map(|one| (one.image_id(), recording.image_name(one)));
    let images: BTreeMap<_, String> = images.collect();
    let listing = AnnotateArgs::of_screen(None, None)?;
    let code = CodeOf {
        args: &listing,
        reader,
        recording,
        locator,
    };
    let mut page = if args.code.no_source {
        PageCode::without_text()
    } else {
        PageCode::default()
    };
    let sources = (!args.code.no_source).then(|| args.code.sources(args.input.samples.symfs()));
    // Of functions that are equally hot, those of the first image come first.
    wanted.sort_by(|one, other| one.image.cmp(&other.image));
    let choose = |code: &FunctionCode, instructions: &[Vec<Instruction>]| {
        let parts = instructions.iter().map(Vec::len);
        Kept::of(parts, &samples_at(code, instructions)).instructions
    };
    let refused = code.excerpts(wanted, sources, &choose, &mut |code, listing| {
        let function = function(code, listing, &events);
        page.add(function).context("packing the code")?;
        Ok(if page.is_full() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    page.n_left_out = n_functions - page.functions().len();
    let others = others.into_iter().filter_map(|function| {
        let why = recording.code(&function).err()?;
        Some((function, why.into()))
    });
    let refused = refused.into_iter().chain(others);
    let refused = refused.map(|(function, why)| Refused {
        image: function.image_id(),
        is_of_image: why.downcast_ref().is_some_and(CodeError::is_of_image),
        function: function.name,
        why: format!("{why:#}"),
    });
    page.refused = refused_in_page(&images, refused.collect());
    Ok(page)
}

/// Says that code is in the page: people give pages to others.
pub(super) fn say_code(code: &PageCode) {
    let n_functions = Counted::new(code.functions().len() as u64, "function", "functions");
    match (code.functions().is_empty(), code.n_texts() as u64) {
        (true, _) => {}
        (false, 0) => say::line(format_args!(
            "the page has the code of {n_functions} (--no-code leaves it out)"
        )),
        (false, n_texts) => {
            let files = Counted::new(n_texts, "source file", "source files");
            say::line(format_args!(
                "the page has the code of {n_functions}, with text of {files} (--no-source, --no-code leave it out)"
            ));
        }
    }
}

/// What was counted in all recordings but the first.
fn count_others(
    args: &ExportArgs,
    opened: &OpenedRecordings<'_>,
    options: &CodeOptions,
) -> Result<CountedCode> {
    let mut others = CountedCode::default();
    if opened.count() == 1 {
        return Ok(others);
    }
    let mut is_first = true;
    opened.each(|reader| {
        if std::mem::take(&mut is_first) {
            return Ok(());
        }
        let locator = args.input.samples.locator(reader);
        with_progress(reader, |show| others.add(reader, &locator, options, show))?;
        Ok(())
    })?;
    Ok(others)
}

/// The numbers that events of the code have in the profile: the nth of a name is the nth of that name.
fn events_in(profile: &Profile, recording: &CodeRecording<'_>) -> Vec<Option<usize>> {
    let events = recording.events();
    let numbers = events.iter().enumerate().map(|(at, event)| {
        let before = events.iter().take(at);
        let nth = before.filter(|other| other.name == event.name).count();
        let known = profile.events.iter().enumerate();
        let mut same = known.filter(|(_, known)| known.name.raw() == event.name);
        same.nth(nth).map(|(number, _)| number)
    });
    numbers.collect()
}

/// A function as the page has it; `events` are the page's numbers of events.
fn function(code: &OpenCode, listing: &CodeListing<'_>, events: &[Option<usize>]) -> PageFunction {
    let kept = Kept::of_listing(listing);
    let events = listing.events.iter().zip(events).enumerate();
    let counted = events.filter_map(|(number, (event, &in_page))| {
        let at = kept.instructions.iter().enumerate();
        let at = at.filter_map(|(at, &own)| {
            let own = listing.instructions.get(own)?;
            let count = own.counts.get(number).copied()?;
            (count.samples > 0).then_some((at, count))
        });
        Some(PageCounts {
            event: in_page?,
            all: event.local,
            at: at.collect(),
        })
    });
    PageFunction {
        events: counted.collect(),
        name: listing.name.clone(),
        image: listing.image.clone(),
        file: listing.file.clone(),
        notes: [skid_notes(&listing.events), listing.notes.clone()].concat(),
        parts: kept.parts(listing),
        instructions: kept.page_instructions(listing),
        left_out: kept.left_out.clone(),
        sources: sources(listing),
        lines: lines(listing),
        chains: chains(listing),
        loops: kept.loops(listing),
        places: kept.places(code, listing),
    }
}

fn sources(listing: &CodeListing<'_>) -> Vec<PageSource> {
    let files = listing.places.files.iter().map(|file| {
        let is_source = is_source(&file.file);
        let text = |text: &Option<String>| text.clone().filter(|_| is_source);
        let lines = file.lines.iter();
        PageSource {
            path: file.file.clone(),
            lines: lines.map(|line| (line.line, text(&line.text))).collect(),
        }
    });
    files.collect()
}

/// Whether a file is named as source code is. Pages are given to others, and the author of a program could name any
/// file as its source: a private key, say.
fn is_source(path: &str) -> bool {
    let name = Path::new(path).extension().and_then(|end| end.to_str());
    let is_header = || HEADERS.iter().any(|folder| path.starts_with(folder));
    name.map_or_else(is_header, |end| {
        SOURCES.contains(&end.to_lowercase().as_str())
    })
}

/// Where headers of C++ have no extension.
const HEADERS: &[&str] = &["/usr/include/c++/", "/usr/lib/llvm"];

/// Extensions of source code.
const SOURCES: &[&str] = &[
    "ada", "adb", "ads", "asm", "c", "c++", "cc", "cpp", "cs", "cxx", "d", "def", "erl", "f",
    "f90", "f95", "for", "go", "h", "h++", "hh", "hpp", "hs", "hxx", "inc", "inl", "ipp", "java",
    "jl", "js", "kt", "l", "ll", "lua", "m", "ml", "mm", "nim", "odin", "pas", "php", "pl", "py",
    "pyx", "r", "rb", "re", "rl", "rs", "s", "scala", "swift", "tcc", "td", "tpp", "ts", "v",
    "vala", "y", "yy", "zig",
];

fn lines(listing: &CodeListing<'_>) -> Vec<(usize, u32)> {
    let files = &listing.places.files;
    let number = |path: &str| files.iter().position(|file| file.file == path);
    let lines = listing.places.lines.iter();
    lines
        .map(|line| (number(&line.file).unwrap_or(0), line.line))
        .collect()
}

fn chains(listing: &CodeListing<'_>) -> Vec<Vec<PageFrame>> {
    let chains = listing.places.chains.iter().map(|chain| {
        let frames = chain.0.iter();
        frames
            .map(|frame| PageFrame {
                function: frame.function.clone(),
                call: frame.line.clone(),
            })
            .collect()
    });
    chains.collect()
}

/// By instruction, whether it is near one of those with most samples.
fn near_the_hottest(samples: &[u64]) -> Vec<bool> {
    let mut hottest: Vec<(Reverse<u64>, usize)> = (samples.iter().enumerate())
        .filter(|&(_, &samples)| samples > 0)
        .map(|(at, &samples)| (Reverse(samples), at))
        .collect();
    hottest.sort_unstable();
    let mut is_kept = vec![false; samples.len()];
    let mut n_kept = 0;
    for (_, at) in hottest {
        if n_kept >= MOST {
            break;
        }
        let end = (at + AROUND + 1).min(is_kept.len());
        for one in &mut is_kept[at.saturating_sub(AROUND)..end] {
            n_kept += usize::from(!std::mem::replace(one, true));
        }
    }
    is_kept
}

/// The instructions that are in the page.
struct Kept {
    /// Their numbers in the listing, ascending.
    instructions: Vec<usize>,
    /// Before which of them instructions are left out, and how many.
    left_out: Vec<(usize, usize)>,
}

impl Kept {
    /// Those of a listing, which has nothing to say of the others.
    fn of_listing(listing: &CodeListing<'_>) -> Self {
        let instructions = listing.instructions.iter();
        let samples = instructions.map(|one| one.counts.iter().map(|count| count.samples).sum());
        let parts = listing.parts.iter().map(|part| part.instructions.len());
        Self::of(parts, &samples.collect::<Vec<u64>>())
    }

    /// `parts` are their numbers of instructions, `samples` those at each instruction.
    fn of(parts: impl Iterator<Item = usize>, samples: &[u64]) -> Self {
        let is_kept = if samples.len() > MANY {
            near_the_hottest(samples)
        } else {
            vec![true; samples.len()]
        };
        let mut kept = Self {
            instructions: Vec::new(),
            left_out: Vec::new(),
        };
        let mut next = 0;
        // A row that says what is left out is within a part.
        for n_instructions in parts {
            let within = is_kept.get(next..next + n_instructions).unwrap_or_default();
            for run in within.chunk_by(|one, other| one == other) {
                if run.first() == Some(&true) || run.len() < LEAST {
                    kept.instructions.extend(next..next + run.len());
                } else {
                    kept.left_out.push((kept.instructions.len(), run.len()));
                }
                next += run.len();
            }
        }
        kept
    }

    /// The number here of an instruction of the listing.
    fn number(&self, own: usize) -> Option<usize> {
        self.instructions.binary_search(&own).ok()
    }

    /// Those of a range of the listing.
    fn range(&self, own: &Range<usize>) -> Range<usize> {
        let from = |own: usize| self.instructions.partition_point(|&kept| kept < own);
        from(own.start)..from(own.end)
    }

    fn parts(&self, listing: &CodeListing<'_>) -> Vec<PagePart> {
        let parts = listing.parts.iter().map(|part| PagePart {
            symbol: part.symbol.clone(),
            address: part.address,
            instructions: self.range(&part.instructions),
        });
        parts.collect()
    }

    fn page_instructions(&self, listing: &CodeListing<'_>) -> Vec<PageInstruction> {
        let kept = self.instructions.iter();
        let kept = kept.filter_map(|&own| listing.instructions.get(own));
        let instructions = kept.map(|one| PageInstruction {
            address: one.instruction.address,
            text: one.text.trim_end().to_owned(),
            line: one.line,
            chain: one.chain,
            target: one.target.and_then(|target| self.number(target)),
        });
        instructions.collect()
    }

    /// Loops of which something is left.
    fn loops(&self, listing: &CodeListing<'_>) -> Vec<PageLoop> {
        let mut numbers: Vec<Option<usize>> = Vec::with_capacity(listing.loops.len());
        let mut loops = Vec::new();
        for CodeLoop {
            head,
            span,
            depth,
            parent,
            ranges,
            n_instructions,
            ..
        } in &listing.loops
        {
            let within = self.range(&(span.0..span.1 + 1));
            if within.is_empty() {
                numbers.push(None);
                continue;
            }
            numbers.push(Some(loops.len()));
            let ranges = ranges.iter().map(|range| self.range(range));
            loops.push(PageLoop {
                span: (within.start, within.end - 1),
                head: self.number(*head).unwrap_or(within.start),
                depth: *depth,
                parent: parent.and_then(|parent| numbers.get(parent).copied().flatten()),
                ranges: ranges.filter(|range| !range.is_empty()).collect(),
                n_instructions: *n_instructions,
            });
        }
        loops
    }

    /// The instruction that each place of the recording is in.
    fn places(&self, code: &OpenCode, listing: &CodeListing<'_>) -> Vec<(SamplePlace, usize)> {
        let mut by_address: Vec<(u64, u64, usize)> = Vec::with_capacity(self.instructions.len());
        for (number, &own) in self.instructions.iter().enumerate() {
            if let Some(one) = listing.instructions.get(own) {
                let start = one.instruction.address;
                let end = start.saturating_add(one.instruction.len.into());
                by_address.push((start, end, number));
            }
        }
        by_address.sort_unstable();
        let covering = |address: u64| {
            let after = by_address.partition_point(|&(start, ..)| start <= address);
            let &(_, end, number) = by_address.get(after.checked_sub(1)?)?;
            (address < end).then_some(number)
        };
        let places = code.places.iter();
        places
            .filter_map(|&(place, address)| Some((place, covering(address)?)))
            .collect()
    }
}
