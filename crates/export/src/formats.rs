//! The table of formats: their names, the files they are written to, and what they are made of.

use crate::otlp::OTLP;
use crate::{Callgrind, Firefox, Folded, Format, Json, Pprof, Speedscope};
use rprof_profile::{CountedStacks, Profile, SampledProfile};

/// A format that `rprof export` writes.
#[derive(Debug)]
pub struct ExportFormat {
    /// Its name, as of `--format`.
    pub name: &'static str,
    /// What it contains, and for which viewer: part of a line.
    pub about: &'static str,
    /// How names of such files end, the usual ending first. Of all formats', the longest that fits counts.
    pub endings: &'static [&'static str],
    /// When its files are compressed.
    pub compressed: Compressed,
    /// What it is made of.
    pub content: Content,
}

/// When files of a format are compressed with gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressed {
    /// Viewers read nothing else.
    Always,
    /// Viewers read both, and files are large: unless a file is called so.
    Unless(&'static str),
    /// If the file's name ends with `.gz`.
    IfNamed,
}

/// What a format is made of, and what writes it.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Every sample, with its time and addresses.
    Samples {
        /// What writes it.
        format: &'static dyn Format<Source = SampledProfile>,
        /// Whether it shows the fields of tracepoints.
        has_fields: bool,
    },
    /// Counted stacks of code locations.
    Counted(&'static dyn Format<Source = CountedStacks>),
    /// Counted stacks of functions, of all events.
    Profile(&'static dyn Format<Source = Profile>),
    /// Counted stacks of functions, of the event with an index.
    Event(fn(usize) -> Box<dyn Format<Source = Profile>>),
    /// A folder of tables for query engines, read and written in one.
    #[cfg(feature = "parquet")]
    Tables,
    /// A trace, read and written in one ([`PerfettoTrace`](crate::PerfettoTrace)).
    Trace,
    /// A [`Page`](crate::Page), or a [`DifferentialPage`](crate::DifferentialPage) of two recordings.
    Page,
}

/// All formats, in the order of the help text.
pub const FORMATS: &[ExportFormat] = &[
    ExportFormat {
        name: "html",
        about: "One HTML file that any browser opens offline: flame graphs, tables, threads, heat map",
        endings: &[".html"],
        compressed: Compressed::IfNamed,
        content: Content::Page,
    },
    ExportFormat {
        name: "firefox",
        about: "Firefox Profiler: thread tracks, flame graphs, markers; compressed",
        endings: &[".json.gz"],
        compressed: Compressed::Unless(".json"),
        content: Content::Samples {
            format: &Firefox,
            has_fields: true,
        },
    },
    ExportFormat {
        name: "speedscope",
        about: "speedscope: a flame chart per thread",
        endings: &[".speedscope.json", ".speedscope.json.gz"],
        compressed: Compressed::IfNamed,
        content: Content::Samples {
            format: &Speedscope,
            has_fields: false,
        },
    },
    ExportFormat {
        name: "perfetto",
        about: "Perfetto: what threads did on which CPU, who woke them, samples; as SQL tables, too",
        endings: &[".pftrace", ".pftrace.gz", ".perfetto-trace"],
        compressed: Compressed::IfNamed,
        content: Content::Trace,
    },
    ExportFormat {
        name: "pprof",
        about: "pprof: tables, graphs, flame graphs; compressed",
        endings: &[".pb.gz", ".pprof"],
        compressed: Compressed::Always,
        content: Content::Counted(&Pprof),
    },
    ExportFormat {
        name: "otlp",
        about: "OpenTelemetry profiles (OTLP 1.11, v1development: may still change)",
        endings: &[".otlp", ".otlp.gz"],
        compressed: Compressed::IfNamed,
        content: Content::Counted(&OTLP),
    },
    ExportFormat {
        name: "callgrind",
        about: "Callgrind: costs of lines and calls, for KCachegrind",
        endings: &[".callgrind"],
        compressed: Compressed::IfNamed,
        content: Content::Counted(&Callgrind),
    },
    ExportFormat {
        name: "folded",
        about: "One line per stack with its sample count, for flame graph tools",
        endings: &[".folded", ".folded.gz"],
        compressed: Compressed::IfNamed,
        content: Content::Event(|event| Box::new(Folded { event })),
    },
    ExportFormat {
        name: "json",
        about: "The profile itself: a tree of stacks with counts, and profile quality",
        endings: &[".json"],
        compressed: Compressed::IfNamed,
        content: Content::Profile(&Json),
    },
    #[cfg(feature = "parquet")]
    ExportFormat {
        name: "parquet",
        about: "A folder of Parquet tables (-o FOLDER) for DuckDB, Spark, ClickHouse: every sample with its stack",
        endings: &[],
        compressed: Compressed::IfNamed,
        content: Content::Tables,
    },
];

impl ExportFormat {
    /// The format that a file's name ends with, if one does.
    pub fn of_file(name: &str) -> Option<&'static Self> {
        let endings = FORMATS.iter().flat_map(|format| {
            let own = format.endings.iter();
            own.map(move |ending| (ending.len(), *ending, format))
        });
        let fitting = endings.filter(|(_, ending, _)| name.ends_with(ending));
        let longest = fitting.max_by_key(|(len, ..)| *len);
        longest.map(|(.., format)| format)
    }

    /// Whether a file of this name is compressed; `None` is standard output.
    pub fn is_compressed(&self, file_name: Option<&str>) -> bool {
        let ends_with = |ending| file_name.is_some_and(|name| name.ends_with(ending));
        match self.compressed {
            Compressed::Always => true,
            Compressed::Unless(ending) => !ends_with(ending),
            Compressed::IfNamed => ends_with(".gz"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> Option<&'static str> {
        ExportFormat::of_file(name).map(|format| format.name)
    }

    #[test]
    fn endings_tell_the_format() {
        for (name, expected) in [
            ("a.json.gz", Some("firefox")),
            ("a.speedscope.json", Some("speedscope")),
            ("a.speedscope.json.gz", Some("speedscope")),
            ("a.pb.gz", Some("pprof")),
            ("a.pprof", Some("pprof")),
            ("a.pftrace", Some("perfetto")),
            ("a.pftrace.gz", Some("perfetto")),
            ("a.folded", Some("folded")),
            ("a.folded.gz", Some("folded")),
            ("a.callgrind", Some("callgrind")),
            ("a.json", Some("json")),
            ("a.html", Some("html")),
            ("a.svg", None),
        ] {
            assert_eq!(format(name), expected, "{name}");
        }
    }

    #[test]
    fn files_are_compressed_where_their_readers_want_it() {
        let is_compressed = |name: &str, file| {
            let format = FORMATS.iter().find(|format| format.name == name);
            format.unwrap().is_compressed(file)
        };
        assert!(is_compressed("firefox", None));
        assert!(!is_compressed("firefox", Some("a.json")));
        assert!(is_compressed("pprof", Some("a.pb")));
        assert!(is_compressed("speedscope", Some("a.speedscope.json.gz")));
        assert!(!is_compressed("json", Some("a.json")));
        assert!(!is_compressed("folded", None));
    }
}
