//! Tips for flags and commands of perf that rprof does not have.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// perf's names, each row with what to use instead: the commands that lack them (`rprof`: the command itself is not
/// there), a colon and the names; below, indented, the tip.
const TIPS: &str = "\
report diff annotate: -D --dump-raw-trace
    use rprof dump: it prints every record
report: --ns
    use rprof script --ns
report: --samples
    use rprof script: it prints single samples
report: --branch-history --total-cycles --stitch-lbr
    branches are counted by rprof report -b, and listed by rprof script -F +brstack
report: -v --verbose
    leave it out: rprof symbols shows where symbols come from, rprof report --stats how stacks end
report: -T
    use -s tid: it shows a row per thread
report: --tui --gtk
    use rprof tui to browse a recording interactively, or rprof flame --open for a flame graph
report: -m --modules --ignore-vmlinux --demangle-kernel --objdump --disable-order
    leave it out: symbols are found without it
report: -M --disassembler-style --asm-raw --source --prefix --prefix-strip
    use rprof annotate, which has this flag
report annotate: --itrace
    hardware traces are not decoded
report: --raw-trace
    use -s trace_fields: it shows tracepoint fields as recorded
report: --percent-type
    use --percentage to choose the base of percentages; rprof annotate has --percent-type
report: --pretty
    use --format csv or json for raw numbers
diff annotate: -v --verbose
    leave it out: rprof symbols shows where symbols come from
diff: -m --modules
    leave it out: symbols are found without it
diff: --stream --cycles-hist
    branches cannot be compared; rprof report -b counts them
annotate: -l --print-line
    leave it out: each line is shown with its file and number
annotate: -P --full-paths
    use --format json for full paths: text shows only the part that distinguishes files
annotate: -m --modules --ignore-vmlinux
    leave it out: modules are found without it, and -k FILE names the vmlinux
annotate: --skip-missing
    leave it out: functions without code are listed, and the others shown
annotate: --tui --gtk
    use rprof tui: press a to see a function's code
annotate: --objdump --addr2line
    leave it out: rprof disassembles code and finds lines without other tools
annotate: --data-type --type-stat --insn-stat
    data type profiling is not supported
top: -b --branch-any -j --branch-filter
    use rprof record, which has this flag, and rprof report -b, which counts branches
top: -D --dump-symtab
    use --save FILE, then rprof symbols: it shows where symbols come from
top: -f --count-filter
    use --percent-limit
top: -k --vmlinux --kallsyms --ignore-vmlinux --demangle-kernel --force
    leave it out: symbols are found without it
top: -M --disassembler-style --objdump --asm-raw --source --prefix --prefix-strip --sym-annotate
    use --save FILE, then rprof annotate, which has this flag
top: --comms --dsos --symbols --fields --hierarchy --ignore-callees
    use --save FILE, then rprof report, which has this flag
top: --max-stack --percentage --show-total-period --group-sort-idx --raw-trace
    use --save FILE, then rprof report, which has this flag
top record: -r --realtime
    leave it out: the recorder raises its own priority if permitted
top: -v --verbose
    leave it out: rprof doctor shows what can be recorded here
top: -w --column-widths
    leave it out: columns are as wide as their contents
top: --num-thread-synthesize --proc-map-timeout --overwrite --no-bpf-event
    leave it out: one thread drains all ring buffers, another one reads
top: --switch-on --switch-off --show-on-off-events
    use --save FILE, then rprof report, which has --switch-on and --switch-off
top: --namespaces --all-cgroups
    use rprof record, which has this flag, then rprof report
top: --stitch-lbr
    branches of several samples cannot be stitched
top: --tui
    leave it out: it is the default on a terminal
record: --timeout
    use --duration SECONDS to end the recording
record: --off-cpu-thresh
    use --off-cpu=MS: waits of at least MS milliseconds have their user stacks
stat: -S --sync
    run sync before rprof stat
record: -S --snapshot --aux-sample
    hardware traces are not recorded; use --overwrite to keep only the latest samples
record: --threads --aio --affinity --num-thread-synthesize --mmap-flush --no-buffering
    leave it out: one thread drains all ring buffers, another one writes
record: --kcore
    leave it out: kernel code is resolved with the kernel's own symbols
record: --proc-map-timeout
    leave it out: reading mappings has no time limit
record: --debuginfod
    leave it out: debuginfod servers (DEBUGINFOD_URLS) are asked when the recording is read
record: --dry-run
    use rprof doctor: it shows what would be recorded
record: --vmlinux
    leave it out: kprobe:FUNCTION resolves functions in the running kernel
record: --clang-path --clang-opt
    leave it out: rprof loads no BPF programs
rprof: evlist
    use rprof info: it lists the events of a recording
rprof: buildid-list
    use rprof symbols: it lists a recording's binaries and where their symbols come from
rprof: buildid-cache archive
    use rprof symbols --embed: it puts the symbols into the recording
rprof: data
    rprof script --json prints samples, rprof export converts recordings for other viewers
rprof: mem
    use rprof record -d -W -e EVENT, then rprof report --mem-mode
rprof: c2c
    false sharing is not analyzed: rprof report --mem-mode shows the sampled memory accesses
rprof: probe
    probes need no definition: use rprof record -e uprobe:FILE:FUNCTION or -e kprobe:FUNCTION; rprof list --path
    FILE lists functions
rprof: timechart
    use rprof sched timehist: it shows when each thread ran
rprof: kmem kvm kwork iostat
    its events are tracepoints: rprof list tracepoint lists them, rprof record -e samples them, rprof script prints
    them
rprof: ftrace
    the function tracer is not supported: rprof record -e kprobe:FUNCTION samples calls of a kernel function
rprof: kallsyms
    use rprof list kprobe NAME: it lists the kernel functions that can be probed
rprof: inject
    not needed: rprof reads jitdumps and build ids itself
rprof: daemon
    use rprof record -a --switch-output=1h --switch-max-files=24: it keeps only the latest files
rprof: config
    rprof has no configuration file: use flags and environment variables
rprof: version
    use rprof --version
";

/// The commands and names of a row, if a line is its first.
fn head(line: &str) -> Option<(&str, &str)> {
    line.split_once(": ").filter(|_| !line.starts_with(' '))
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// What to use instead of a name, in a command.
fn tip(command: &str, name: &str) -> Option<String> {
    let is_row = |(commands, names)| has_word(commands, command) && has_word(names, name);
    let mut lines = TIPS
        .lines()
        .skip_while(|line| !head(line).is_some_and(is_row));
    lines.next()?;
    let text = lines.take_while(|line| line.starts_with(' '));
    Some(text.map(str::trim).collect::<Vec<_>>().join(" "))
}

/// Adds a tip to the error if there is one. Removes clap's tip on passing the flag as a value, and clap's usage line,
/// which would be that of the similar flag.
pub(crate) fn explained(mut error: clap::Error, command: Option<&str>) -> clap::Error {
    let (what, similar, command, all) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let has_rows = |command: &&str| {
                TIPS.lines()
                    .filter_map(head)
                    .any(|(commands, _)| has_word(commands, command))
            };
            let command = command.filter(has_rows).unwrap_or("record");
            error.remove(ContextKind::Suggested);
            let all = "see --help for all flags";
            (
                ContextKind::InvalidArg,
                ContextKind::SuggestedArg,
                command,
                all,
            )
        }
        ErrorKind::InvalidSubcommand => {
            let all = "see rprof --help for all commands";
            (
                ContextKind::InvalidSubcommand,
                ContextKind::SuggestedSubcommand,
                "rprof",
                all,
            )
        }
        _ => return error,
    };
    error.remove(ContextKind::Usage);
    let Some(ContextValue::String(name)) = error.get(what) else {
        return error;
    };
    let tip = match tip(command, name) {
        Some(tip) => {
            error.remove(similar);
            tip
        }
        None if error.get(similar).is_none() => all.to_owned(),
        None => return error,
    };
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
    error
}

#[cfg(test)]
mod tests;
