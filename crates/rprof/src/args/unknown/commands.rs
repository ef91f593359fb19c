//! perf's commands that are not here.

use super::Tips;

/// What answers the same questions here; where nothing does, that is said.
pub(super) const COMMANDS: Tips = &[
    (
        &["evlist"],
        "use rprof info: it lists the events of a recording",
    ),
    (
        &["buildid-list"],
        "use rprof symbols: it lists the binaries of a recording, and where their names come from",
    ),
    (
        &["buildid-cache", "archive"],
        "use rprof symbols --embed: the names travel inside the recording",
    ),
    (
        &["data"],
        "rprof script --format json prints samples, rprof export writes files for other viewers",
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
        "probes need no definition: rprof record -e uprobe:FILE:FUNCTION or -e kprobe:FUNCTION; \
         rprof list --path FILE lists functions",
    ),
    (
        &["trace"],
        "system calls are tracepoints: rprof record -e 'syscalls:sys_enter_*' -- COMMAND, then rprof script",
    ),
    (
        &["sched", "timechart"],
        "scheduler events are tracepoints: rprof record -a -e 'sched:*' -- sleep 1, then rprof script",
    ),
    (
        &["lock", "kmem", "kvm", "kwork", "iostat"],
        "its events are tracepoints: rprof list tracepoint lists them, rprof record -e samples them, \
         rprof script prints them",
    ),
    (
        &["ftrace"],
        "the function tracer is not used: rprof record -e kprobe:FUNCTION samples the calls of a kernel function",
    ),
    (
        &["kallsyms"],
        "use rprof list kprobe NAME: kernel functions that can be probed",
    ),
    (
        &["inject"],
        "leave it out: rprof reads jitdumps and build ids itself",
    ),
    (
        &["daemon"],
        "use rprof record -a --switch-output=1h --switch-max-files=24: it keeps the latest files",
    ),
    (
        &["config"],
        "there is no configuration file: flags and environment variables only",
    ),
    (&["version"], "use rprof --version"),
];
