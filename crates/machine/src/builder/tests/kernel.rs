//! The kernel's own code, modules, and symbols that come and go.

use super::*;
use rprof_abi::record::Mmap;

fn map(addr: u64, filename: &[u8]) -> Record<'_> {
    Record::Mmap(Mmap {
        pid: -1,
        tid: 0,
        addr,
        len: 0x1000,
        pgoff: addr,
        filename,
    })
}

/// A BPF program of 64 bytes.
fn symbol(addr: u64, name: &[u8], flags: u16) -> Record<'_> {
    Record::Ksymbol(Ksymbol {
        addr,
        len: 64,
        ksym_type: 1,
        flags,
        name,
    })
}

const GONE: u16 = Ksymbol::UNREGISTER;

fn kernel_name_at(history: &History, time: u64, addr: u64) -> Option<&[u8]> {
    match history.resolve(history.kernel_epoch(at(time)), Avma(addr)) {
        AddressLocation::Kernel { image, .. } => Some(&history.images().of(image)?.path),
        _ => None,
    }
}

#[test]
fn kernel_code_comes_and_goes() {
    let history = Script::new()
        .add(10, Misc(0), symbol(0xffff_0000, b"bpf_prog_1", 0))
        .add(20, Misc(0), symbol(0xffff_0000, b"bpf_prog_1", GONE))
        .build();
    let name = |time| kernel_name_at(&history, time, 0xffff_0010);
    assert_eq!((name(15), name(25)), (Some(&b"bpf_prog_1"[..]), None));
}

#[test]
fn an_address_that_is_used_again_is_the_newer_symbol() {
    let history = Script::new()
        .add(10, Misc(0), symbol(0xffff_0000, b"a", 0))
        .add(20, Misc(0), symbol(0xffff_0000, b"a", GONE))
        .add(30, Misc(0), symbol(0xffff_0020, b"b", 0))
        // That this one went away was lost.
        .add(40, Misc(0), symbol(0xffff_0000, b"c", 0))
        .build();
    let names =
        |time| [0x10, 0x30, 0x50].map(|at| kernel_name_at(&history, time, 0xffff_0000 + at));
    let (a, b, c) = (Some(&b"a"[..]), Some(&b"b"[..]), Some(&b"c"[..]));
    assert_eq!(names(15), [a, a, None]);
    assert_eq!(names(25), [None; 3]);
    assert_eq!(names(35), [None, b, b]);
    assert_eq!(names(45), [c, c, b]);
}

#[test]
fn a_symbol_that_goes_away_leaves_newer_ones_over_it() {
    for newer in [0xffff_0020, 0xfffe_fff0, 0xffff_0000] {
        let history = Script::new()
            .add(10, Misc(0), symbol(0xffff_0000, b"old", 0))
            .add(20, Misc(0), symbol(newer, b"new", 0))
            .add(30, Misc(0), symbol(0xffff_0000, b"old", GONE))
            .build();
        let name = |at| kernel_name_at(&history, 35, at);
        assert_eq!([newer, newer + 63].map(name), [Some(&b"new"[..]); 2]);
        assert_eq!([newer - 1, newer + 64].map(name), [None; 2]);
    }
}

#[test]
fn a_symbol_uncovers_what_lay_below_it_and_repeats_are_the_same_epoch() {
    let history = Script::new()
        .add(0, Misc::KERNEL, map(0xffff_8000, b"[kernel.kallsyms]_text"))
        .add(0, Misc::KERNEL, map(0xffff_c000, b"[module]"))
        .add(10, Misc(0), symbol(0xffff_bff0, b"a", 0))
        .add(15, Misc(0), symbol(0xffff_c040, b"b", 0))
        .add(20, Misc(0), symbol(0xffff_bff0, b"a", GONE))
        .add(25, Misc(0), symbol(0xffff_c040, b"b", GONE))
        .add(30, Misc(0), symbol(0xffff_bff0, b"a", 0))
        .build();
    let epoch = |time| history.kernel_epoch(at(time));
    assert_eq!((epoch(5), epoch(12)), (epoch(26), epoch(31)));
    assert_ne!(epoch(5), epoch(12));
    let name = |addr| kernel_name_at(&history, 12, addr);
    assert_eq!(name(0xffff_c000), Some(&b"a"[..]));
    assert_eq!(name(0xffff_c030), Some(&b"[module]"[..]));
}

#[test]
fn an_unknown_symbol_that_goes_away_changes_nothing() {
    let history = Script::new()
        .add(0, Misc::KERNEL, map(0xffff_8000, b"[kernel.kallsyms]_text"))
        .add(0, Misc::KERNEL, map(0xffff_c000, b"[module]"))
        .add(10, Misc(0), symbol(0xffff_0000, b"nowhere", GONE))
        .add(11, Misc(0), symbol(0xffff_9000, b"in the kernel", GONE))
        .add(12, Misc(0), symbol(0xffff_c000, b"in a module", GONE))
        .add(13, Misc(0), symbol(u64::MAX, b"at the end", GONE))
        .build();
    assert_eq!(history.kernel_epoch(at(5)), history.kernel_epoch(at(20)));
}

#[test]
fn code_out_of_line_has_its_own_name() {
    let record = Record::Ksymbol(Ksymbol {
        addr: 0xffff_0000,
        len: 64,
        ksym_type: 2,
        flags: 0,
        name: b"ftrace_trampoline",
    });
    let history = Script::new().add(10, Misc(0), record).build();
    let (_, image) = history.images().iter().next().unwrap();
    assert_eq!(image.kind, ImageKind::OutOfLine);
    assert_eq!(*image.short_name(), *b"ftrace_trampoline");
}

#[test]
fn the_kernel_reaches_beyond_its_text_but_not_into_modules() {
    let history = Script::new()
        .add(0, Misc::KERNEL, map(0xffff_8000, b"[kernel.kallsyms]_text"))
        .add(0, Misc::KERNEL, map(0xffff_c000, b"[module]"))
        .build();
    let kind = |avma| match history.resolve(history.kernel_epoch(at(1)), Avma(avma)) {
        AddressLocation::Kernel { image, .. } => history.images().of(image).map(|image| image.kind),
        _ => None,
    };
    let kernel = Some(ImageKind::Kernel {
        reference_avma: Some(0xffff_8000),
    });
    assert_eq!(
        (kind(0xffff_8800), kind(0xffff_a000), kind(0xffff_d000)),
        (kernel, kernel, kernel)
    );
    assert_eq!(
        (kind(0xffff_c800), kind(0x1000)),
        (
            Some(ImageKind::Module {
                start_avma: 0xffff_c000
            }),
            None
        )
    );
}
