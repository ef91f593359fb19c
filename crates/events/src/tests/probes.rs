//! Probes: where they are, and what is said of those that cannot be.

use std::path::PathBuf;

use super::machine::Machine;
use crate::{ProbePoint, ProbeSite, ProbedCode};

fn function(code: ProbedCode, name: &str, offset: u64) -> ProbePoint {
    let name = name.to_owned();
    ProbePoint {
        code,
        site: ProbeSite::Function { name, offset },
        arguments: Vec::new(),
    }
}

fn marker(code: ProbedCode, provider: &str, name: &str) -> ProbePoint {
    ProbePoint {
        code,
        site: ProbeSite::Marker {
            provider: provider.to_owned(),
            name: name.to_owned(),
        },
        arguments: Vec::new(),
    }
}

#[test]
fn probes_are_in_functions_at_addresses_and_at_markers() {
    let machine = Machine::usual();
    let file = || ProbedCode::File(PathBuf::from("/usr/lib/x.so"));
    for (text, name, config, point) in [
        ("uprobe:/usr/lib/x.so:f", "", 0, function(file(), "f", 0)),
        (
            "uprobe:/usr/lib/x.so:f+0x10",
            "",
            0,
            function(file(), "f", 16),
        ),
        (
            "uprobe:/usr/lib/x.so:a::f",
            "",
            0,
            function(file(), "a::f", 0),
        ),
        (
            "uprobe:/usr/lib/x.so:a::u",
            "",
            0,
            function(file(), "a::u", 0),
        ),
        (
            "uprobe:/usr/lib/x.so:operator+",
            "",
            0,
            function(file(), "operator+", 0),
        ),
        ("uprobe:/usr/lib/x.so:u", "", 0, function(file(), "u", 0)),
        ("sdt_p:u", "", 0, marker(ProbedCode::Recorded, "p", "u")),
        ("usdt:/usr/lib/x.so:p:u", "", 0, marker(file(), "p", "u")),
        (
            "uprobe:/usr/lib/x.so:f:uS",
            "uprobe:/usr/lib/x.so:f",
            0,
            function(file(), "f", 0),
        ),
        (
            "uprobe:/usr/lib/x.so:0x40",
            "",
            0,
            ProbePoint {
                code: file(),
                site: ProbeSite::Address(0x40),
                arguments: Vec::new(),
            },
        ),
        (
            "uretprobe:/usr/lib/x.so:m*",
            "",
            1,
            function(file(), "m*", 0),
        ),
        ("usdt:/usr/lib/x.so:p:n", "", 0, marker(file(), "p", "n")),
        ("sdt_p:n@/usr/lib/x.so", "", 0, marker(file(), "p", "n")),
        ("sdt_p:n", "", 0, marker(ProbedCode::Recorded, "p", "n")),
    ] {
        let events = machine.parse(&format!("cs,{text},{{{text},cs}}")).unwrap();
        for event in &events[1..3] {
            let name = if name.is_empty() { text } else { name };
            assert_eq!((event.name.as_str(), event.attr.kind), (name, 9), "{text}");
            assert_eq!((event.attr.config, event.attr.sample_period), (config, 1));
            assert_eq!(event.probe, Some(point.clone()), "{text}");
        }
    }
}

#[test]
fn arguments_stand_behind_the_place_and_types_belong_to_the_name() {
    let machine = Machine::usual();
    for (text, place, arguments) in [
        ("f(%di,len=%si:u32)", "f", &["%di", "len=%si:u32"][..]),
        ("f+0x4(%di)", "f", &["%di"]),
        ("f(+8(%dx):string):u", "f", &["+8(%dx):string"]),
        ("f(int,char)", "f(int,char)", &[]),
        ("a::operator()(int)", "a::operator()(int)", &[]),
        ("operator()", "operator()", &[]),
        ("f(%di;%si)", "f(%di;%si)", &[]),
    ] {
        let event = machine.one(&format!("uprobe:/bin/x:{text}"));
        let point = event.probe.unwrap();
        let ProbeSite::Function { name, .. } = &point.site else {
            panic!("{point:?}")
        };
        assert_eq!(
            (&**name, &point.arguments[..]),
            (
                place,
                &arguments
                    .iter()
                    .map(|one| (*one).to_owned())
                    .collect::<Vec<_>>()[..]
            )
        );
    }
    let event = machine.one("uprobe:/bin/x:f(%di,len=%si:u32)");
    assert_eq!(event.name, "uprobe:/bin/x:f(%di,len=%si:u32)");
}

#[test]
fn what_is_no_probe_is_said_to_be_none() {
    let machine = Machine::usual();
    for (text, message) in [
        (
            "uprobe:/bin/x",
            "'uprobe:/bin/x' does not say where to probe: write uprobe:/path:function",
        ),
        (
            "uprobe:",
            "'uprobe:' does not say where to probe: write uprobe:/path:function",
        ),
        (
            "uprobe:/bin/x:0xg",
            "'0xg' in 'uprobe:/bin/x:0xg' is not a 64-bit number",
        ),
        (
            "usdt:/bin/x:p",
            "'usdt:/bin/x:p' does not say where to probe: write usdt:/path:provider:name",
        ),
        (
            "sdt_p",
            "'sdt_p' does not say where to probe: write sdt_provider:name@/path",
        ),
        (
            "uretprobe:/bin/x:f+4",
            "'uretprobe:/bin/x:f+4' does not say where to probe: a return probe takes no offset: write only a function name",
        ),
        (
            "kprobe:do_exit",
            "this kernel has no kprobes for 'kprobe:do_exit' (CONFIG_KPROBE_EVENTS)",
        ),
    ] {
        let error = machine.error(text);
        assert!(error.starts_with(message), "{error}");
    }
}
