//! `/proc/PID/maps`, line by line.

use rprof_abi::record::Inode;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address (AVMA).
    pub start: u64,
    /// First address behind it.
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

/// Reads the text of `/proc/PID/maps`; lines of unknown shape are left out.
pub fn parse_maps(text: &[u8]) -> impl Iterator<Item = Mapping> + '_ {
    text.split(|&byte| byte == b'\n').filter_map(parse_line)
}

fn parse_line(line: &[u8]) -> Option<Mapping> {
    let mut rest = line;
    let mut field = || {
        let start = rest.iter().position(|&byte| byte != b' ')?;
        let tail = rest.get(start..)?;
        let len = tail
            .iter()
            .position(|&byte| byte == b' ')
            .unwrap_or(tail.len());
        let (field, after) = tail.split_at(len);
        rest = after;
        std::str::from_utf8(field).ok()
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = field()?.split_once('-')?;
    let permissions = field()?.as_bytes();
    let pgoff = hex(field()?)?;
    let (maj, min) = field()?.split_once(':')?;
    let ino = field()?.parse().ok()?;
    let has = |letter: u8, bit: u32| {
        if permissions.contains(&letter) {
            bit
        } else {
            0
        }
    };
    let name = rest.trim_ascii_start();
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        prot: has(b'r', 1) | has(b'w', 2) | has(b'x', 4),
        flags: if permissions.contains(&b's') { 1 } else { 2 },
        pgoff,
        inode: Inode {
            maj: u32::from_str_radix(maj, 16).ok()?,
            min: u32::from_str_radix(min, 16).ok()?,
            ino,
            generation: 0,
        },
        name: unescape(name),
    })
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

    #[test]
    fn lines_of_every_shape_are_read() {
        let text = b"55d0c8c00000-55d0c8c2f000 r-xp 00002000 fe:01 1234                       /usr/bin/a b\\012c (deleted)\n\
            7ffd1000-7ffd2000 rw-s 00000000 00:00 0\n\
            7fff0000-7fff1000 r-xp 00000000 00:00 0                                  [vdso]\n\
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
        assert!(
            parse_maps(&text).any(|map| map.prot & 4 != 0 && map.start <= here && here < map.end)
        );
    }
}
