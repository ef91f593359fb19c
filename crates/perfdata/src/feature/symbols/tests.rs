//! What is written is read; what is damaged is an error, or within bounds.

use super::*;
use crate::testing::{Flat, ORDERS, bytes};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Numbers of any size, brought within the bounds of a section with these strings and frames.
#[derive(Clone, Copy)]
struct Bounds {
    strings: u32,
    frames: u32,
}

fn frames() -> impl Strategy<Value = Vec<SymbolFrame>> {
    let frame = (any::<u32>(), any::<u32>(), any::<Option<(u32, u32)>>());
    let frame = frame.prop_map(|(caller, name, line)| SymbolFrame {
        caller: (caller % 3 > 0).then_some(caller),
        name,
        line,
    });
    vec(frame, 1..9)
}

fn images() -> impl Strategy<Value = Vec<SymbolImage>> {
    let name = (any::<u32>(), any::<u64>(), any::<u64>());
    let name = name.prop_map(|(frame, start, offset)| AddressName {
        frame,
        start,
        offset,
    });
    let address = (any::<u64>(), option::of(name));
    let address = address.prop_map(|(address, name)| SymbolAddress { address, name });
    let piece = (option::of(0..u64::MAX), any::<(u64, u64, u64)>());
    let piece = piece.prop_map(|(time_ns, (start, len, offset))| SymbolPiece {
        time_ns,
        start,
        len,
        offset,
    });
    let image = (
        (any::<u32>(), vec(any::<u8>(), 0..21)),
        (option::of(0..u64::MAX), any::<Option<u32>>()),
        (option::of(0..u64::MAX), option::of(0..u64::MAX)),
        (vec(address, 0..9), vec(piece, 0..3)),
    );
    let image = image.prop_map(
        |((path, build_id), (inode, reason), (numbers, avma), (mut addresses, pieces))| {
            addresses.sort_by_key(|one| one.address);
            SymbolImage {
                path,
                build_id,
                inode,
                device: numbers.map(device),
                avma,
                reason,
                addresses,
                pieces,
            }
        },
    );
    vec(image, 0..4)
}

/// Any section whose numbers are in bounds.
fn sections() -> impl Strategy<Value = EmbeddedNames> {
    let strings = vec(vec(any::<u8>(), 0..8), 1..9);
    (strings, frames(), images()).prop_map(|(strings, frames, images)| {
        let mut symbols = EmbeddedNames {
            strings,
            frames,
            images,
        };
        let bounds = Bounds {
            strings: u32::try_from(symbols.strings.len()).unwrap(),
            frames: u32::try_from(symbols.frames.len()).unwrap(),
        };
        bounds.apply(&mut symbols);
        symbols
    })
}

impl Bounds {
    fn apply(self, symbols: &mut EmbeddedNames) {
        for (place, frame) in (0u32..).zip(&mut symbols.frames) {
            frame.caller = frame.caller.and_then(|caller| caller.checked_rem(place));
            frame.name %= self.strings;
            let line = |(file, line)| (file % self.strings, line % u32::MAX);
            frame.line = frame.line.map(line);
        }
        for image in &mut symbols.images {
            image.path %= self.strings;
            image.reason = image.reason.map(|reason| reason % self.strings);
            for name in image
                .addresses
                .iter_mut()
                .filter_map(|one| one.name.as_mut())
            {
                name.frame %= self.frames;
            }
        }
    }
}

fn encoded(symbols: &EmbeddedNames, endian: Endian) -> Vec<u8> {
    bytes(endian, |encoder| symbols.encode(encoder))
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_half_of_it_is_an_error(symbols in sections()) {
        for endian in ORDERS {
            let section = encoded(&symbols, endian);
            let read = EmbeddedNames::parse(&section, endian);
            prop_assert_eq!(read.as_ref(), Ok(&symbols));
            for len in 0..section.len() {
                prop_assert!(EmbeddedNames::parse(&section[..len], endian).is_err());
            }
        }
    }

    #[test]
    fn damage_never_leads_out_of_the_section(
        symbols in sections(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut section = encoded(&symbols, Endian::Little);
        for (at, byte) in damage {
            let at = at.index(section.len());
            section[at] = byte;
        }
        let Ok(read) = EmbeddedNames::parse(&section, Endian::Little) else {
            return Ok(());
        };
        Flat::of(|fields| read.visit(fields));
        for image in &read.images {
            prop_assert!((image.path as usize) < read.strings.len());
            prop_assert!(image.addresses.is_sorted_by_key(|one| one.address));
            for name in image.addresses.iter().filter_map(|one| one.name) {
                let depth = read.chain(name.frame).count();
                prop_assert!((1..=EmbeddedNames::MAX_DEPTH).contains(&depth));
            }
        }
    }
}

#[test]
fn a_chain_that_is_too_deep_is_an_error() {
    let deep = |n: u32| EmbeddedNames {
        strings: vec![b"f".to_vec()],
        frames: (0..n)
            .map(|place| SymbolFrame {
                caller: place.checked_sub(1),
                name: 0,
                line: None,
            })
            .collect(),
        images: Vec::new(),
    };
    let read = |n| EmbeddedNames::parse(&encoded(&deep(n), Endian::Little), Endian::Little);
    assert_eq!(read(128).unwrap().chain(127).count(), 128);
    assert!(read(129).is_err());
}

#[test]
fn counts_of_more_than_there_is_take_no_memory() {
    let mut section = bytes(Endian::Little, |encoder| encoder.u32(VERSION));
    section.extend([0xff; 9]);
    section.push(1);
    assert!(EmbeddedNames::parse(&section, Endian::Little).is_err());
}
