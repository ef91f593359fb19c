//! What is not understood, and what is said then.

use super::machine::Machine;

#[test]
fn errors_say_what_is_wrong_and_where() {
    let machine = Machine::usual();
    for (text, message) in [
        ("cycels", "unknown event 'cycels': did you mean 'cycles'?"),
        ("cycels:u", "unknown event 'cycels': did you mean 'cycles'?"),
        (
            "CPU-CLOCK",
            "unknown event 'CPU-CLOCK': did you mean 'cpu-clock'",
        ),
        (
            "mem-load",
            "unknown event 'mem-load': did you mean 'mem-loads'",
        ),
        (
            "L1-dcache-lod-misses",
            "unknown event 'L1-dcache-lod-misses': did you mean 'L1-dcache-load-misses'",
        ),
        (
            "zzzzzz",
            "unknown event 'zzzzzz': rprof list shows this machine's events",
        ),
        (
            "{cycles,{cs,faults}}",
            "a group within a group in '{cycles,{cs,faults}}': groups cannot be nested",
        ),
        (
            "{cycles,cs}x",
            "unexpected 'x' after the group in '{cycles,cs}x': only modifiers may follow the brace, as in {a,b}:S",
        ),
        (
            "{cycles,cycels}:S",
            "unknown event 'cycels': did you mean 'cycles'?",
        ),
        ("{cycles,}", "an event is missing in '{cycles,}'"),
        ("{}", "an event is missing in '{}'"),
        (
            "{cycles}{faults}",
            "unexpected '{faults}' after the group in '{cycles}{faults}'",
        ),
        ("cs/period=1,/", "a term is missing in 'cs/period=1,/'"),
        ("mem:", "a number is missing in 'mem:'"),
        ("mem:0x1000/", "a number is missing in 'mem:0x1000/'"),
        (
            "mem:0x1000:q",
            "unknown access 'q' in 'mem:0x1000:q': use any of r w x",
        ),
        ("sched:", "the name of a tracepoint is missing in 'sched:'"),
        (":sched_switch", "a name is missing in ':sched_switch'"),
        (
            "cs/period=0/",
            "'0' is not valid for term 'period' in 'cs/period=0/' (column 4): it takes 1 or more",
        ),
        (
            "cs faults",
            "unknown event 'cs faults': separate events with commas",
        ),
        (
            "user_time",
            "'user_time' is a time that perf stat measures itself, and cannot be sampled",
        ),
        ("{cs}:uu", "modifier 'u' is repeated too often in '{cs}:uu'"),
        (
            "{cs:pp}:pp",
            "modifier 'p' is repeated too often in 'cs:pp'",
        ),
        (
            "{cycles,cs:D}",
            "modifier 'D' of 'cs:D' in '{cycles,cs:D}': only a group as a whole, by its first event, \
             can be pinned or exclusive; write {...}:D",
        ),
        (
            "cycles:b",
            "modifier 'b' in 'cycles:b' asks BPF programs to count, and does not sample: omit it",
        ),
        ("cycles:x", "unsupported modifier 'x' in 'cycles:x'"),
        ("cycles:u:k", "unsupported modifier ':' in 'cycles:u:k'"),
        (
            "cpu/event=1/é",
            "unsupported modifier 'é' in 'cpu/event=1/é'",
        ),
        (
            "cycles:uu",
            "modifier 'u' is repeated too often in 'cycles:uu'",
        ),
        (
            "cpus/event=1/",
            "unknown PMU 'cpus' in 'cpus/event=1/': did you mean 'cpu'?",
        ),
        (
            "broken/event=1/",
            "unknown PMU 'broken' in 'broken/event=1/'",
        ),
        (
            "cpu/evnt=1/",
            "unknown term 'evnt' in 'cpu/evnt=1/' (column 5): did you mean 'event'?",
        ),
        (
            "cpu/cycles,umask=1/",
            "unknown term 'cycles' in 'cpu/cycles,umask=1/'",
        ),
        (
            "cycles/umask=1/",
            "unknown term 'umask' in 'cycles/umask=1/'",
        ),
        (
            "cpu/'../type'=1/",
            "unknown term ''../type'' in 'cpu/'../type'=1/'",
        ),
        (
            "cycles/percore=2/",
            "'2' is not valid for term 'percore' in 'cycles/percore=2/' (column 8): it takes 0 or 1",
        ),
        (
            "cycles/metric-id=x/",
            "term 'metric-id' in 'cycles/metric-id=x/' (column 8) is not supported: it is for counting",
        ),
        (
            "cycles/period=1,overwrite/",
            "term 'overwrite' in 'cycles/period=1,overwrite/' (column 17) is not supported: set it for all \
             events, with --overwrite",
        ),
        (
            "cycles/call-graph=dwarv/",
            "'dwarv' is not valid for term 'call-graph' in 'cycles/call-graph=dwarv/' (column 8): \
             it takes auto, dwarf, fp, lbr or no",
        ),
        (
            "cycles/stack-size=65529/",
            "'65529' is not valid for term 'stack-size' in 'cycles/stack-size=65529/' (column 8): \
             it takes 1 to 65528 bytes",
        ),
        (
            "cycles/max-stack=0/",
            "'0' is not valid for term 'max-stack' in 'cycles/max-stack=0/' (column 8)",
        ),
        (
            "cycles/inherit=2/",
            "'2' is not valid for term 'inherit' in 'cycles/inherit=2/' (column 8): it takes 0 or 1",
        ),
        (
            "cycles/time=0/",
            "'0' is not valid for term 'time' in 'cycles/time=0/' (column 8): it takes only 1, as every sample \
             has its time",
        ),
        (
            "{cycles,cs/no-inherit/}",
            "'cycles' and 'cs/no-inherit/' cannot be in one group: only one of them has no-inherit",
        ),
        (
            "sched:sched_switch/umask=1/",
            "unknown term 'umask' in 'sched:sched_switch/umask=1/' (column 20)",
        ),
        (
            "sched:sched_swich/time/",
            "unknown event 'sched:sched_swich': no such tracepoint: did you mean 'sched:sched_switch'?",
        ),
        (
            "cpu/config/",
            "term 'config' in 'cpu/config/' (column 5) needs a value: write config=...",
        ),
        (
            "cpu/asked/",
            "term 'event' in 'cpu/asked/' needs a value: write event=...",
        ),
        (
            "cpu/event=x/",
            "'x' in 'cpu/event=x/' (column 11) is not a 64-bit number",
        ),
        (
            "cpu/umask=0x100/",
            "value 0x100 of term 'umask' in 'cpu/umask=0x100/' (column 5) is too big: at most 0xff",
        ),
        ("cpu/odd=1/", "malformed text 'nonsense' in "),
        (
            "r11111111111111111",
            "'11111111111111111' in 'r11111111111111111' is not a 64-bit number",
        ),
        ("mem:main", "'main' in 'mem:main' is not a 64-bit number"),
        (
            "mem:0x10/9:w",
            "a breakpoint covers 1 to 8 bytes, not 9: 'mem:0x10/9:w'",
        ),
        (
            "mem:0x10:rr",
            "modifier 'r' is repeated too often in 'mem:0x10:rr'",
        ),
        (
            "mem:0x10:q:u",
            "unknown access 'q' in 'mem:0x10:q:u': use any of r w x",
        ),
    ] {
        let error = machine.error(text);
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn odd_texts_are_errors_and_never_panic() {
    let machines = [Machine::bare(), Machine::usual(), Machine::hybrid()];
    let long = [
        "a".repeat(100_000),
        "/".repeat(100_001),
        ",".repeat(1000),
        format!("cycles:{}", "u".repeat(100_000)),
        format!("sched:{}", "x".repeat(100_000)),
        format!("cpu/{}/", "event,".repeat(10_000)),
        format!("r{}", "f".repeat(100_000)),
        "*:".repeat(10_000),
    ];
    let odd = [
        "",
        " ",
        ",",
        "/",
        "//",
        "///",
        "cpu/",
        "{",
        "}",
        "{}",
        "}{",
        ":",
        ":u",
        "::",
        "r",
        "r0x",
        "mem:",
        "mem:/",
        "mem::",
        "mem:0x",
        "mem:0x10/",
        "mem:0x10/0",
        "mem:0x10:é",
        "-",
        "'",
        "*",
        "cpu/'/",
        "cpu/=/",
        "cpu/event=/",
        "cpu/,/",
        "cpu/@x/",
        "cpu/config=-1/",
        "cpu/\0=1/",
        "cpu/..=1/",
        "\0:\0",
        "sched:",
        "sched:.",
        ".:.",
        "é",
        "日本:語",
        "日本/語/",
        "cpu/é=1/é",
        "cycles:é",
        "cycles/é/",
        "L1-dcache-",
        "L1-dcache-é",
        "a\nb",
        "?:?x",
    ];
    for text in odd.into_iter().chain(long.iter().map(String::as_str)) {
        for machine in &machines {
            assert!(machine.parse(text).is_err(), "{text:.80?}");
        }
    }
}
