//! Functions with their code, written one after the other.

use super::inlined::ShownInlined;
use super::refused::Refused;
use super::wanted::Wanted;
use crate::args::{AnnotateArgs, ListingFormat};
use crate::screen::PagerArgs;
use anyhow::{Context, Result, anyhow};
use rprof_analysis::{AskedCode, CodeRecording, Description, FoundFunction, OpenCode};
use rprof_annotate::{
    CodeListing, CutCode, Disassembled, FetchSource, JsonFunctions, SourceFiles, SourceSettings,
    TakeLine, skid_notes, text_lines, write_markdown,
};
use rprof_disassembly::{Decoder, Instruction};
use rprof_locate::Debuginfod;
use rprof_perfdata::Reader;
use rprof_profile::code::{CodeLine, CodeLineKind};
use rprof_untrusted::{Held, OverBudget};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

/// What an error of the output interrupts.
const WRITING: &str = "writing the code";

/// Bytes of memory that a byte of code takes, decoded and listed.
const MEMORY_OF_BYTE: u64 = 300;

/// Bytes of code that are decoded together: an image's files are looked up once for all of it.
const TOGETHER: u64 = 512 << 10;

/// The settings for showing functions.
pub(super) struct View<'a, 'r> {
    pub(super) args: &'a AnnotateArgs,
    pub(super) reader: &'a Reader,
    pub(super) recording: &'a CodeRecording<'r>,
    /// Asked for missing source files.
    pub(super) servers: Option<&'a Debuginfod>,
    /// The inlined code to show alone, instead of whole functions.
    pub(super) inlined: Option<ShownInlined>,
    /// The note above the first function.
    pub(super) note: Option<String>,
    /// Where source files are looked for; `None` if they are not.
    pub(super) sources: Option<SourceSettings>,
}

/// A function with its code, as it was decoded.
struct Decoded {
    code: OpenCode,
    instructions: Vec<Vec<Instruction>>,
    /// The memory that it takes until it is written.
    _held: Held,
}

impl View<'_, '_> {
    /// Shows functions, in their order.
    pub(super) fn show(&self, wanted: &Wanted, paging: PagerArgs) -> Result<ExitCode> {
        let args = self.args;
        let mut held = self.reader.budget().hold_nothing();
        let opened = self.open(wanted, &mut held)?;
        let is_refused = opened.is_empty() && !wanted.functions.is_empty();
        let pager = args.paging.or(paging).pager();
        pager.write(|out| match args.listing.format {
            ListingFormat::Json => {
                let mut json = JsonFunctions::begin(out)?;
                self.write(opened, Form::Json(&mut json, &mut *out))?;
                json.end(out).context(WRITING)
            }
            ListingFormat::Markdown => self.write(opened, Form::Markdown(out)),
            ListingFormat::Text => {
                let print = &mut |line: CodeLine| writeln!(out, "{}", line.text);
                self.write(opened, Form::Text(print))
            }
        })?;
        Ok(if is_refused {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// The code of functions in lines, or why no code can be shown.
    #[cfg(feature = "tui")]
    pub(super) fn lines(&self, wanted: &Wanted) -> Result<Vec<CodeLine>> {
        let mut held = self.reader.budget().hold_nothing();
        let mut refused = None;
        let opened = self.open_some(wanted, &mut held, &mut |_, error| {
            refused.get_or_insert(error);
            Ok(())
        })?;
        if let (true, Some(why)) = (opened.is_empty(), refused) {
            return Err(why);
        }
        let mut lines = Vec::new();
        let keep = &mut |line| {
            lines.push(line);
            Ok(())
        };
        self.write(opened, Form::Text(keep))?;
        Ok(lines)
    }

    /// Reads the code of functions until those that can be shown have their share; says which cannot.
    fn open(&self, wanted: &Wanted, held: &mut Held) -> Result<Vec<OpenCode>> {
        let args = self.args;
        let is_the_one = args.function().is_some() && wanted.functions.len() == 1;
        let mut refused = Refused::default();
        let opened = self.open_some(wanted, held, &mut |function, error| {
            if is_the_one {
                return Err(error);
            }
            if !args.listing.look.quiet {
                refused.add(function, &error);
            }
            Ok(())
        })?;
        let events = self.recording.events();
        refused.say(events.first().map_or(0, |event| event.all.weight));
        Ok(opened)
    }

    /// Reads the code of functions until those that can be shown have their share; `refuse` gets the others.
    pub(super) fn open_some(
        &self,
        wanted: &Wanted,
        held: &mut Held,
        refuse: &mut dyn FnMut(&FoundFunction, anyhow::Error) -> Result<()>,
    ) -> Result<Vec<OpenCode>> {
        let mut opened = Vec::new();
        let mut shown = 0.0;
        for (function, heat) in &wanted.functions {
            if shown >= wanted.heat {
                break;
            }
            let code = self.recording.code(function).map_err(anyhow::Error::new);
            let code = code.and_then(|code| {
                self.check(&code, held)?;
                Ok(code)
            });
            match code {
                Ok(code) => {
                    opened.push(code);
                    shown += heat;
                }
                Err(error) => refuse(function, error)?,
            }
        }
        if let Some(first) = opened.first_mut() {
            first.function.notes.extend(self.note.clone());
        }
        Ok(opened)
    }

    /// Whether code can be decoded, and may be; its bytes are held until all is written.
    fn check(&self, code: &OpenCode, held: &mut Held) -> Result<()> {
        drop(self.hold(code).map_err(|_| over(code))?);
        held.grow(n_bytes(code)).map_err(|_| over(code))?;
        self.decoder(code)?;
        Ok(())
    }

    /// Holds the memory that it takes to decode and list a function's code.
    pub(super) fn hold(&self, code: &OpenCode) -> Result<Held, OverBudget> {
        let bytes = n_bytes(code).saturating_mul(MEMORY_OF_BYTE);
        self.reader.budget().hold(bytes)
    }

    fn decoder(&self, code: &OpenCode) -> Result<Decoder> {
        let syntax = self.args.disassembler_style;
        Ok(Decoder::of(&code.function.machine, syntax)?)
    }

    /// Decodes, describes and writes some functions at a time: all at once would take too much memory.
    fn write(&self, opened: Vec<OpenCode>, form: Form<'_>) -> Result<()> {
        let mut output = Output::new(self, form);
        let mut together: Vec<Decoded> = Vec::new();
        let mut bytes = 0;
        for code in opened {
            let mut held = self.hold(&code);
            let own = n_bytes(&code);
            if !together.is_empty() && (held.is_err() || bytes + own > TOGETHER) {
                output.write(&std::mem::take(&mut together))?;
                bytes = 0;
                held = held.or_else(|_| self.hold(&code));
            }
            bytes += own;
            let held = held.map_err(|_| over(&code))?;
            together.push(self.decode(code, held)?);
        }
        output.write(&together)
    }

    fn decode(&self, code: OpenCode, held: Held) -> Result<Decoded> {
        Ok(Decoded {
            instructions: self.instructions(&code, &|_| true)?,
            code,
            _held: held,
        })
    }

    /// The instructions of each part, with the texts of those that are wanted, by their addresses.
    pub(super) fn instructions(
        &self,
        code: &OpenCode,
        has_text: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Vec<Instruction>>> {
        let decoder = self.decoder(code)?;
        let parts = code.function.parts.iter();
        let instructions =
            parts.map(|part| decoder.decode_some(part.address, &part.bytes, has_text));
        Ok(instructions.collect())
    }

    /// Lets source files of a function be fetched from servers, if they are looked for.
    pub(super) fn fetch_sources<'s>(&self, code: &OpenCode, sources: &mut SourceFiles<'s>)
    where
        Self: 's,
    {
        let servers = self.servers.zip(code.build_id());
        let servers = servers.filter(|_| self.sources.is_some());
        let servers = servers.map(|(servers, id)| (servers, id.clone()));
        sources.fetch_with(servers.map(|(servers, id)| -> Box<FetchSource<'_>> {
            Box::new(move |path| servers.find_source(&id, path))
        }));
    }

    fn describe(&self, all: &[Decoded]) -> (Vec<Description>, Vec<BTreeMap<u64, usize>>) {
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
        let asked: Vec<AskedCode<'_>> = asked.collect();
        let depths = self.inlined.as_ref();
        let depths = depths.map(|inlined| inlined.depths(self.recording, &asked));
        (self.recording.describe(&asked), depths.unwrap_or_default())
    }
}

/// Bytes of a function's code.
fn n_bytes(code: &OpenCode) -> u64 {
    let parts = code.function.parts.iter();
    let bytes = parts.map(|part| part.bytes.len() as u64);
    bytes.fold(0, u64::saturating_add)
}

/// The error that a function's code takes too much memory.
pub(super) fn over(code: &OpenCode) -> anyhow::Error {
    let bytes = n_bytes(code).saturating_mul(MEMORY_OF_BYTE);
    let name = &code.function.name;
    anyhow!(
        "{name}: showing its code takes {} MiB of memory, more than --mem allows",
        bytes.div_ceil(1 << 20)
    )
}

/// What functions are written as.
enum Form<'a> {
    Json(&'a mut JsonFunctions, &'a mut dyn Write),
    Markdown(&'a mut dyn Write),
    Text(&'a mut TakeLine<'a>),
}

/// The output that functions are written to.
struct Output<'a, 'o, 'v, 'r> {
    view: &'a View<'v, 'r>,
    sources: SourceFiles<'a>,
    n_written: usize,
    form: Form<'o>,
}

impl<'a, 'o, 'v, 'r> Output<'a, 'o, 'v, 'r> {
    fn new(view: &'a View<'v, 'r>, form: Form<'o>) -> Self {
        Self {
            view,
            sources: SourceFiles::new(view.sources.clone(), view.reader.budget()),
            n_written: 0,
            form,
        }
    }

    fn write(&mut self, all: &[Decoded]) -> Result<()> {
        let (descriptions, depths) = self.view.describe(all);
        for (at, (decoded, description)) in all.iter().zip(&descriptions).enumerate() {
            let mut function = Disassembled {
                code: &decoded.code.function,
                instructions: &decoded.instructions,
                frames: &description.frames,
                names: &description.names,
                authors: &description.authors,
            };
            let depths = depths.get(at);
            let mut cut = depths.and_then(|depths| {
                CutCode::of(&function, &|address| depths.get(&address).copied())
            });
            if let Some(cut) = &mut cut {
                let is_first = self.n_written == 0;
                let inlined = self.view.inlined.as_ref().filter(|_| is_first);
                let note = inlined.map(|inlined| inlined.note(self.view.recording));
                cut.code.notes.extend(note);
                function.code = &cut.code;
                function.instructions = &cut.instructions;
            }
            self.view.fetch_sources(&decoded.code, &mut self.sources);
            let percent_type = self.view.args.percent_type;
            let listing = CodeListing::new(&function, percent_type, &mut self.sources);
            self.write_one(&listing).context(WRITING)?;
        }
        Ok(())
    }

    fn write_one(&mut self, listing: &CodeListing<'_>) -> io::Result<()> {
        let args = &self.view.args.listing;
        let is_first = self.n_written == 0;
        self.n_written += 1;
        // Said once: it is the same of all functions.
        let notes = if is_first {
            skid_notes(&listing.events)
        } else {
            Vec::new()
        };
        match &mut self.form {
            Form::Json(json, out) => json.write(listing, *out),
            Form::Markdown(out) => {
                for note in &notes {
                    writeln!(out, "- note: {note}")?;
                }
                if !notes.is_empty() {
                    writeln!(out)?;
                }
                write_markdown(listing, &args.markdown(), *out)
            }
            Form::Text(take) => {
                let mut line = |text| take(CodeLine::new(CodeLineKind::Text, text));
                for note in &notes {
                    line(format!("note: {note}"))?;
                }
                if !notes.is_empty() || !is_first {
                    line(String::new())?;
                }
                text_lines(listing, &args.text(), *take)
            }
        }
    }
}
