//! `/proc/PID/maps`, line by line.

use crate::record::Inode;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapsLine {
    /// First address (AVMA).
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// `PROT_READ` 1, `PROT_WRITE` 2, `PROT_EXEC` 4.
    pub prot: u32,
    /// `MAP_SHARED` 1, `MAP_PRIVATE` 2.
    pub flags: u32,
    /// Offset in the file, bytes.
    pub pgoff: u64,
    /// Device and inode.
    pub inode: Inode,
    /// Path or name in brackets; empty for anonymous memory.
    pub name: Vec<u8>,
}

impl MapsLine {
    /// Whether its memory can be executed.
    pub fn is_code(&self) -> bool {
        self.prot & 4 != 0
    }
}

/// Reads the text of `/proc/PID/maps`; lines of unknown shape are left out.
pub fn parse_maps(text: &[u8]) -> impl Iterator<Item = MapsLine> + '_ {
    text.split(|&byte| byte == b'\n').filter_map(parse_line)
}

fn parse_line(line: &[u8]) -> Option<MapsLine> {
    let (range, rest) = word(line)?;
    let (permissions, rest) = word(rest)?;
    let (pgoff, rest) = word(rest)?;
    let (device, rest) = word(rest)?;
    let (ino, rest) = word(rest)?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (hex(start)?, hex(end)?);
    if end < start {
        return None;
    }
    let has = |letter: char, bit: u32| if permissions.contains(letter) { bit } else { 0 };
    let (maj, min) = device.split_once(':')?;
    Some(MapsLine {
        start,
        end,
        prot: has('r', 1) | has('w', 2) | has('x', 4),
        flags: if permissions.contains('s') { 1 } else { 2 },
        pgoff: hex(pgoff)?,
        inode: Inode {
            maj: u32::from_str_radix(maj, 16).ok()?,
            min: u32::from_str_radix(min, 16).ok()?,
            ino: ino.parse().ok()?,
            generation: 0,
        },
        name: unescape(rest.trim_ascii_start()),
    })
}

/// The next word, and what follows it.
fn word(line: &[u8]) -> Option<(&str, &[u8])> {
    let line = line.trim_ascii_start();
    let len = line.iter().position(|&byte| byte == b' ');
    let (word, rest) = line.split_at_checked(len.unwrap_or(line.len()))?;
    Some((std::str::from_utf8(word).ok()?, rest))
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// The kernel writes a newline in a path as `\012`.
fn unescape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, tail)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"\\012") {
            out.push(b'\n');
            rest = after;
        } else {
            out.push(byte);
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_of_every_shape_are_read() {
        let text = b"55d0c8c00000-55d0c8c2f000 r-xp 00002000 fe:01 1234                       /usr/bin/a b\\012c (deleted)\n\
            7ffd1000-7ffd2000 rw-s 00000000 00:00 0\n\
            7fff0000-7fff1000 r-xp 00000000 00:00 0                                  [vdso]\n\
            7fff1000-7fff0000 r-xp 00000000 00:00 0 the end is first\n\
            garbage\n";
        let maps: Vec<_> = parse_maps(text).collect();
        assert_eq!(maps.len(), 3);
        assert_eq!(maps[0].name, b"/usr/bin/a b\nc (deleted)");
        assert_eq!((maps[0].prot, maps[0].flags, maps[0].pgoff), (5, 2, 0x2000));
        assert_eq!(
            (maps[0].inode.maj, maps[0].inode.min, maps[0].inode.ino),
            (0xfe, 1, 1234)
        );
        assert_eq!(
            (maps[1].prot, maps[1].flags, &maps[1].name[..]),
            (3, 1, &b""[..])
        );
        assert_eq!(maps[2].name, b"[vdso]");
    }

    #[test]
    fn our_own_maps_hold_our_code() {
        let text = std::fs::read("/proc/self/maps").unwrap();
        let here = our_own_maps_hold_our_code as *const () as u64;
        assert!(parse_maps(&text).any(|map| map.is_code() && map.start <= here && here < map.end));
    }

    #[test]
    fn a_line_that_was_cut_is_left_out() {
        let line = "7f00-7fff r-xp 00001000 fe:10 4711";
        assert_eq!(parse_maps(line.as_bytes()).count(), 1);
        for len in 0..30 {
            assert_eq!(parse_maps(&line.as_bytes()[..len]).count(), 0, "{len}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(text: Vec<u8>, line in "[0-9a-f]{0,17}-[0-9a-f]{0,17} .{0,40}") {
            parse_maps(&text).for_each(drop);
            parse_maps(line.as_bytes()).for_each(drop);
        }

        #[test]
        fn a_line_says_what_the_kernel_wrote(
            (start, len) in (0..1u64 << 56, 0..1u64 << 56),
            (pgoff, maj, min, ino) in any::<(u64, u32, u32, u64)>(),
            name in "(/[a-z \\n]{1,9}[a-z])?",
        ) {
            let end = start + len;
            let escaped = name.replace('\n', "\\012");
            let line = format!("{start:08x}-{end:08x} r-xs {pgoff:08x} {maj:02x}:{min:02x} {ino}   {escaped}\n");
            let inode = Inode { maj, min, ino, generation: 0 };
            let name = name.into_bytes();
            let expected = MapsLine { start, end, prot: 5, flags: 1, pgoff, inode, name };
            prop_assert_eq!(parse_maps(line.as_bytes()).collect::<Vec<_>>(), [expected]);
        }
    }
}
