//! Facts about build ids that records of mappings lack.

use super::*;
use std::os::unix::fs::MetadataExt;

/// An ELF header, and nothing that it speaks of.
fn without_build_id(path: &Path) {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(64, 0);
    header[16] = 2;
    header[18] = 62;
    header[20] = 1;
    header[52] = 64;
    std::fs::write(path, header).unwrap();
}

/// The record of its mapping.
fn mapped(path: &Path) -> Record<'_> {
    let meta = std::fs::metadata(path).unwrap();
    Record::Mmap2(Mmap2 {
        pid: i32::try_from(std::process::id()).unwrap(),
        tid: 1,
        addr: 0x1000,
        len: 0x1000,
        pgoff: 0,
        identity: FileIdentity::Inode(Inode {
            ino: meta.ino(),
            ..Inode::default()
        }),
        prot: 5,
        flags: 2,
        filename: path.as_os_str().as_bytes(),
    })
}

#[test]
fn only_files_that_stacks_led_into_are_read_for_their_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["ran", "idle"].map(|name| dir.path().join(name));
    let mut missing = MissingBuildIds::default();
    for path in &paths {
        without_build_id(path);
        missing.take(&mut mapped(path), Misc::USER);
    }
    let with_checksum = |entered: Option<&HashSet<Vec<u8>>>| {
        let contents = missing.contents(entered);
        assert_eq!(contents.len(), 2, "both are noted");
        let with = contents.iter().filter(|file| file.crc.is_some());
        with.map(|file| file.path.clone()).collect::<Vec<_>>()
    };
    let [ran, idle] = paths.map(|path| path.into_os_string().into_encoded_bytes());
    let entered = HashSet::from_iter([ran.clone()]);
    assert_eq!(with_checksum(None), [ran.clone(), idle], "nobody unwound");
    assert_eq!(with_checksum(Some(&entered)), [ran]);
}

#[test]
fn a_segment_knows_of_the_files_of_the_one_before_and_of_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let stays = dir.path().join("stays");
    without_build_id(&stays);
    let mut segment = MissingBuildIds::default();
    segment.take(&mut mapped(&stays), Misc::USER);
    for nth in 0..20 {
        let ends = dir.path().join(format!("prog{nth}"));
        without_build_id(&ends);
        segment.take(&mut mapped(&ends), Misc::USER);
        segment = segment.for_next_segment();
        assert!(segment.before.len() <= 2, "{segment:?}");
        segment.take(&mut mapped(&stays), Misc::USER);
        // It was not opened again.
        assert!(segment.contents.is_empty());
    }
    let keys: Vec<_> = segment.ids.keys().map(|key| key.path.clone()).collect();
    assert_eq!(keys, [stays.into_os_string().into_encoded_bytes()]);
    let last = segment.for_next_segment();
    assert_eq!((last.before.len(), last.ids.len()), (1, 0));
    assert!(last.left > MAX_PATH_BYTES - 1000);
}
