//! Instructions of kernel code: of a vmlinux and of modules that are what was recorded.

use crate::common::run;
use crate::kernel::machine::{Machine, RELEASE, VMLINUX, can_run};
use serde_json::Value;

/// A function as `rprof annotate` shows it.
fn annotated(machine: &Machine, args: &[&str]) -> Value {
    let args = [&["annotate", "-q", "--format", "json"], args].concat();
    let mut all: Value = serde_json::from_str(&machine.rprof(&args)).unwrap();
    let functions = all["functions"].as_array_mut().unwrap();
    assert_eq!(functions.len(), 1, "{args:?}");
    functions.remove(0)
}

/// The bytes of each of its instructions, as objdump prints them.
fn bytes(function: &Value) -> Vec<String> {
    let rows = function["instructions"].as_array().unwrap().iter();
    rows.map(|row| row["bytes"].as_str().unwrap().to_owned())
        .collect()
}

/// The same of a file.
fn objdump(machine: &Machine, file: &str, function: &str) -> Vec<String> {
    let text = machine.make(&format!("objdump -dw --disassemble={function} {file}"));
    let code = text.split(&format!("<{function}>:\n")).nth(1).unwrap();
    let rows = code.lines().take_while(|line| !line.trim().is_empty());
    rows.map(|row| row.split('\t').nth(1).unwrap().replace(' ', ""))
        .collect()
}

/// What is said of a function, all its lines and inlined functions.
fn has(function: &Value, key: &str, expected: &str) -> bool {
    function[key].to_string().contains(expected)
}

#[test]
fn instructions_of_the_kernel_and_of_modules_are_those_of_their_files() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    let place = format!("lib/modules/{RELEASE}/kernel/module.ko");
    machine.install("module.ko", &place);
    machine.install("vmlinux", &format!("boot/vmlinux-{RELEASE}"));
    for (name, file, line, inlined) in [
        ("kernel_work", "vmlinux", "kernel.c", "kernel_inlined"),
        ("module_work", "module.ko", "module.c", "module_inlined"),
        ("module_stop", "module.ko", "module.c", "module_stop"),
    ] {
        let function = annotated(&machine, &[name]);
        assert_eq!(bytes(&function), objdump(&machine, file, name), "{name}");
        let event = &function["events"][0];
        assert_eq!(event["samples"], 1, "{name}");
        assert_eq!(event["outside"], 0, "{name}");
        assert!(has(&function, "notes", "patches its code"), "{function}");
        assert!(has(&function, "lines", line), "{function}");
        assert!(has(&function, "functions", inlined), "{function}");
    }
    // Lines are in another file, as distributions have them.
    let whole = annotated(&machine, &["module_work"]);
    machine.install("stripped.ko", &place);
    machine.install("module.ko", &format!("usr/lib/debug/{place}"));
    let apart = annotated(&machine, &["module_work"]);
    assert_eq!(apart["lines"], whole["lines"]);
    assert_eq!(apart["instructions"], whole["instructions"]);
}

#[test]
fn kernel_code_that_is_not_what_was_recorded_is_refused() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let refused =
        |args: &[&str]| run(&mut machine.command(&[&["annotate"], args].concat())).fails(1);
    // Names alone are no code.
    let list =
        "ffffffff9a000000 T _text\nffffffff9a001000 T kernel_work\nffffffff9a001100 T _etext\n";
    let kallsyms = machine.path("kallsyms");
    std::fs::write(&kallsyms, list).unwrap();
    let kallsyms = kallsyms.to_str().unwrap();
    let asked = ["--kallsyms", kallsyms, "kernel_work"];
    let error = refused(&asked);
    assert!(
        error.contains("pass the recorded kernel's vmlinux with -k FILE"),
        "{error}"
    );
    // Neither is a kernel of another build.
    std::fs::write(machine.path("other.c"), VMLINUX.replace("nop", ".skip 64")).unwrap();
    machine.make("cc -g -O1 -fno-pie -nostdlib -static -Wl,--build-id,-e,_text -o other other.c");
    machine.install("other", &format!("boot/vmlinux-{RELEASE}"));
    assert_eq!(refused(&asked), error);
    let other = machine.path("other");
    let error = refused(&[&["--vmlinux", other.to_str().unwrap()], &asked[..]].concat());
    assert!(
        error.contains("--vmlinux: changed since the recording"),
        "{error}"
    );
}
