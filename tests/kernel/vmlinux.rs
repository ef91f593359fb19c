//! What names a kernel of another machine: its vmlinux, a server, a list of symbols.

use crate::common::run;
use crate::common::server::{Reply, Server};
use crate::kernel::machine::{Machine, RELEASE, VMLINUX, can_run};

#[test]
fn a_kernel_of_another_machine_is_named_by_its_vmlinux() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    assert!(!machine.script(&[]).contains("kernel_work"));
    let own = machine.path("vmlinux");
    let own = own.to_str().unwrap();
    let places = [
        format!("usr/lib/debug/boot/vmlinux-{RELEASE}"),
        format!("usr/lib/debug/lib/modules/{RELEASE}/vmlinux"),
        format!("lib/modules/{RELEASE}/build/vmlinux"),
        format!("boot/vmlinux-{RELEASE}"),
        "vmlinux".to_owned(),
    ];
    let named = machine.script(&["--vmlinux", own]);
    for expected in ["kernel_work", "kernel.c:4"] {
        assert!(named.contains(expected), "no {expected} in\n{named}");
    }
    let folded = machine.rprof(&["flame", "--folded", "--vmlinux", own]);
    assert!(folded.contains(";kernel_work;kernel_inlined 1"), "{folded}");
    for place in places {
        machine.install("vmlinux", &place);
        assert_eq!(machine.script(&[]), named, "{place}");
        std::fs::remove_file(machine.path("root").join(place)).unwrap();
    }
    // Names alone need no DWARF.
    machine.make("objcopy --strip-debug vmlinux plain");
    machine.install("plain", &format!("boot/vmlinux-{RELEASE}"));
    let table = machine.rprof(&["report", "--no-children", "-g", "none"]);
    assert!(table.contains("[k] kernel_work"), "{table}");
}

#[test]
fn a_server_has_the_vmlinux_and_the_modules_of_another_machine() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let served = ["vmlinux", "module.ko"].map(|file| {
        let hex = |byte: &u8| format!("{byte:02x}");
        let id: String = machine.build_id(file).iter().map(hex).collect();
        let bytes = std::fs::read(machine.path(file)).unwrap();
        (format!("/buildid/{id}/debuginfo"), bytes)
    });
    let server = Server::new(move |asked| {
        let found = served.iter().find(|(path, _)| path == asked);
        found.map_or(Reply::Is(404, Vec::new()), |(_, bytes)| {
            Reply::Is(200, bytes.clone())
        })
    });
    let mut command = machine.command(&["flame", "--folded", "--debuginfod-wait", "60"]);
    command.env("DEBUGINFOD_URLS", &server.url);
    command.env("DEBUGINFOD_CACHE_PATH", machine.path("cache"));
    let folded = run(&mut command).ok().stdout;
    for name in [
        "kernel_work;kernel_inlined",
        "module_work;module_inlined",
        "module_stop",
    ] {
        assert!(folded.contains(name), "no {name} in\n{folded}");
    }
}

#[test]
fn a_vmlinux_of_another_build_is_not_taken() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    // Another build of the same names, somewhere else in memory.
    let other = VMLINUX.replace("nop", ".skip 64");
    std::fs::write(machine.path("kernel.c"), other).unwrap();
    machine.make(
        "cc -O1 -fno-pie -mcmodel=kernel -nostdlib -static -Wl,--build-id,-e,_text -o other kernel.c",
    );
    machine.install("other", &format!("boot/vmlinux-{RELEASE}"));
    assert!(!machine.script(&[]).contains("kernel_work"));
    let other = machine.path("other");
    let asked = machine.script(&["--vmlinux", other.to_str().unwrap()]);
    assert!(!asked.contains("kernel_work"), "{asked}");
}

#[test]
fn symbols_says_which_file_names_the_kernel() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let kernel_of = |args: &[&str]| {
        let json = machine.rprof(&[&["symbols", "--json"], args].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut images = json["images"].as_array().unwrap().iter();
        let is_kernel = |image: &&serde_json::Value| image["path"] == "[kernel.kallsyms]";
        images.find(is_kernel).unwrap().clone()
    };
    let vmlinux = machine.path("vmlinux");
    let vmlinux = vmlinux.to_str().unwrap();
    let kernel = kernel_of(&["--vmlinux", vmlinux]);
    assert_eq!(kernel["files"], serde_json::json!([vmlinux]));
    assert_eq!(kernel["gives"][0], "symtab");
    std::fs::write(machine.path("list"), machine.make("nm -n vmlinux")).unwrap();
    let list = machine.path("list");
    let list = list.to_str().unwrap();
    let kernel = kernel_of(&["--kallsyms", list]);
    assert_eq!(kernel["files"], serde_json::json!([list]));
    assert_eq!(kernel["gives"], serde_json::json!(["kallsyms"]));
}

#[test]
fn a_list_of_symbols_names_the_kernel_at_another_place() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let list = machine.make("nm -n vmlinux");
    std::fs::write(machine.path("list"), list).unwrap();
    let list = machine.path("list");
    let named = machine.script(&["--kallsyms", list.to_str().unwrap()]);
    assert!(named.contains("kernel_work"), "{named}");
    // Where modules were in that boot it does not tell.
    assert!(!named.contains("module_work"), "{named}");
    std::fs::write(&list, "ffffffff81000000 T other\n").unwrap();
    let named = machine.script(&["--kallsyms", list.to_str().unwrap()]);
    assert!(!named.contains("other"), "{named}");
}
