//! Every form of an event that is understood.

use rprof_abi::{AttrFlags, PerfEventAttr, event_type};

use super::machine::Machine;
use crate::{Callers, cpu_clock, default_events, online_cpus};

const USER_ONLY: AttrFlags = AttrFlags::EXCLUDE_KERNEL
    .with(AttrFlags::EXCLUDE_HV)
    .with(AttrFlags::EXCLUDE_GUEST);

#[test]
fn generic_events_have_their_kind_and_config() {
    let machine = Machine::usual();
    for (text, name, kind, config) in [
        ("cycles", "cycles", event_type::HARDWARE, 0),
        ("cpu-cycles:u", "cpu-cycles:u", event_type::HARDWARE, 0),
        ("branches", "branches", event_type::HARDWARE, 4),
        ("cs:k", "cs:k", event_type::SOFTWARE, 3),
        ("cpu-clock:", "cpu-clock", event_type::SOFTWARE, 0),
        ("page-faults", "page-faults", event_type::SOFTWARE, 2),
        (
            "L1-dcache-load-misses",
            "L1-dcache-load-misses",
            event_type::HW_CACHE,
            0x1_0000,
        ),
        (
            "dTLB-stores:u",
            "dTLB-stores:u",
            event_type::HW_CACHE,
            0x103,
        ),
        ("r1a8", "r1a8", event_type::RAW, 0x1a8),
        ("r0x1A8:u", "r0x1A8:u", event_type::RAW, 0x1a8),
        (
            "rffffffffffffffff",
            "rffffffffffffffff",
            event_type::RAW,
            u64::MAX,
        ),
        (
            "page-faults/name=bar,config=1/k",
            "bar",
            event_type::SOFTWARE,
            1,
        ),
        ("r1a8/name='a,b:c=d'/", "a,b:c=d", event_type::RAW, 0x1a8),
        ("cycles//u", "cycles//u", event_type::HARDWARE, 0),
    ] {
        let event = machine.one(text);
        let found = (event.name.as_str(), event.attr.kind, event.attr.config);
        assert_eq!(found, (name, kind, config), "{text}");
        assert_eq!(event.attr.sample_period, 0, "{text}");
        assert_eq!(event.cpus, None, "{text}");
    }
}

#[test]
fn modifiers_reach_the_event_in_each_form() {
    let machine = Machine::usual();
    for text in [
        "cycles:u",
        "cycles/period=5/u",
        "cpu/event=1/u",
        "cpu/event=1/:u",
        "r1:u",
        "mem-loads:u",
        "sched:sched_switch:u",
        "mem:0x1000:u",
        "mem:0x1000/8:w:u",
    ] {
        assert_eq!(machine.one(text).attr.flags, USER_ONLY, "{text}");
    }
    let precise = machine.one("cycles:P");
    assert!(precise.max_precise);
    assert_eq!(machine.one("cycles:ppp").attr.flags.precise_ip(), 3);
}

#[test]
fn guests_are_left_out_unless_they_are_named() {
    let machine = Machine::usual();
    let none = AttrFlags::default();
    for (letters, flags) in [
        ("", AttrFlags::EXCLUDE_GUEST),
        ("H", AttrFlags::EXCLUDE_GUEST),
        ("G", AttrFlags::EXCLUDE_HOST),
        ("GH", none),
        ("I", AttrFlags::EXCLUDE_GUEST.with(AttrFlags::EXCLUDE_IDLE)),
    ] {
        for name in ["cycles", "cpu-clock", "sched:sched_switch", "mem:0x1000"] {
            let text = format!("{name}:{letters}");
            let event = machine.one(text.trim_end_matches(':'));
            assert_eq!(event.attr.flags, flags, "{text}");
        }
    }
}

#[test]
fn period_and_freq_are_the_sampling_of_the_event() {
    let machine = Machine::usual();
    for (text, period, is_freq) in [
        ("cycles/period=5000/u", 5000, false),
        ("cycles/freq=0x32/", 50, true),
        ("cpu/event=1,period=7/", 7, false),
        ("cycles/freq=1,period=7/", 7, false),
    ] {
        let attr = machine.one(text).attr;
        assert_eq!(attr.sample_period, period, "{text}");
        assert_eq!(attr.flags.has(AttrFlags::FREQ), is_freq, "{text}");
    }
}

#[test]
fn terms_say_how_callers_of_one_event_are_recorded() {
    let machine = Machine::usual();
    let dwarf = |bytes| Some(Callers::Dwarf { bytes });
    for (terms, callers, max_stack, is_inherited) in [
        ("period=1", None, None, true),
        ("call-graph=no", Some(Callers::No), None, true),
        ("call-graph=fp", Some(Callers::FramePointers), None, true),
        ("call-graph=lbr", Some(Callers::BranchRecords), None, true),
        ("call-graph=auto", Some(Callers::Auto), None, true),
        ("call-graph=dwarf", dwarf(None), None, true),
        (
            "call-graph=dwarf,stack-size=1000",
            dwarf(Some(1000)),
            None,
            true,
        ),
        ("stack-size=0x3e9", dwarf(Some(1008)), None, true),
        ("max-stack=3", Some(Callers::FramePointers), Some(3), true),
        ("call-graph=dwarf,max-stack=3", dwarf(None), Some(3), true),
        ("no-inherit", None, None, false),
        ("inherit=0", None, None, false),
        ("no-inherit=0,time,no-overwrite", None, None, true),
    ] {
        for name in ["cycles", "cpu", "cs", "r1", "sched:sched_switch"] {
            let event = machine.one(&format!("{name}/{terms}/u"));
            assert_eq!(event.callers, callers, "{terms}");
            assert_eq!(
                (event.max_stack, event.is_inherited),
                (max_stack, is_inherited)
            );
            assert!(event.attr.flags.has(AttrFlags::EXCLUDE_KERNEL));
        }
    }
    let events = machine.parse("sched:sched_*/name=one/").unwrap();
    assert!(
        events
            .iter()
            .all(|event| event.name == "one" && event.attr.sample_period == 1)
    );
}

#[test]
fn pmu_terms_set_the_bits_that_sysfs_says() {
    let machine = Machine::usual();
    for (text, kind, configs) in [
        ("cpu/event=0x3c,umask=0x1/", 4, [0x13c, 0, 0]),
        ("cpu/event=0xa3c/", 4, [0xa_0000_003c, 0, 0]),
        ("cpu/event=60,edge/pp", 4, [0x4_003c, 0, 0]),
        ("cpu/cpu-cycles/", 4, [0x3c, 0, 0]),
        ("cpu/mem-loads/", 4, [0x1cd, 3, 0]),
        ("cpu/mem-loads,edge/", 4, [0x4_01cd, 3, 0]),
        ("cpu/asked,event=5/", 4, [0x205, 0, 0]),
        ("mem-loads", 4, [0x1cd, 3, 0]),
        ("cpu/config=0x100,config1=2,config2=3/", 4, [0x100, 2, 3]),
        ("cpu/event=1,config=0x100/", 4, [0x101, 0, 0]),
        ("cpu/r1a8/", 4, [0x1a8, 0, 0]),
        ("cpu/cycles/", event_type::HARDWARE, [0, 0, 0]),
        (
            "cpu/instructions,period=9/",
            event_type::HARDWARE,
            [1, 0, 0],
        ),
        (
            "cpu/L1-dcache-load-misses/",
            event_type::HW_CACHE,
            [0x1_0000, 0, 0],
        ),
        ("cpu//", 4, [0, 0, 0]),
        ("i915/actual-frequency/", 20, [0x10_0000, 0, 0]),
        ("software/config=3/", 1, [3, 0, 0]),
    ] {
        let event = machine.one(text);
        let attr = &event.attr;
        assert_eq!(attr.kind, kind, "{text}");
        assert_eq!([attr.config, attr.config1, attr.config2], configs, "{text}");
        assert_eq!(event.name, text);
    }
}

#[test]
fn a_pattern_names_several_pmus_with_their_cpus() {
    let events = Machine::usual().parse("uncore_imc_*/event=4/").unwrap();
    let found: Vec<_> = events
        .iter()
        .map(|event| (event.name.as_str(), event.attr.kind, event.cpus.clone()))
        .collect();
    let cpus = Some(vec![0, 8]);
    assert_eq!(
        found,
        [
            ("uncore_imc_0/event=4/", 12, cpus.clone()),
            ("uncore_imc_1/event=4/", 13, cpus)
        ]
    );
}

#[test]
fn breakpoints_have_address_length_and_access() {
    let machine = Machine::bare();
    let code_len = if cfg!(target_arch = "aarch64") { 4 } else { 8 };
    for (text, address, len, access) in [
        ("mem:0x1000", 0x1000, 4, 3),
        ("mem:4096:rw", 0x1000, 4, 3),
        ("mem:0x1000:r", 0x1000, 4, 1),
        ("mem:0x1000/8:w", 0x1000, 8, 2),
        ("mem:0x1000:x", 0x1000, code_len, 4),
        ("mem:0x1000/2:rwx:k", 0x1000, 2, 7),
        ("mem:0x1000::k", 0x1000, 4, 3),
    ] {
        let event = machine.one(text);
        let attr = PerfEventAttr {
            kind: event_type::BREAKPOINT,
            config1: address,
            config2: len,
            bp_type: access,
            sample_period: 1,
            flags: event.attr.flags,
            ..PerfEventAttr::default()
        };
        assert_eq!((event.name.as_str(), event.attr), (text, attr));
    }
}

#[test]
fn generic_events_are_one_for_each_kind_of_core() {
    let machine = Machine::hybrid();
    let found = |text| -> Vec<(String, u32, u64)> {
        let events = machine.parse(text).unwrap();
        for event in &events {
            let core = event.name.starts_with("cpu_core");
            let cpus = if core { vec![0, 1, 2, 3] } else { vec![4, 5] };
            assert_eq!(event.cpus, Some(cpus), "{text}");
        }
        let parts = events.into_iter();
        parts
            .map(|event| (event.name, event.attr.kind, event.attr.config))
            .collect()
    };
    for (text, inner, (core, core_config), (atom, atom_config)) in [
        ("cycles", "cycles/", (0, 4 << 32), (0, 10 << 32)),
        (
            "cycles/period=5/u",
            "cycles,period=5/u",
            (0, 4 << 32),
            (0, 10 << 32),
        ),
        (
            "dTLB-loads:k",
            "dTLB-loads/k",
            (3, 4 << 32 | 3),
            (3, 10 << 32 | 3),
        ),
        ("r1a8", "r1a8/", (4, 0x1a8), (10, 0x1a8)),
        ("mem-loads:u", "mem-loads/u", (4, 0xcd), (10, 0xd0)),
        ("cpu/event=1/u", "event=1/u", (4, 1), (10, 1)),
        ("cpu/cycles/", "cycles/", (0, 4 << 32), (0, 10 << 32)),
    ] {
        let expected = [
            (format!("cpu_core/{inner}"), core, core_config),
            (format!("cpu_atom/{inner}"), atom, atom_config),
        ];
        assert_eq!(found(text), expected, "{text}");
    }
    assert_eq!(machine.one("cpu_atom/cycles/").attr.config, 10 << 32);
    assert_eq!(machine.one("cpu-clock").cpus, None);
}

#[test]
fn the_default_is_precise_cycles_where_a_pmu_is() {
    assert_eq!(default_events(&Machine::bare().sources), []);
    let usual = default_events(&Machine::usual().sources);
    assert_eq!(usual.len(), 1);
    assert_eq!(usual[0].name, "cycles:P");
    assert!(usual[0].max_precise);
    let hybrid = default_events(&Machine::hybrid().sources);
    let names: Vec<&str> = hybrid.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["cpu_core/cycles/P", "cpu_atom/cycles/P"]);
    assert!(hybrid.iter().all(|event| event.max_precise));
    assert_eq!(hybrid[1].attr.config, 10 << 32);
    assert_eq!(cpu_clock(), Machine::bare().one("cpu-clock"));
}

#[test]
fn user_only_events_are_named_as_perf_names_them() {
    let machine = Machine::usual();
    for (text, name) in [
        ("cycles", "cycles:u"),
        ("cycles:P", "cycles:Pu"),
        ("cpu/event=1/", "cpu/event=1/u"),
        ("mem:0x1000", "mem:0x1000:u"),
    ] {
        let event = machine.one(text).user_only().unwrap();
        assert_eq!((event.name.as_str(), event.attr.flags), (name, USER_ONLY));
    }
    assert_eq!(machine.one("cycles:u").user_only(), None);
    assert_eq!(machine.one("cycles:k").user_only(), None);
    // They would count 0.
    for of_kernel in ["sched:sched_switch", "context-switches", "migrations"] {
        assert_eq!(machine.one(of_kernel).user_only(), None, "{of_kernel}");
    }
}

#[test]
fn cpus_on_line_come_from_sysfs() {
    let usual = online_cpus(&Machine::usual().sources).unwrap();
    assert_eq!(usual, [0, 1, 2, 3, 8]);
    assert!(online_cpus(&Machine::hybrid().sources).is_err());
}
