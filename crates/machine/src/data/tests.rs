//! Addresses of data, by mappings as loaders make them.

use crate::{HistoryBuilder, Key};
use foldhash::HashMap;
use rprof_abi::record::{FileIdentity, Inode, Mmap2, Record};
use rprof_abi::{Misc, SampleId};
use rprof_base::{Avma, DataMapping, DataPlace, FileOffset};

const CODE: u32 = 5;
const DATA: u32 = 3;

/// Mappings of a process: address, bytes, offset, rights, name.
type Maps<'m> = &'m [(u64, u64, u64, u32, &'m str)];

/// The file and the place of an address of data, by mappings in their order.
fn place(maps: Maps<'_>, avma: u64) -> Option<(String, DataPlace)> {
    let mut builder = HistoryBuilder::new(true, HashMap::default());
    for (at, &(addr, len, pgoff, prot, name)) in (1u64..).zip(maps) {
        let id = SampleId {
            time_ns: Some(at),
            ..SampleId::default()
        };
        let map = Record::Mmap2(Mmap2 {
            pid: 7,
            tid: 7,
            addr,
            len,
            pgoff,
            identity: FileIdentity::Inode(Inode::default()),
            prot,
            flags: 2,
            filename: name.as_bytes(),
        });
        let misc = if prot == CODE {
            Misc::USER
        } else {
            Misc(Misc::USER.0 | Misc::MMAP_DATA.0)
        };
        builder.add(at * 8, misc, &map, &id);
    }
    let history = builder.build();
    let (image, place) = history.data_place(history.epoch(7, Key::LAST), Avma(avma))?;
    let path = &history.images().of(image)?.path;
    Some((String::from_utf8(path.clone()).unwrap(), place))
}

fn is_in(file: &str, distance: u64, mapped: DataMapping) -> Option<(String, DataPlace)> {
    let code = FileOffset(0x1000);
    let place = DataPlace {
        code,
        distance,
        mapped,
    };
    Some((file.to_owned(), place))
}

/// A library as the loader maps it.
const LIBRARY: Maps<'_> = &[
    (0x10_1000, 0x2000, 0x1000, CODE, "/lib/one.so"),
    (0x10_3000, 0x1000, 0x3000, DATA, "/lib/one.so"),
    (0x10_4000, 0x2000, 0x3000, DATA, "/lib/one.so"),
    (0x10_6000, 0x3000, 0x10_6000, DATA, "//anon"),
];

#[test]
fn data_is_of_the_object_whose_code_is_below_it() {
    for (avma, mapped) in [
        (0x10_4010, DataMapping::File(FileOffset(0x3010))),
        (0x10_5fff, DataMapping::File(FileOffset(0x4fff))),
        (0x10_6000, DataMapping::Memory),
        (0x10_8fff, DataMapping::Memory),
        (0x10_9000, DataMapping::Unknown),
    ] {
        let expected = is_in("/lib/one.so", avma - 0x10_1000, mapped);
        assert_eq!(place(LIBRARY, avma), expected, "{avma:#x}");
    }
    // Where only code is recorded.
    let expected = is_in("/lib/one.so", 0x5010, DataMapping::Unknown);
    assert_eq!(place(&LIBRARY[..1], 0x10_6010), expected);
    assert_eq!(place(LIBRARY, 0x10_0fff), None);
}

#[test]
fn what_lies_between_code_and_an_address_wins() {
    let with = |addr, prot, name| {
        let maps = [LIBRARY, &[(addr, 0x1000, 0x1000, prot, name)]].concat();
        place(&maps, 0x10_7010)
    };
    // Another file, shared memory, code without a file: at the address, or before it.
    for (prot, name) in [
        (DATA, "/lib/two.so"),
        (DATA, "/memfd:x (deleted)"),
        (DATA, "/SYSV00000000 (deleted)"),
        (CODE, "//anon"),
    ] {
        for addr in [0x10_7000, 0x10_6000, 0x10_3000] {
            assert_eq!(with(addr, prot, name), None, "{addr:#x} {name}");
        }
    }
    let of_two = is_in("/lib/two.so", 0x10, DataMapping::File(FileOffset(0x1010)));
    assert_eq!(with(0x10_7000, CODE, "/lib/two.so"), of_two);
    let after_two = is_in("/lib/two.so", 0x1010, DataMapping::Memory);
    assert_eq!(with(0x10_6000, CODE, "/lib/two.so"), after_two);
    // What came before the object is gone, and what comes behind an address is nothing to it.
    let rest = is_in("/lib/one.so", 0x6010, DataMapping::Memory);
    assert_eq!(with(0x10_8000, DATA, "/lib/two.so"), rest);
    // Memory that is announced again, under the name that its process gave it.
    assert_eq!(with(0x10_7000, DATA, "[anon:.bss]"), rest);
}

#[test]
fn memory_far_from_all_code_is_of_no_object() {
    let mut maps = LIBRARY.to_vec();
    // One and the other, so that they are not one mapping.
    for at in 0..40 {
        let name = if at % 2 == 0 { "[heap]" } else { "//anon" };
        maps.push((0x20_0000 + at * 0x1000, 0x1000, 0, DATA, name));
    }
    assert_eq!(place(&maps, 0x20_0000 + 39 * 0x1000), None);
}
