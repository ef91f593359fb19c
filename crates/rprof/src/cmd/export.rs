//! `rprof export`.

use super::against::Before;
use super::compared::compared;
use super::event::choose;
use super::page_code::{joined_page_code, page_code, say_code};
use super::reading::{ending, is_shown, warn, warn_of, with_progress};
use super::several::OpenedRecordings;
use super::sure;
use crate::args::ExportArgs;
use crate::usage::usage;
use crate::{say, target};
use anyhow::Result;
use rprof_analysis::{
    CodeDetail, GroupBy, Options, Progress, SampleExtras, load_code_samples, load_samples_and_code,
    load_samples_with,
};
use rprof_diff::NamedRun;
#[cfg(feature = "parquet")]
use rprof_export::TablesError;
use rprof_export::{
    Content, ExportFormat, FORMATS, Format, Page, PageCode, PerfettoError, PerfettoTrace,
    through_gzip, write_gzip,
};
use rprof_perfdata::Reader;
use rprof_profile::{CountedStacks, EventChoice, Fold, NodeKey, Profile, SampledProfile};
use rprof_report::{quality_line, stacks_line};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let format = format_of(args, output)?;
    let name = output.map(file_name);
    let is_compressed = format.is_compressed(name.as_deref());
    if is_compressed && output.is_none() && std::io::stdout().is_terminal() {
        let why = "refusing to write compressed output to a terminal: use -o FILE";
        return Err(usage(why));
    }
    args.fold.check(args.input.filter().account)?;
    if let Some(flag) = args.code.given()
        && (args.against.is_some() || !matches!(format.content, Content::Page))
    {
        let why = format_args!("{flag} is for the HTML page of a recording: no other has its code");
        return Err(usage(why));
    }
    let opened = OpenedRecordings::open(&args.input.recordings, &args.input.samples)?;
    if args.against.is_some() {
        opened.paths.only("--against")?;
    }
    let reader = &opened.first;
    let options = Options {
        demangling: args.fold.demangling(args.input.demangling()),
        group_by: GroupBy::of(&args.fold.dimensions(Vec::new())),
        nodes: match (format.content, &args.against) {
            (Content::Page, None) => NodeKey::Srcline,
            _ => NodeKey::Function,
        },
        ..args.input.options(reader)
    };
    let writer = Writer {
        opened: &opened,
        reader,
        args,
        output,
        is_compressed,
    };
    match format.content {
        Content::Samples { format, has_fields } => {
            let detail = if has_fields {
                CodeDetail::Fields
            } else {
                CodeDetail::Samples
            };
            writer.samples(format, &options, detail)
        }
        Content::Counted(format) => writer.counted(format, &options),
        Content::Event(format_of) => {
            let profile = writer.read_profile(&options)?;
            let event = choose(&profile, args.event.as_deref())?;
            writer.profile(&*format_of(event.unwrap_or(0)), &profile)
        }
        Content::Profile(format) => writer.profile(format, &writer.read_profile(&options)?),
        #[cfg(feature = "parquet")]
        Content::Tables => writer.tables(&options),
        Content::Trace => writer.trace(&options),
        Content::Page => match &args.against {
            None => writer.page(&options),
            Some(before) => {
                let before = Before::load(before, &args.input, &args.fold, &options)?;
                let name = args.input.recordings.name();
                let profile = writer.read_profile(&options)?;
                let run = sure::load(reader, name, &options)?;
                writer.compared(&before, run, &profile)
            }
        },
    }
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The format that is asked for, by name or by the name of the file; refuses what it has no place for.
fn format_of(args: &ExportArgs, output: Option<&Path>) -> Result<&'static ExportFormat> {
    let format = match (args.format, output) {
        (Some(format), _) => format,
        (None, None) => {
            let known = known();
            let why = format_args!("no output format: use --format {known}, or a file with -o");
            return Err(usage(why));
        }
        (None, Some(path)) => {
            let name = file_name(path);
            ExportFormat::of_file(&name).ok_or_else(|| {
                let known = known();
                usage(format_args!(
                    "cannot tell the format from '{name}': use --format {known}"
                ))
            })?
        }
    };
    if args.event.is_some() && !matches!(format.content, Content::Event(_)) {
        let why = "--event is for folded stacks: other formats contain all events";
        return Err(usage(why));
    }
    if args.against.is_some() && !matches!(format.content, Content::Page) {
        return Err(usage(
            "--against writes an HTML page: use export -o FILE.html",
        ));
    }
    let is_counted = matches!(format.content, Content::Event(_) | Content::Profile(_));
    if args.fold.is_asked() && !is_counted && args.against.is_none() {
        let why = "--fold and --ignore-callees are for folded stacks, JSON and --against: other formats contain \
            every sample";
        return Err(usage(why));
    }
    Ok(format)
}

/// The names of all formats, in words.
fn known() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

struct Writer<'a> {
    opened: &'a OpenedRecordings<'a>,
    /// Of the first recording.
    reader: &'a Reader,
    args: &'a ExportArgs,
    output: Option<&'a Path>,
    is_compressed: bool,
}

impl Writer<'_> {
    /// Counts the recordings' stacks, and simplifies them.
    fn read_profile(&self, options: &Options) -> Result<Profile> {
        let mut profile: Profile = self.opened.read(options)?;
        self.args.fold.apply(&mut profile);
        if self.args.fold.has(Fold::Idle) {
            profile.forget_causes();
        }
        Ok(profile)
    }

    fn samples(
        &self,
        format: &dyn Format<Source = SampledProfile>,
        options: &Options,
        detail: CodeDetail,
    ) -> Result<ExitCode> {
        let sampled: SampledProfile = (self.opened).read_by(options, |reader, options, show| {
            load_code_samples(reader, options, detail, show)
        })?;
        self.finish(
            format,
            &sampled,
            &sampled.profile,
            !sampled.samples.is_empty(),
        )
    }

    fn counted(
        &self,
        format: &dyn Format<Source = CountedStacks>,
        options: &Options,
    ) -> Result<ExitCode> {
        let stacks: CountedStacks = self.opened.read(options)?;
        self.finish(format, &stacks, &stacks.profile, !stacks.counts.is_empty())
    }

    fn profile(
        &self,
        format: &dyn Format<Source = Profile>,
        profile: &Profile,
    ) -> Result<ExitCode> {
        self.finish(format, profile, profile, is_shown(profile))
    }

    fn page(&self, options: &Options) -> Result<ExitCode> {
        // What waits are derived from is shown as waits.
        let mut options = options.clone();
        options.filter.events = EventChoice::Asked;
        let options = &options;
        let has_code = !self.args.code.no_code;
        let extras = SampleExtras {
            waits: true,
            places: has_code && self.opened.count() == 1,
            fields: Page::MAX_FIELDS,
        };
        let (sampled, code) = if extras.places {
            // One recording is read once, for samples and code.
            let (reader, options) = (self.reader, &self.opened.with_span_limits(options)?);
            let (sampled, recording) = with_progress(reader, |show| {
                load_samples_and_code(extras, (reader, options), show)
            })?;
            let opened = (reader, &options.locator);
            let code = page_code(self.args, opened, &recording, &sampled.profile)?;
            (sampled, code)
        } else {
            let load = |reader: &Reader, options: &Options, progress: &mut Progress<'_>| {
                load_samples_with(extras, reader, options, progress)
            };
            let sampled: SampledProfile = self.opened.read_by(options, load)?;
            let code = if has_code {
                joined_page_code(self.args, self.opened, &sampled.profile)?
            } else {
                PageCode::default()
            };
            (sampled, code)
        };
        let profile = &sampled.profile;
        say_code(&code);
        let shown = sampled.samples.iter().any(|sample| sample.stack.is_some());
        let command = profile.about.command.join(" ");
        let title = if command.is_empty() {
            self.args.input.recordings.name()
        } else {
            command
        };
        let stacks = stacks_line(profile);
        let recordings = &self.args.input.recordings;
        let is_one = recordings.others().is_empty();
        let name = recordings.first().path().file_name().filter(|_| is_one);
        let page = Page {
            title,
            recording: name.and_then(|name| name.to_str()).map(str::to_owned),
            notes: [quality_line(profile)]
                .into_iter()
                .chain(stacks.map(|stacks| format!("stacks: {stacks}")))
                .collect(),
            is_filtered: options.filter.leaves_out(),
            code,
            max_bytes: Page::MAX_BYTES,
        };
        self.finish(&page, &sampled, profile, shown)
    }

    /// The folder of tables: each recording has its own files in it.
    #[cfg(feature = "parquet")]
    fn tables(&self, options: &Options) -> Result<ExitCode> {
        let Some(folder) = self.output else {
            return Err(usage(
                "--format parquet writes a folder of tables: use -o FOLDER",
            ));
        };
        let mut ending = ExitCode::SUCCESS;
        self.opened.each(|reader| {
            let options = Options {
                locator: self.args.input.samples.locator(reader),
                ..options.clone()
            };
            let written = with_progress(reader, |progress| {
                rprof_export::write_tables(reader, &options, folder, progress)
            });
            let written = match written {
                // The others are wanted all the same.
                Err(there @ TablesError::Exists(_)) if self.opened.count() > 1 => {
                    say::line(format_args!("{}: {there}", reader.path().display()));
                    return Ok(());
                }
                written => written?,
            };
            let shown = written.n_samples > 0;
            warn_of(&written.profile, reader, &self.args.input, shown);
            let ended = self.end(&written.profile, shown);
            if ended != ExitCode::SUCCESS {
                ending = ended;
            }
            Ok(())
        })?;
        Ok(ending)
    }

    /// A trace is written while recordings are read, one after the other.
    fn trace(&self, options: &Options) -> Result<ExitCode> {
        let mut failed = None;
        let mut ending = ExitCode::SUCCESS;
        let written = target::write(self.output, |out| {
            let mut write = |out: &mut dyn Write| self.write_trace(options, out, &mut ending);
            let result = if self.is_compressed {
                through_gzip(out, |out| Ok::<_, io::Error>(write(out)))?
            } else {
                write(out)
            };
            let Err(error) = result else {
                return Ok(());
            };
            let is_of_output = |error: &PerfettoError| matches!(error, PerfettoError::Write(_));
            let error = if error.downcast_ref().is_some_and(is_of_output) {
                error.downcast()
            } else {
                Err(error)
            };
            // What is wrong with the output is said with its name.
            if let Ok(PerfettoError::Write(error)) = error {
                return Err(error);
            }
            failed = error.err();
            Err(io::ErrorKind::Other.into())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        written?;
        Ok(ending)
    }

    /// Writes the recordings as one trace; `ending` is what becomes of all.
    fn write_trace(
        &self,
        options: &Options,
        out: &mut dyn Write,
        ending: &mut ExitCode,
    ) -> Result<()> {
        let options = &self.opened.with_span_limits(options)?;
        let mut trace = PerfettoTrace::new(out, self.opened.count() > 1);
        self.opened.each(|reader| {
            let options = Options {
                locator: self.args.input.samples.locator(reader),
                ..options.clone()
            };
            let written = with_progress(reader, |progress| trace.add(reader, &options, progress))?;
            let shown = written.n_samples > 0;
            warn_of(&written.profile, reader, &self.args.input, shown);
            let ended = self.end(&written.profile, shown);
            if ended != ExitCode::SUCCESS {
                *ending = ended;
            }
            Ok(())
        })
    }

    /// Prints the warnings of what was loaded, writes it, and says how good it is.
    fn finish<F: Format + ?Sized>(
        &self,
        format: &F,
        source: &F::Source,
        profile: &Profile,
        shown: bool,
    ) -> Result<ExitCode> {
        warn_of(profile, self.reader, &self.args.input, shown);
        self.write(format, source)?;
        Ok(self.end(profile, shown))
    }

    /// The page of what changed.
    fn compared(&self, before: &Before, run: NamedRun, profile: &Profile) -> Result<ExitCode> {
        warn(profile, self.reader, &self.args.input);
        let (page, recordings) = compared(before, run, profile)?;
        self.write(&page, &recordings)?;
        Ok(self.end(profile, true))
    }

    /// Says how good the profile is.
    fn end(&self, profile: &Profile, shown: bool) -> ExitCode {
        profile.events.iter().for_each(say::loss);
        say::stacks(profile);
        if shown {
            say::quality(profile);
        }
        ending(self.args.strict, profile)
    }

    fn write<F: Format + ?Sized>(&self, format: &F, source: &F::Source) -> Result<()> {
        target::write(self.output, |out| {
            if self.is_compressed {
                write_gzip(format, source, out)
            } else {
                format.write(source, out)
            }
        })
    }
}
