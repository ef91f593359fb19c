//! Tables as three versions of Go write them, sound and damaged.

use super::*;
use proptest::prelude::*;

const TEXT: u64 = 0x40_1000;
const LAYOUTS: [Layout; 3] = [Layout::Go1_16, Layout::Go1_18, Layout::Go1_20];

fn varint_of(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A table of changes: each value holds for a number of bytes.
fn changes(values: &[(i32, u32)]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), -1);
    for &(value, len) in values {
        let change = value - last;
        varint_of(((change << 1) ^ (change >> 31)) as u32, &mut out);
        varint_of(len, &mut out);
        last = value;
    }
    out.push(0);
    out
}

/// Functions of these lengths in bytes, one after the other: function n is `main.fN`, at lines 10 n and
/// from its middle on 10 n + 1 of `/src/fN.go`; its first quarter is a call inlined, tree entry 0.
fn table(layout: Layout, lens: &[u32]) -> Vec<u8> {
    let (mut names, mut units, mut files) = (vec![0], Vec::new(), vec![0]);
    let (mut tables, mut list, mut described) = (vec![0], Vec::new(), Vec::new());
    let list_len = (lens.len() + 1) * if layout == Layout::Go1_16 { 16 } else { 8 };
    let mut at = 0u32;
    let word = |value: u64, out: &mut Vec<u8>| match layout {
        Layout::Go1_16 => out.extend(value.to_le_bytes()),
        _ => out.extend((value as u32).to_le_bytes()),
    };
    let base = if layout == Layout::Go1_16 { TEXT } else { 0 };
    for (n, &len) in (0u32..).zip(lens) {
        let push = |text: String, out: &mut Vec<u8>| {
            let offset = out.len() as u32;
            out.extend(text.as_bytes());
            out.push(0);
            offset
        };
        let name = push(format!("main.f{n}"), &mut names);
        units.extend(push(format!("/src/f{n}.go"), &mut files).to_le_bytes());
        let mut of = |values: &[(i32, u32)]| {
            let offset = tables.len() as u32;
            tables.extend(changes(values));
            offset
        };
        let line = 10 * n.cast_signed();
        let file = of(&[(0, len)]);
        let lines = of(&[(line, len / 2), (line + 1, len - len / 2)]);
        let inlined = of(&[(0, len / 4), (-1, len - len / 4)]);
        word(base + u64::from(at), &mut list);
        word((list_len + described.len()) as u64, &mut list);
        word(base + u64::from(at), &mut described);
        let mut fields = vec![name, 0, 0, 0, file, lines, 3, n];
        if layout == Layout::Go1_20 {
            fields.push(0);
        }
        fields.extend([4 << 24, 0, 0, inlined, 0, 0, 0, n]);
        fields
            .iter()
            .for_each(|field| described.extend(field.to_le_bytes()));
        at += len;
    }
    word(base + u64::from(at), &mut list);
    list.resize(list_len, 0);
    list.extend(described);
    let magic: u32 = match layout {
        Layout::Go1_16 => 0xffff_fffa,
        Layout::Go1_18 => 0xffff_fff0,
        Layout::Go1_20 => 0xffff_fff1,
    };
    let mut out = magic.to_le_bytes().to_vec();
    out.extend([0, 0, 1, 8]);
    let parts = [names, units, files, tables, list];
    let n_words = if layout == Layout::Go1_16 { 7 } else { 8 };
    let mut words = vec![lens.len(), lens.len()];
    if layout != Layout::Go1_16 {
        words.push(0);
    }
    let mut offset = 8 + 8 * n_words;
    for part in &parts {
        words.push(offset);
        offset += part.len();
    }
    words
        .iter()
        .for_each(|&word| out.extend((word as u64).to_le_bytes()));
    parts.iter().for_each(|part| out.extend(part));
    out
}

fn parse(bytes: Vec<u8>) -> Option<Pcln> {
    Pcln::parse(bytes.into(), || Some(TEXT))
}

/// Where a function starts, its name, its file and line.
type Answer = (u64, String, Option<(String, u32)>);

/// Asks for everything at an address.
fn ask(pcln: &Pcln, address: u64) -> Option<Answer> {
    let function = pcln.function(address)?;
    let _ = pcln.inlined(&function, address);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line = pcln.line(&function, address);
    Some((
        function.start,
        text(pcln.name(function.name)?),
        line.map(|(file, line)| (text(file), line)),
    ))
}

#[test]
fn what_is_no_table_is_none() {
    assert!(parse(Vec::new()).is_none());
    assert!(parse(vec![0xff; 100]).is_none());
    let sound = table(Layout::Go1_20, &[8]);
    assert!(parse(sound.clone()).is_some());
    assert!(Pcln::parse(sound.clone().into(), || None).is_none());
    for len in 0..sound.len() {
        if let Some(cut) = parse(sound[..len].to_vec()) {
            let _ = ask(&cut, TEXT);
        }
    }
}

#[test]
fn calls_are_read_as_each_version_writes_them() {
    let bytes: Vec<u8> = (0..12u32).flat_map(u32::to_le_bytes).collect();
    for (layout, name, parent) in [(Layout::Go1_18, 8, 9), (Layout::Go1_20, 5, 6)] {
        let pcln = parse(table(layout, &[8])).unwrap();
        let call = pcln.call(&bytes, 1).unwrap();
        assert_eq!((call.name, call.parent_pc), (name, parent));
        assert!(pcln.call(&bytes, u32::MAX).is_none());
    }
}

proptest! {
    #[test]
    fn every_address_is_in_its_function(
        lens in prop::collection::vec(4u32..200, 1..12),
        layout in prop::sample::select(&LAYOUTS[..]),
    ) {
        let pcln = parse(table(layout, &lens)).unwrap();
        let mut start = TEXT;
        prop_assert_eq!(ask(&pcln, start - 1), None);
        for (n, &len) in (0u32..).zip(&lens) {
            for into in 0..len {
                let address = start + u64::from(into);
                let line = 10 * n + u32::from(into >= len / 2);
                let expected = (start, format!("main.f{n}"), Some((format!("/src/f{n}.go"), line)));
                prop_assert_eq!(ask(&pcln, address), Some(expected));
                let function = pcln.function(address).unwrap();
                let call = (into < len / 4).then_some((n, 0));
                prop_assert_eq!(pcln.inlined(&function, address), call);
            }
            start += u64::from(len);
        }
        prop_assert_eq!(ask(&pcln, start), None);
    }

    #[test]
    fn damage_is_survived(
        layout in prop::sample::select(&LAYOUTS[..]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        addresses in prop::collection::vec(TEXT..TEXT + 400, 1..8),
    ) {
        let mut bytes = table(layout, &[40, 60, 100, 30, 90]);
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // Each function has eight bytes of the table at least.
        let most = bytes.len() / 8;
        if let Some(pcln) = parse(bytes) {
            prop_assert!(pcln.functions().count() <= most);
            for address in addresses {
                let function = pcln.function(address);
                function.and_then(|function| pcln.frame_size(&function, address));
                if let Some((start, name, _)) = ask(&pcln, address) {
                    prop_assert!(start <= address && !name.is_empty());
                }
            }
        }
    }
}
