//! The arguments of `rprof script`.

use super::{HeaderArgs, KeepArgs, Recordings, SampleArgs, StrictArgs};
use crate::screen::PagerArgs;
use rprof_script::{ShownRecords, Times};

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof script                            every sample with its stack
  rprof script -G -F comm,time,ip,sym     one line per sample
  rprof script -c make --time +1,+1.5     half a second of threads named make
  rprof script --show-task-events         samples with task events
  rprof script --keep-stacks malloc       samples with malloc in their stack
  rprof script a.data b.data              several recordings, in turn
  rprof script --json                     JSON (docs: crates/JSON.md)";

/// Other readers take several as one profile.
const RECORDINGS: &str = "Recordings to read, one after the other: files, directories, or - for stdin [default: perf.data]";

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("dsos", |dsos| dsos.short(None)),
    mut_arg("plain", |plain| plain.help(RECORDINGS)),
    after_help = EXAMPLES
)]
pub(crate) struct ScriptArgs {
    #[command(flatten)]
    pub(crate) recordings: Recordings,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) header: HeaderArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    #[arg(short = 'F', long, value_name = "FIELDS", allow_hyphen_values = true, help = fields_help())]
    pub(crate) fields: Vec<String>,

    /// Do not print call chains
    #[arg(short = 'G', long)]
    pub(crate) hide_call_graph: bool,

    /// Omit the callers of these functions
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) stop_bt: Vec<String>,

    /// Print times with nanosecond resolution
    #[arg(long)]
    pub(crate) ns: bool,

    /// perf's script to run: not supported
    #[arg(short = 's', long, value_name = "NAME", hide = true)]
    pub(crate) script: Option<String>,

    /// perf's language for generated scripts: not supported
    #[arg(short = 'g', long, value_name = "LANGUAGE", hide = true)]
    pub(crate) gen_script: Option<String>,

    /// Print JSON, one line per sample, and per context switch with --show-switch-events (docs: crates/JSON.md)
    #[arg(
        long,
        conflicts_with_all = [
            "deltatime", "reltime", "show_task_events", "show_mmap_events", "show_namespace_events",
            "show_cgroup_events", "show_lost_events", "show_bpf_events", "show_text_poke_events", "show_round_events",
            "header", "header_only", "show_info",
        ]
    )]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,

    /// Print times relative to the previous line
    #[arg(long, conflicts_with = "reltime")]
    pub(crate) deltatime: bool,

    /// Print times relative to the first line
    #[arg(long)]
    pub(crate) reltime: bool,

    /// Also print task events: names, starts and exits (COMM, FORK, EXIT)
    #[arg(long)]
    show_task_events: bool,

    /// Also print mappings (MMAP, MMAP2)
    #[arg(long)]
    show_mmap_events: bool,

    /// Also print namespaces (NAMESPACES)
    #[arg(long)]
    show_namespace_events: bool,

    /// Also print control groups (CGROUP)
    #[arg(long)]
    show_cgroup_events: bool,

    /// Also print context switches (SWITCH; rprof record --switch-events)
    #[arg(long)]
    show_switch_events: bool,

    /// Also print lost records (LOST)
    #[arg(long)]
    show_lost_events: bool,

    /// Also print loaded and unloaded BPF programs and kernel symbols (BPF_EVENT, KSYMBOL)
    #[arg(long)]
    show_bpf_events: bool,

    /// Also print changes of kernel code (TEXT_POKE)
    #[arg(long)]
    show_text_poke_events: bool,

    /// Also print ends of rounds (FINISHED_ROUND); prints everything in file order
    #[arg(long)]
    show_round_events: bool,
}

impl ScriptArgs {
    pub(crate) fn times(&self) -> Times {
        match (self.reltime, self.deltatime) {
            (true, _) => Times::SinceStart,
            (false, true) => Times::SincePrevious,
            (false, false) => Times::Recorded,
        }
    }

    pub(crate) fn records(&self) -> ShownRecords {
        ShownRecords {
            tasks: self.show_task_events,
            mappings: self.show_mmap_events,
            namespaces: self.show_namespace_events,
            cgroups: self.show_cgroup_events,
            switches: self.show_switch_events,
            lost: self.show_lost_events,
            bpf: self.show_bpf_events,
            text_pokes: self.show_text_poke_events,
            rounds: self.show_round_events,
        }
    }
}

fn fields_help() -> String {
    let names: Vec<&str> = rprof_script::field_names().collect();
    format!(
        "Print these fields; with a leading + or -, add to or remove from the defaults: {} (stackend: why an \
         unwound stack is incomplete; span: innermost span of the thread). A prefix hw:, sw:, trace:, raw: or break: applies to events of that type \
         only. May be repeated: each one changes the ones before",
        names.join(", ")
    )
}
