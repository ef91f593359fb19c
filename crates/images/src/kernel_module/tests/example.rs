//! A small x86-64 module, made byte by byte.

use std::io::Write;

/// A section: name, type, flags, alignment, `sh_info`, contents.
type Part<'a> = (&'a str, u32, u64, u64, u32, Vec<u8>);

const ALLOC: u64 = 2;
const CODE: u64 = 2 | 4;
const COMPRESSED: u64 = 1 << 11;

/// An x86-64 module of these sections, behind an empty one; the last but one holds the names.
fn module(parts: &[Part<'_>]) -> Vec<u8> {
    let mut names = vec![0];
    let name_at: Vec<u32> = parts
        .iter()
        .map(|part| {
            let at = u32::try_from(names.len()).unwrap();
            names.extend(part.0.bytes().chain([0]));
            at
        })
        .collect();
    let mut bytes = vec![0; 64];
    let mut headers = vec![0; 64];
    let n = u16::try_from(parts.len() + 2).unwrap();
    let mut add = |name: u32, part: &Part<'_>| {
        let (_, kind, flags, align, info, contents) = part;
        let link = if *kind == 4 { n - 2 } else { n - 1 };
        let entry_len: u64 = if *kind == 4 {
            24
        } else {
            24 * u64::from(*kind == 2)
        };
        headers.extend(name.to_le_bytes());
        headers.extend(kind.to_le_bytes());
        for word in [*flags, 0, bytes.len() as u64, contents.len() as u64] {
            headers.extend(word.to_le_bytes());
        }
        headers.extend(u32::from(link).to_le_bytes());
        headers.extend(info.to_le_bytes());
        headers.extend(align.to_le_bytes());
        headers.extend(entry_len.to_le_bytes());
        bytes.extend(contents);
    };
    for (part, &name) in parts.iter().zip(&name_at) {
        add(name, part);
    }
    add(0, &("", 3, 0, 1, 0, names));
    let table = bytes.len() as u64;
    bytes.extend(headers);
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    for word in [0, 0, table] {
        head.extend(word.to_le_bytes());
    }
    head.extend([0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0]);
    head.extend(n.to_le_bytes());
    head.extend((n - 1).to_le_bytes());
    bytes[..64].copy_from_slice(&head);
    bytes
}

fn symbol(section: u16, value: u64) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0, 2, 0];
    bytes.extend(section.to_le_bytes());
    bytes.extend(value.to_le_bytes());
    bytes.extend(4u64.to_le_bytes());
    bytes
}

fn relocation(offset: u64, symbol: u64, kind: u64, addend: u64) -> Vec<u8> {
    [offset, symbol << 32 | kind, addend]
        .map(u64::to_le_bytes)
        .concat()
}

/// Code in three sections, of which one is only for starting; and DWARF with relocations.
pub(crate) fn example() -> Vec<u8> {
    let relocations = [
        relocation(0, 1, 1, 2),
        relocation(8, 2, 10, 3),
        // Beyond the section, and of a symbol that is not there.
        relocation(1 << 40, 1, 1, 0),
        relocation(u64::MAX, 1, 1, 0),
        relocation(4, 99, 1, 0),
    ];
    let symbols = [vec![0; 24], symbol(1, 5), symbol(3, 7), symbol(2, 9)];
    module(&[
        (".text", 1, CODE, 16, 0, vec![0x90; 20]),
        (".init.text", 1, CODE, 16, 0, vec![0x90; 100]),
        (".exit.text", 1, CODE, 16, 0, vec![0x90; 8]),
        (".data", 1, ALLOC, 8, 0, vec![1; 8]),
        (".debug_info", 1, 0, 1, 0, vec![0xee; 12]),
        (".rela.debug_info", 4, 0, 8, 5, relocations.concat()),
        (".symtab", 2, 0, 8, 1, symbols.concat()),
    ])
}

/// DWARF that is compressed: a number of bytes, in sections that are all the same bytes of the
/// file, each with a relocation of its own.
pub(crate) fn compressed(n_sections: u32, n_bytes: usize, fill: impl Fn(usize) -> u8) -> Vec<u8> {
    let contents: Vec<u8> = (0..n_bytes).map(fill).collect();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&contents).unwrap();
    let mut section = [1, n_bytes as u64, 1].map(u64::to_le_bytes).concat();
    section.extend(encoder.finish().unwrap());
    let mut parts = vec![
        (".text", 1, CODE, 16, 0, vec![0x90; 20]),
        (".symtab", 2, 0, 8, 1, [vec![0; 24], symbol(1, 5)].concat()),
        (".debug_info", 1, COMPRESSED, 1, 0, section.clone()),
    ];
    for _ in 1..n_sections {
        parts.push((".debug_info", 1, COMPRESSED, 1, 0, Vec::new()));
    }
    for idx in 0..n_sections {
        let relocations = relocation(8, 1, 1, 2);
        parts.push((".rela.debug_info", 4, 0, 8, 3 + idx, relocations));
    }
    // The symbol table is where the builder does not expect it.
    let mut bytes = module(&parts);
    let table = usize::try_from(u64::from_le_bytes(bytes[40..48].try_into().unwrap())).unwrap();
    for (idx, part) in (1..).zip(&parts) {
        let header = table + 64 * idx;
        if part.1 == 4 {
            bytes[header + 40] = 2;
        } else if part.5.is_empty() {
            let place = bytes[table + 64 * 3 + 24..table + 64 * 3 + 40].to_vec();
            bytes[header + 24..header + 40].copy_from_slice(&place);
        }
    }
    bytes
}
