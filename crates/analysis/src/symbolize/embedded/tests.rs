//! What is embedded names what was recorded, and nothing else.

use super::*;
use rprof_base::BuildId;
use rprof_perfdata::feature::{AddressName, EmbeddedNames, SimpleperfSymbol, SymbolFrame};

#[test]
fn offsets_count_from_the_first_code() {
    let file = SimpleperfFile {
        kind: SimpleperfFile::ELF,
        min_vaddr: 0x1730,
        file_offset_of_min_vaddr: 0x730,
        ..SimpleperfFile::default()
    };
    let mapped = Some(FileOffset(0));
    assert_eq!(svma(&file, mapped, 0x948), 0x1948);
    // Code that was compiled at run time is listed by address.
    assert_eq!(svma(&file, None, 0x948), 0x948);
    let kernel = SimpleperfFile {
        kind: SimpleperfFile::KERNEL,
        ..file
    };
    assert_eq!(svma(&kernel, None, 0x948), 0x948);
}

/// Old recordings: addresses are `ip - map_start + min_vaddr`.
#[test]
fn without_the_offset_of_the_first_code_its_mapping_counts() {
    let old = |kind, min_vaddr| SimpleperfFile {
        kind,
        min_vaddr,
        file_offset_of_min_vaddr: SimpleperfFile::UNKNOWN_OFFSET,
        ..SimpleperfFile::default()
    };
    let at = |offset| Some(FileOffset(offset));
    for (kind, min_vaddr, mapped, offset, expected) in [
        (SimpleperfFile::ELF, 0x40_0000, at(0), 0x5c4, 0x40_05c4),
        (SimpleperfFile::ELF, 0x6000, at(0), 0x1_2814, 0x1_8814),
        (SimpleperfFile::ELF, 0x3000, at(0x1000), 0x1010, 0x3010),
        // The first code begins within a page, the mapping with the page.
        (SimpleperfFile::ELF, 0x1730, at(0), 0x948, 0x1948),
        (
            SimpleperfFile::ELF,
            0x40_0000,
            None,
            0x9c9e_b800,
            0x9c9e_b800,
        ),
        (SimpleperfFile::KERNEL_MODULE, 0x30, None, 0x44, 0x74),
        (SimpleperfFile::KERNEL, 0x30, None, 0xffff_0044, 0xffff_0044),
        (SimpleperfFile::DEX, 0, at(0x1000), 0x6a2, 0x6a2),
    ] {
        assert_eq!(
            svma(&old(kind, min_vaddr), mapped, offset),
            expected,
            "{kind}"
        );
    }
}

/// The kernel's reference symbol is no part of its name, and modules count from where they are.
#[test]
fn kernels_and_modules_are_named_by_the_lists_of_simpleperf() {
    let file = |path: &str, kind, (min_vaddr, offset), vaddr| SimpleperfFile {
        path: path.as_bytes().to_vec(),
        kind,
        min_vaddr,
        file_offset_of_min_vaddr: offset,
        symbols: vec![SimpleperfSymbol {
            vaddr,
            len: 16,
            name: b"found".to_vec(),
        }],
        dex_file_offsets: Vec::new(),
    };
    let unknown = SimpleperfFile::UNKNOWN_OFFSET;
    let files = [
        file(
            "[kernel.kallsyms]",
            SimpleperfFile::KERNEL,
            (0, unknown),
            0xffff_0040,
        ),
        file("/x.ko", SimpleperfFile::KERNEL_MODULE, (0x10, 0x1000), 0x50),
    ];
    let embedded = EmbeddedSymbols {
        listed: files
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect(),
        ..EmbeddedSymbols::default()
    };
    let kernel = ImageKind::Kernel {
        reference_avma: Some(0xffff_0000),
    };
    let module = ImageKind::Module {
        start_avma: 0xbf00_0000,
    };
    let asked = [
        ("[kernel.kallsyms]_stext", kernel, 0xffff_0044),
        ("/x.ko", module, 0xbf00_1044),
    ];
    for (path, kind, address) in asked {
        let image = RecordedImage {
            kind,
            ..image(path.as_bytes(), 0)
        };
        let named = embedded.name(&image, &places(&[address]), Request::default(), |_| None);
        assert_eq!(names(&named.unwrap().unwrap(), 1), [["found"]]);
    }
}

fn image(path: &[u8], id: u8) -> RecordedImage {
    RecordedImage {
        path: path.to_vec(),
        build_id: BuildId::new(&[id; 20]),
        inode: None,
        device: None,
        kind: ImageKind::User,
    }
}

/// `/a` has `outer` with `inner` in it at 0x10, and nothing at 0x20; `/b` had no symbols.
fn embedded() -> EmbeddedSymbols {
    let frame = |caller, name| SymbolFrame {
        caller,
        name,
        line: None,
    };
    let name = Some(AddressName {
        frame: 1,
        start: 8,
        offset: 8,
    });
    let at = |address, name| SymbolAddress { address, name };
    let of = |path, addresses: Vec<SymbolAddress>| SymbolImage {
        path,
        build_id: vec![7; 20],
        reason: addresses.is_empty().then_some(4),
        addresses,
        ..SymbolImage::default()
    };
    let strings = ["/a", "/b", "outer", "inner", "stripped"];
    EmbeddedSymbols::default().with(EmbeddedNames {
        strings: strings.map(|text| text.as_bytes().to_vec()).to_vec(),
        frames: vec![frame(None, 2), frame(Some(0), 3)],
        images: vec![
            of(0, vec![at(0x10, name), at(0x20, None)]),
            of(1, Vec::new()),
        ],
    })
}

fn of(detail: Detail) -> Request {
    Request {
        detail,
        ..Request::default()
    }
}

fn places(addresses: &[u64]) -> Vec<Location> {
    let place = |&address| Location { image: 0, address };
    addresses.iter().map(place).collect()
}

/// What files say: everything is called `file`.
fn files(places: &[Location]) -> Option<SymbolizeResult> {
    let mut collector = Collector::default();
    for _ in places {
        let name = collector.name(b"file", |_| "file".to_owned());
        collector.frame(Frame {
            name,
            start: 0,
            offset: 0,
            size: None,
            is_inlined: false,
            line: None,
        });
        collector.end_address();
    }
    Some(Ok(collector.finish()))
}

fn names(symbolized: &Symbolized, n: usize) -> Vec<Vec<&str>> {
    let frames = |at| symbolized.frames(at).iter();
    (0..n)
        .map(|at| {
            frames(at)
                .map(|frame| symbolized.name(frame.name))
                .collect()
        })
        .collect()
}

#[test]
fn files_are_asked_for_what_is_not_embedded_alone() {
    let mut embedded = embedded();
    let asked = places(&[0x10, 0x18, 0x20]);
    let name = |embedded: &EmbeddedSymbols, request| {
        let named = embedded.name(&image(b"/a", 7), &asked, request, files);
        named.unwrap().unwrap()
    };
    let all = name(&embedded, of(Detail::Inlines));
    let (inner, outer, file) = ("inner", "outer", "file");
    assert_eq!(names(&all, 3), [vec![inner, outer], vec![file], vec![]]);
    assert_eq!(
        all.frames(0)
            .iter()
            .map(|frame| frame.is_inlined)
            .collect::<Vec<_>>(),
        [true, false]
    );
    let functions = name(&embedded, of(Detail::Functions));
    assert_eq!(names(&functions, 3), [vec![outer], vec![file], vec![]]);
    assert_eq!(embedded.n_known(&image(b"/a", 7), &asked), 2);
    embedded.files_first = true;
    let anew = name(&embedded, of(Detail::Inlines));
    assert_eq!(names(&anew, 3), [[file], [file], [file]]);
}

#[test]
fn other_contents_under_a_path_have_other_names() {
    let other = embedded().name(&image(b"/a", 9), &places(&[0x10]), of(Detail::Lines), files);
    assert_eq!(names(&other.unwrap().unwrap(), 1), [["file"]]);
    let guest = RecordedImage {
        kind: ImageKind::GuestUser,
        ..image(b"/a", 7)
    };
    let guest = embedded().name(&guest, &places(&[0x10]), of(Detail::Lines), |_| None);
    assert!(guest.is_none());
}

#[test]
fn images_of_one_path_are_told_apart_by_device_and_place() {
    let of = |device, avma, name| SymbolImage {
        device,
        avma,
        inode: Some(5),
        addresses: vec![SymbolAddress {
            address: 0x10,
            name: Some(AddressName {
                frame: name,
                start: 0x10,
                offset: 0,
            }),
        }],
        ..SymbolImage::default()
    };
    let frame = |name| SymbolFrame {
        caller: None,
        name,
        line: None,
    };
    let embedded = EmbeddedSymbols::default().with(EmbeddedNames {
        strings: ["/a", "one", "other", "module", "moved"]
            .map(|text| text.as_bytes().to_vec())
            .to_vec(),
        frames: (1..5).map(frame).collect(),
        images: vec![
            of(Some((8, 1)), None, 0),
            of(Some((8, 2)), None, 1),
            of(None, Some(0x1000), 2),
            of(None, Some(0x2000), 3),
        ],
    });
    let request = Request::default();
    let module = |start_avma| ImageKind::Module { start_avma };
    let asked = [
        (Some((8, 2)), ImageKind::User, "other"),
        (Some((8, 1)), ImageKind::User, "one"),
        (None, module(0x2000), "moved"),
        (None, module(0x1000), "module"),
        (None, module(0x3000), "file"),
    ];
    for (device, kind, expected) in asked {
        let image = RecordedImage {
            build_id: None,
            inode: Some(5),
            device,
            kind,
            ..image(b"/a", 0)
        };
        let named = embedded.name(&image, &places(&[0x10]), request, files);
        assert_eq!(names(&named.unwrap().unwrap(), 1), [[expected]]);
    }
}

#[test]
fn the_reason_is_that_of_the_machine_that_was_recorded() {
    let ask = |find: &dyn Fn(&[Location]) -> Option<SymbolizeResult>| {
        let named = embedded().name(&image(b"/b", 7), &places(&[1]), of(Detail::Lines), find);
        named.unwrap()
    };
    let reason = ask(&|_| Some(Err(Reason::Stripped))).unwrap_err();
    assert_eq!(reason, Reason::WhenEmbedded("stripped".to_owned()));
    // Its debug file may have been installed since.
    assert_eq!(names(&ask(&files).unwrap(), 1), [["file"]]);
    // Where names are there, an address without one is no reason to call for files.
    let known = embedded().name(
        &image(b"/a", 7),
        &places(&[0x20]),
        of(Detail::Lines),
        |_| panic!("asked for a file"),
    );
    assert_eq!(names(&known.unwrap().unwrap(), 1), [[""; 0]]);
}

#[test]
fn why_files_fail_is_the_reason_of_what_is_not_embedded() {
    let mut embedded = embedded();
    let missing_reason = |embedded: &EmbeddedSymbols, addresses: &[u64]| {
        let fail = |_: &[Location]| Some(Err(Reason::Stripped));
        let asked = places(addresses);
        let named = embedded.name(&image(b"/a", 7), &asked, of(Detail::Lines), fail);
        let named = named.unwrap().unwrap();
        assert_eq!(names(&named, 1), [["inner", "outer"]]);
        named.missing_reason().cloned()
    };
    assert_eq!(
        missing_reason(&embedded, &[0x10, 0x18]),
        Some(Reason::Stripped)
    );
    // An embedding anew asks files for all of it; at 0x20 nothing had a name.
    embedded.files_first = true;
    assert_eq!(missing_reason(&embedded, &[0x10, 0x20]), None);
}

#[test]
fn names_of_kernels_and_maps_are_shown_as_they_are() {
    let of = |path, avma| SymbolImage {
        path,
        avma,
        addresses: vec![SymbolAddress {
            address: 0x10,
            name: Some(AddressName {
                frame: 0,
                start: 0x10,
                offset: 0,
            }),
        }],
        ..SymbolImage::default()
    };
    let strings = ["/tmp/perf-7.map", "[nf_nat]", "/a", "_ZN3foo3barEv"];
    let embedded = EmbeddedSymbols::default().with(EmbeddedNames {
        strings: strings.map(|text| text.as_bytes().to_vec()).to_vec(),
        frames: vec![SymbolFrame {
            caller: None,
            name: 3,
            line: None,
        }],
        images: vec![of(0, None), of(1, Some(0x1000)), of(2, None)],
    });
    let module = ImageKind::Module { start_avma: 0x1000 };
    let asked = [
        (strings[0], ImageKind::User, "_ZN3foo3barEv"),
        (strings[1], module, "_ZN3foo3barEv"),
        (strings[2], ImageKind::User, "foo::bar"),
    ];
    for (path, kind, expected) in asked {
        let image = RecordedImage {
            build_id: None,
            kind,
            ..image(path.as_bytes(), 0)
        };
        let named = embedded.name(&image, &places(&[0x10]), Request::default(), files);
        assert_eq!(names(&named.unwrap().unwrap(), 1), [[expected]]);
    }
}
