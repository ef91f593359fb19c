//! `rprof export`.

use super::against::Before;
use super::compared::compared;
use super::event::choose;
use super::reading::{ending, is_shown, open, progress, read, warn, warn_of};
use super::sure;
use crate::args::{ExportArgs, ExportFormat};
use crate::usage::usage;
use crate::{say, target};
use anyhow::Result;
use rprof_analysis::{
    CodeDetail, Options, Progress, load_code_samples, load_counted_stacks, load_samples,
};
use rprof_diff::NamedRun;
use rprof_export::{Callgrind, Firefox, Folded, Format, Json, Page, Pprof, Speedscope, write_gzip};
use rprof_perfdata::Reader;
use rprof_profile::{CountedStacks, NodeKey, Profile, SampledProfile};
use rprof_report::quality_line;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

/// Endings of files; the first that fits counts.
const ENDINGS: &[(&str, ExportFormat)] = &[
    (".speedscope.json", ExportFormat::Speedscope),
    (".speedscope.json.gz", ExportFormat::Speedscope),
    (".json.gz", ExportFormat::Firefox),
    (".json", ExportFormat::Json),
    (".pb.gz", ExportFormat::Pprof),
    (".pprof", ExportFormat::Pprof),
    (".folded", ExportFormat::Folded),
    (".folded.gz", ExportFormat::Folded),
    (".callgrind", ExportFormat::Callgrind),
    (".html", ExportFormat::Html),
];

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let format = format_of(args, output)?;
    let is_compressed = is_compressed(format, output);
    if is_compressed && output.is_none() && std::io::stdout().is_terminal() {
        let why = "refusing to write compressed output to a terminal: use -o FILE";
        return Err(usage(why));
    }
    let reader = open(args.input.recording.path(), args.input.limits())?;
    let options = Options {
        filter: args.input.filter(),
        inlines: !args.input.no_inline(),
        fde: !args.fde.no_fde,
        demangling: args.fold.demangling(args.input.demangling()),
        nodes: match (format, &args.against) {
            (ExportFormat::Html, None) => NodeKey::Srcline,
            _ => NodeKey::Function,
        },
        locator: args.input.locator(&reader),
        ..Options::default()
    };
    let writer = Writer {
        reader: &reader,
        args,
        output,
        is_compressed,
    };
    match format {
        ExportFormat::Firefox => writer.samples(&Firefox, &options, CodeDetail::Fields),
        ExportFormat::Speedscope => writer.samples(&Speedscope, &options, CodeDetail::Samples),
        ExportFormat::Pprof => writer.counted(&Pprof, &options),
        ExportFormat::Callgrind => writer.counted(&Callgrind, &options),
        ExportFormat::Folded => {
            let mut profile = read(&reader, &options)?;
            args.fold.apply(&mut profile);
            let event = choose(&profile, args.event.as_deref())?;
            let event = event.unwrap_or(0);
            writer.profile(&Folded { event }, &profile)
        }
        ExportFormat::Json => {
            let mut profile = read(&reader, &options)?;
            args.fold.apply(&mut profile);
            writer.profile(&Json, &profile)
        }
        ExportFormat::Html => match &args.against {
            None => writer.page(&options),
            Some(before) => {
                let before = Before::load(before, (&args.input, &args.fold), &options)?;
                let mut profile = read(&reader, &options)?;
                let name = args.input.recording.path().display().to_string();
                let run = sure::load(&reader, name, &options)?;
                args.fold.apply(&mut profile);
                writer.compared(&before, (run, &profile))
            }
        },
    }
}

fn format_of(args: &ExportArgs, output: Option<&Path>) -> Result<ExportFormat> {
    let known = "html, firefox, speedscope, pprof, callgrind, folded or json";
    let format = match (args.format, output) {
        (Some(format), _) => format,
        (None, None) => {
            let why = format_args!("no output format: use --format {known}, or a file with -o");
            return Err(usage(why));
        }
        (None, Some(path)) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut endings = ENDINGS.iter();
            match endings.find(|(ending, _)| name.ends_with(ending)) {
                Some(&(_, format)) => format,
                None => {
                    let why =
                        format_args!("cannot tell the format from '{name}': use --format {known}");
                    return Err(usage(why));
                }
            }
        }
    };
    if args.event.is_some() && format != ExportFormat::Folded {
        let why = "--event is for folded stacks: other formats contain all events";
        return Err(usage(why));
    }
    if args.against.is_some() && format != ExportFormat::Html {
        return Err(usage(
            "--against writes an HTML page: use export -o FILE.html",
        ));
    }
    let is_counted = matches!(format, ExportFormat::Folded | ExportFormat::Json);
    if args.fold.is_asked() && !is_counted && args.against.is_none() {
        let why = "--fold and --ignore-callees are for folded stacks, JSON and --against: other formats contain \
            every sample";
        return Err(usage(why));
    }
    Ok(format)
}

/// pprof reads nothing else; Firefox Profiler reads both, and its files are large.
fn is_compressed(format: ExportFormat, output: Option<&Path>) -> bool {
    let ends_with = |ending| {
        let name = output.and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().ends_with(ending)
    };
    match format {
        ExportFormat::Pprof => true,
        ExportFormat::Firefox => !ends_with(".json"),
        _ => ends_with(".gz"),
    }
}

struct Writer<'a> {
    reader: &'a Reader,
    args: &'a ExportArgs,
    output: Option<&'a Path>,
    is_compressed: bool,
}

impl Writer<'_> {
    fn samples(
        &self,
        format: &impl Format<Source = SampledProfile>,
        options: &Options,
        detail: CodeDetail,
    ) -> Result<ExitCode> {
        let load =
            |progress: &mut Progress<'_>| load_code_samples(self.reader, options, detail, progress);
        let sampled = self.load(load)?;
        self.finish(
            format,
            &sampled,
            &sampled.profile,
            !sampled.samples.is_empty(),
        )
    }

    fn counted(
        &self,
        format: &impl Format<Source = CountedStacks>,
        options: &Options,
    ) -> Result<ExitCode> {
        let stacks = self.load(|progress| load_counted_stacks(self.reader, options, progress))?;
        self.finish(format, &stacks, &stacks.profile, !stacks.counts.is_empty())
    }

    fn profile(
        &self,
        format: &impl Format<Source = Profile>,
        profile: &Profile,
    ) -> Result<ExitCode> {
        self.finish(format, profile, profile, is_shown(profile))
    }

    fn page(&self, options: &Options) -> Result<ExitCode> {
        let sampled = self.load(|progress| load_samples(self.reader, options, progress))?;
        let profile = &sampled.profile;
        let shown = sampled.samples.iter().any(|sample| sample.stack.is_some());
        let command = profile.about.command.join(" ");
        let input = self.args.input.recording.path();
        let title = if command.is_empty() {
            input.display().to_string()
        } else {
            command
        };
        let stacks = profile.unwound.summary();
        let page = Page {
            title,
            notes: [quality_line(profile)]
                .into_iter()
                .chain(stacks.map(|stacks| format!("stacks: {stacks}")))
                .collect(),
            max_bytes: Page::MAX_BYTES,
        };
        self.finish(&page, &sampled, profile, shown)
    }

    /// Reads the recording, with a progress line.
    fn load<T>(
        &self,
        load: impl FnOnce(&mut Progress<'_>) -> Result<T, rprof_analysis::Error>,
    ) -> Result<T> {
        let mut progress = progress(self.reader);
        Ok(load(&mut |share| progress.show(share))?)
    }

    /// Prints the warnings of what was loaded, writes it, and says how good it is.
    fn finish<F: Format>(
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
    fn compared(&self, before: &Before, (run, profile): (NamedRun, &Profile)) -> Result<ExitCode> {
        warn(profile, self.reader, &self.args.input);
        let (page, recordings) = compared(before, (run, profile))?;
        self.write(&page, &recordings)?;
        Ok(self.end(profile, true))
    }

    /// Says how good the profile is.
    fn end(&self, profile: &Profile, shown: bool) -> ExitCode {
        profile.events.iter().for_each(say::loss);
        say::stacks(&profile.unwound);
        if shown {
            say::quality(profile);
        }
        ending(self.args.strict, profile)
    }

    fn write<F: Format>(&self, format: &F, source: &F::Source) -> Result<()> {
        target::write(self.output, |out| {
            if self.is_compressed {
                write_gzip(format, source, out)
            } else {
                format.write(source, out)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_the_format() {
        let format = |name: &str| {
            let mut endings = ENDINGS.iter();
            let found = endings.find(|(ending, _)| name.ends_with(ending));
            found.map(|&(_, format)| format)
        };
        assert_eq!(format("a.json.gz"), Some(ExportFormat::Firefox));
        assert_eq!(format("a.speedscope.json"), Some(ExportFormat::Speedscope));
        assert_eq!(
            format("a.speedscope.json.gz"),
            Some(ExportFormat::Speedscope)
        );
        assert_eq!(format("a.pb.gz"), Some(ExportFormat::Pprof));
        assert_eq!(format("a.folded"), Some(ExportFormat::Folded));
        assert_eq!(format("a.callgrind"), Some(ExportFormat::Callgrind));
        assert_eq!(format("a.json"), Some(ExportFormat::Json));
        assert_eq!(format("a.svg"), None);
    }

    #[test]
    fn files_are_compressed_where_their_readers_want_it() {
        let compressed = |format, name| is_compressed(format, Some(Path::new(name)));
        assert!(is_compressed(ExportFormat::Firefox, None));
        assert!(!compressed(ExportFormat::Firefox, "a.json"));
        assert!(compressed(ExportFormat::Pprof, "a.pb"));
        assert!(compressed(ExportFormat::Speedscope, "a.speedscope.json.gz"));
        assert!(!compressed(ExportFormat::Json, "a.json"));
        assert!(!is_compressed(ExportFormat::Folded, None));
    }
}
