//! Names from symbol tables and stubs.

use crate::common::{needs, run, scratch, tool};
use crate::names::{addresses, compile, frames};

/// Calls through stubs, and a function that is chosen when the program starts.
const STUBS: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static volatile unsigned long sink;
    static int one(int n) { sink += n; return n; }
    static void *choose(void) { return one; }
    int chosen(int) __attribute__((ifunc("choose")));
    int main(int n, char **words) {
        int (*print)(const char *, ...) = printf;
        print("%d %lu\n", chosen(n), strlen(words[0]));
        atexit((void (*)(void))abs);
        return 0;
    }"#;

#[test]
fn stubs_of_all_kinds_have_the_names_that_objdump_gives_them() {
    needs!(cc, "objdump" in "binutils");
    let dir = scratch();
    let marked = ["-fcf-protection=full", "-Wl,-z,ibtplt"];
    let kinds: [(&str, &[&str]); 4] = [
        ("plain", &[]),
        ("now", &["-Wl,-z,now"]),
        ("marked", &marked),
        ("fixed", &["-no-pie"]),
    ];
    for (name, options) in kinds {
        // Only x86-64 has stubs that are marked.
        if name == "marked" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let program = compile(dir.path(), name, STUBS, &[&["-O1"], options].concat());
        let mut objdump = tool("objdump");
        for section in [".plt", ".plt.got", ".plt.sec"] {
            objdump.args(["-j", section]);
        }
        let text = run(objdump.arg("-d").arg(&program)).stdout;
        let labels = text.lines().filter_map(|line| {
            let (address, label) = line.strip_suffix("@plt>:")?.split_once(" <")?;
            Some((u64::from_str_radix(address, 16).ok()?, label))
        });
        // In front of the stubs, or of none, is what calls the loader.
        let plt = text
            .split_once("section .plt:")
            .map(|(_, code)| code.trim_start());
        let first = plt.and_then(|code| code.lines().next()?.split_once(" <"));
        if let Some((address, label)) = first.filter(|(_, label)| !label.ends_with("@plt>:")) {
            let address = u64::from_str_radix(address, 16).unwrap();
            let ours = frames(&program, &[address, address + 6], 1);
            assert!(
                ours.iter().all(|one| one[0].0 == ".plt"),
                "{name} {label}: {ours:?}"
            );
        }
        let (asked, expected): (Vec<u64>, Vec<&str>) = labels.unzip();
        assert!(expected.len() > 3, "{name}: {text}");
        let ours = frames(&program, &asked, 1);
        for (frames, label) in ours.iter().zip(expected) {
            // objdump has the chooser's address for what the program chooses.
            let label = if label.starts_with("*ABS*") {
                "chosen"
            } else {
                label
            };
            assert_eq!(frames[0].0, format!("{label}@plt"), "{name}");
        }
    }
}

/// Functions without a size: one before a function that strip takes the name of, and one that no
/// unwind table knows.
const SIZELESS: &str = r#"
    __asm__(
        ".text\n.p2align 6\n.globl sizeless\nsizeless:\n"
        ".cfi_startproc\nnop\nnop\nret\n.cfi_endproc\n"
        ".p2align 4\nhidden:\n.cfi_startproc\nnop\nnop\nret\n.cfi_endproc\n"
        ".p2align 4\n.globl bare\nbare:\nnop\nret\n.p2align 6\nnop\nret\n"
        ".globl last\n.type last, %function\nlast:\nret\n.size last, . - last\n");
    "#;

#[test]
fn a_symbol_without_size_ends_where_another_function_begins() {
    needs!(cc, "strip" in "binutils");
    let dir = scratch();
    let options = ["-shared", "-fPIC", "-nostdlib", "-Wl,--eh-frame-hdr"];
    let library = compile(dir.path(), "sizeless.so", SIZELESS, &options);
    // The others are told by their alignment.
    let last = addresses(&library, |symbol| symbol == "last")[0];
    let sizeless = (last & !63) - 64;
    let hidden = sizeless + 16;
    let asked = [
        sizeless + 4,
        hidden,
        hidden + 4,
        hidden + 20,
        last - 4,
        last,
    ];
    run(tool("strip").arg(&library)).ok();
    let frames = frames(&library, &asked, 1);
    let names = frames.iter().map(|frames| frames.first());
    let names: Vec<Option<&str>> = names
        .map(|frame| frame.map(|(name, _)| name.as_str()))
        .collect();
    let bare = Some("bare");
    let expected = [Some("sizeless"), None, None, bare, bare, Some("last")];
    assert_eq!(names, expected);
}
