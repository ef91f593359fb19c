//! The smallest ELF files with descriptions of frames in them.

/// A section: its name, where it is in memory, and its bytes.
pub(super) type Part<'a> = (&'a str, u64, &'a [u8]);

/// `EM_X86_64`.
pub(super) const X86_64: u16 = 62;
/// `EM_AARCH64`.
pub(super) const AARCH64: u16 = 183;

const HEADER_LEN: usize = 64;
const PROGRAM_HEADER_LEN: usize = 56;
const PT_LOAD: u32 = 1;
const SHT_PROGBITS: u32 = 1;
const SHT_STRTAB: u32 = 3;

/// A file whose one segment begins at address 0, and whose entry point is at 0x100.
pub(super) fn elf(machine: u16, parts: &[Part<'_>]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = Vec::new();
    let mut headers = section_header(0, 0, 0, 0, 0);
    let start = HEADER_LEN + PROGRAM_HEADER_LEN;
    for &(name, address, bytes) in parts {
        let at = start + body.len();
        headers.extend(section_header(
            names.len(),
            SHT_PROGBITS,
            address,
            at,
            bytes.len(),
        ));
        names.extend(name.bytes().chain([0]));
        body.extend(bytes);
    }
    let own_name = names.len();
    names.extend(b".shstrtab\0");
    headers.extend(section_header(
        own_name,
        SHT_STRTAB,
        0,
        start + body.len(),
        names.len(),
    ));
    body.extend(names);
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let n_sections = u16::try_from(parts.len() + 2).unwrap();
    file.extend([3, machine].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    let table_at = (start + body.len()) as u64;
    file.extend(
        [0x100, HEADER_LEN as u64, table_at]
            .map(u64::to_le_bytes)
            .concat(),
    );
    file.extend([0, 0].map(u16::to_le_bytes).concat());
    let counts = [64, 56, 1, 64, n_sections, n_sections - 1];
    file.extend(counts.map(u16::to_le_bytes).concat());
    file.extend([PT_LOAD, 5].map(u32::to_le_bytes).concat());
    file.extend(
        [0, 0, 0, 1 << 20, 1 << 20, 4096]
            .map(u64::to_le_bytes)
            .concat(),
    );
    file.extend(body);
    file.extend(headers);
    file
}

fn section_header(name: usize, kind: u32, address: u64, at: usize, len: usize) -> Vec<u8> {
    let mut header = [u32::try_from(name).unwrap(), kind]
        .map(u32::to_le_bytes)
        .concat();
    header.extend(
        [0, address, at as u64, len as u64]
            .map(u64::to_le_bytes)
            .concat(),
    );
    header.extend([0u32; 2].map(u32::to_le_bytes).concat());
    header.extend([1u64, 0].map(u64::to_le_bytes).concat());
    header
}

/// A description in `.debug_frame`: where a function begins, its length, its instructions.
pub(super) type Function<'a> = (u64, u64, &'a [u8]);

/// `.debug_frame` of functions whose frames begin as the ABI says.
pub(super) fn debug_frame(
    return_address: u8,
    common: &[u8],
    functions: &[Function<'_>],
) -> Vec<u8> {
    // Version 4, no augmentation, addresses of 8 bytes; factors 1 and -8.
    let mut cie = vec![0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, return_address];
    cie.extend(common);
    let mut section = with_length(cie);
    for &(start, len, instructions) in functions {
        let mut fde = vec![0; 4];
        fde.extend([start, len].map(u64::to_le_bytes).concat());
        fde.extend(instructions);
        section.extend(with_length(fde));
    }
    section
}

fn with_length(mut bytes: Vec<u8>) -> Vec<u8> {
    // `DW_CFA_nop` to a whole number of words.
    bytes.resize((bytes.len() + 4).next_multiple_of(8) - 4, 0);
    let len = u32::try_from(bytes.len()).unwrap();
    [&len.to_le_bytes()[..], &bytes].concat()
}
