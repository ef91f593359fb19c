//! perf's commands that rprof does not have.

use super::Tips;

/// What answers the same questions in rprof, or that nothing does.
pub(super) const COMMANDS: Tips = &[
    (
        &["evlist"],
        "use rprof info: it lists the events of a recording",
    ),
    (
        &["buildid-list"],
        "use rprof symbols: it lists a recording's binaries and where their symbols come from",
    ),
    (
        &["buildid-cache", "archive"],
        "use rprof symbols --embed: it puts the symbols into the recording",
    ),
    (
        &["data"],
        "rprof script --json prints samples, rprof export converts recordings for other viewers",
    ),
    (
        &["mem"],
        "use rprof record -d -W -e EVENT, then rprof report --mem-mode",
    ),
    (
        &["c2c"],
        "false sharing is not analyzed: rprof report --mem-mode shows the sampled memory accesses",
    ),
    (
        &["probe"],
        "probes need no definition: use rprof record -e uprobe:FILE:FUNCTION or -e kprobe:FUNCTION; \
         rprof list --path FILE lists functions",
    ),
    (
        &["trace"],
        "system calls are tracepoints: use rprof record -e 'syscalls:sys_enter_*' -- COMMAND, then rprof script",
    ),
    (
        &["sched", "timechart"],
        "scheduler events are tracepoints: use rprof record -a -e 'sched:*' -- sleep 1, then rprof script",
    ),
    (
        &["lock", "kmem", "kvm", "kwork", "iostat"],
        "its events are tracepoints: rprof list tracepoint lists them, rprof record -e samples them, \
         rprof script prints them",
    ),
    (
        &["ftrace"],
        "the function tracer is not supported: rprof record -e kprobe:FUNCTION samples calls of a kernel function",
    ),
    (
        &["kallsyms"],
        "use rprof list kprobe NAME: it lists the kernel functions that can be probed",
    ),
    (
        &["inject"],
        "not needed: rprof reads jitdumps and build ids itself",
    ),
    (
        &["daemon"],
        "use rprof record -a --switch-output=1h --switch-max-files=24: it keeps only the latest files",
    ),
    (
        &["config"],
        "rprof has no configuration file: use flags and environment variables",
    ),
    (&["version"], "use rprof --version"),
];
