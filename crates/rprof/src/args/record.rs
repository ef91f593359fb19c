//! The arguments of `record`.

use clap::ArgAction;
use rprof_record::MOST_STACK_BYTES;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct RecordArgs {
    /// Samples a second, or "max" for the kernel's limit [default: 4000]
    #[arg(
        short = 'F',
        long = "freq",
        value_name = "HZ",
        conflicts_with = "period"
    )]
    pub(crate) frequency: Option<String>,

    /// One sample every N events, instead of by time
    #[arg(short = 'c', long = "count", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) period: Option<u64>,

    /// Events: names, PMU events, tracepoints, breakpoints; a list or repeated
    /// [default: cycles, or cpu-clock without a hardware PMU]
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    pub(crate) events: Vec<String>,

    /// Record callers (on by default)
    #[arg(short = 'g', overrides_with = "call_graph")]
    pub(crate) callers: bool,

    /// How to record callers: auto, dwarf[,BYTES], fp, lbr or none
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = CallGraph::parse,
        long_help = CallGraph::HELP
    )]
    pub(crate) call_graph: CallGraph,

    /// Write stack dumps instead of unwinding while recording: they are unwound when read
    #[arg(long)]
    pub(crate) post_unwind: bool,

    /// Everything on all CPUs
    #[arg(short = 'a', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Processes to watch, by id
    #[arg(
        short = 'p',
        long,
        value_name = "PID",
        value_delimiter = ',',
        conflicts_with = "tid"
    )]
    pub(crate) pid: Vec<i32>,

    /// With -p: also the child processes that run already, and their children
    #[arg(long, requires = "pid", conflicts_with = "tid")]
    pub(crate) children: bool,

    /// Threads to watch, by id
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only on these CPUs, such as 0-3,8; without -p or -t: all that runs there
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) duration: Option<f64>,

    /// Size of each CPU's ring: pages (a power of two), or with a unit such as 512K
    #[arg(short = 'm', long, value_name = "PAGES")]
    pub(crate) mmap_pages: Option<String>,

    /// With -a or -C: keep rprof's own samples
    #[arg(long)]
    pub(crate) include_self: bool,

    /// File to write (an older one is kept as NAME.old), or - for a pipe on standard output: the
    /// command then prints to standard error
    #[arg(short = 'o', long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Put the names of all sampled code into the file: it opens anywhere with its names
    #[arg(long)]
    pub(crate) embed_symbols: bool,

    /// Wait for everything that the command started, not only for the command
    #[arg(long)]
    pub(crate) wait_all: bool,

    /// Print only what went wrong
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say more
    #[arg(short = 'v', long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    // Without `allow_hyphen_values`: an unknown flag is an error, not the command.
    /// Command to run, with its arguments: the first word that is no flag, or what follows --
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    // The last, or its heading would be that of others.
    #[command(flatten)]
    pub(crate) perfs: PerfArgs,
}

/// perf's flags for what is always so, or that leave something out.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "For compatibility with perf")]
pub(crate) struct PerfArgs {
    /// Samples have their time (always)
    #[arg(short = 'T', long)]
    timestamp: bool,

    /// Samples have their period (always, unless -c gives it)
    #[arg(short = 'P', long = "period")]
    sample_period: bool,

    /// Samples have their CPU (always)
    #[arg(long)]
    sample_cpu: bool,

    /// The file has the times of the first and the last sample (always)
    #[arg(long)]
    timestamp_boundary: bool,

    /// The clock of times: mono (always)
    #[arg(short = 'k', long, value_name = "CLOCK", value_parser = parse_clock)]
    clockid: Option<()>,

    /// Mappings have build ids (always); with -a, from the kernel: perf may fail meanwhile
    #[arg(long)]
    pub(crate) buildid_mmap: bool,

    /// Build ids of all that is mapped, hit or not (always)
    #[arg(long)]
    buildid_all: bool,

    /// Copy no binaries into ~/.debug (never done)
    #[arg(short = 'N', long)]
    no_buildid_cache: bool,

    /// Record no loading of BPF programs
    #[arg(long)]
    pub(crate) no_bpf_event: bool,

    /// Fail if -F is above the kernel's limit, rather than sample at the limit
    #[arg(long)]
    pub(crate) strict_freq: bool,
}

/// perf's names of the one clock that there is.
fn parse_clock(text: &str) -> Result<(), String> {
    let text = text.to_ascii_lowercase();
    match text.strip_prefix("clock_").unwrap_or(&text) {
        "mono" | "monotonic" | "1" => Ok(()),
        _ => Err("mono is the only clock that rprof takes times from".to_owned()),
    }
}

/// How to record callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGraph {
    /// Unwound while recording, as much of each stack as is needed.
    Auto,
    /// Unwound, from dumps of this many bytes.
    Dwarf(u32),
    /// Frame pointers, followed by the kernel.
    Fp,
    /// The processor's branch records.
    Lbr,
    /// No callers.
    None,
}

impl CallGraph {
    const HELP: &str = "How to record callers:\n  \
        auto           unwind while recording, by unwind tables\n                 \
        (.eh_frame); no frame pointers are needed\n  \
        dwarf[,BYTES]  same, from dumps of BYTES (8 to 65528; default 65528)\n  \
        fp             frame pointers, followed by the kernel\n  \
        lbr            branch records of Intel processors:\n                 \
        the innermost 16 to 32 callers\n  \
        none           only where each sample was taken";

    fn parse(text: &str) -> Result<Self, String> {
        let (how, bytes) = match text.split_once(',') {
            Some((how, bytes)) => (how, Some(bytes)),
            None => (text, None),
        };
        match (how, bytes) {
            ("auto", None) => Ok(Self::Auto),
            ("fp", None) => Ok(Self::Fp),
            ("none" | "no", None) => Ok(Self::None),
            ("dwarf", None) => Ok(Self::Dwarf(MOST_STACK_BYTES)),
            ("dwarf", Some(bytes)) => match bytes.parse() {
                // perf rounds up to whole words, too.
                Ok(bytes @ 1..=MOST_STACK_BYTES) => {
                    Ok(Self::Dwarf(u32::next_multiple_of(bytes, 8)))
                }
                _ => Err(format!("a stack dump has 1 to {MOST_STACK_BYTES} bytes")),
            },
            ("lbr", None) => Ok(Self::Lbr),
            _ => Err("auto, dwarf, dwarf,BYTES, fp, lbr or none".to_owned()),
        }
    }
}
