//! Names of images, as recordings have them.

use rprof_abi::record::BuildIdBytes;
use rprof_perfdata::{SyntheticIdentity, SyntheticLevel};

/// Where code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Level {
    User,
    Kernel,
}

/// Bytes of a name at most, as paths have.
const MOST_BYTES: usize = 4095;

/// What mappings of memory without a file begin with, and what is found in files of a process: code of a compiler, whose
/// names would be looked for there.
const MEMORY: [&[u8]; 8] = [
    b"//anon",
    b"/memfd:",
    b"/dev/zero",
    b"/anon_hugepage",
    b"[stack",
    b"[heap]",
    b"/SYSV",
    b"/tmp/perf-",
];

/// The image of a name and a build id.
pub(crate) fn image_identity(
    name: &[u8],
    build_id: Option<BuildIdBytes>,
    level: Level,
) -> SyntheticIdentity {
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    let name = name.get(..MOST_BYTES).unwrap_or(name);
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let is_log = last.starts_with(b"jit-") && last.ends_with(b".dump");
    let is_memory =
        level == Level::User && (is_log || MEMORY.iter().any(|start| name.starts_with(start)));
    // The kernel's name is followed by that of a symbol.
    let is_kernel = level == Level::Kernel && name.starts_with(KERNEL);
    let name: &[u8] = match name {
        b"" => b"[unknown]",
        _ if is_memory => b"[JIT]",
        _ if is_kernel => KERNEL,
        name => name,
    };
    SyntheticIdentity {
        name: name.to_vec(),
        build_id: build_id.filter(|_| !is_memory),
        level: match level {
            Level::User => SyntheticLevel::User,
            Level::Kernel => SyntheticLevel::Kernel,
        },
    }
}

const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// A build id of hexadecimal digits; other tools have other ids.
pub(crate) fn build_id(digits: &[u8]) -> Option<BuildIdBytes> {
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hex || digits.len() % 2 != 0 || digits.len() > 2 * BuildIdBytes::MAX {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes
        .filter(|bytes| bytes.iter().any(|&byte| byte != 0))
        .map(|bytes| BuildIdBytes::new(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_hexadecimal_digits() {
        let bytes = build_id(b"00ff10").unwrap();
        assert_eq!(bytes.as_bytes(), [0, 0xff, 0x10]);
        let long = b"ab".repeat(BuildIdBytes::MAX + 1);
        for other in [&b""[..], b"abc", b"go:build/id", b"0000", &long] {
            assert_eq!(build_id(other), None, "{other:?}");
        }
    }

    #[test]
    fn only_names_that_lead_nowhere_stay() {
        let name = |name: &str, level| {
            let identity = image_identity(name.as_bytes(), None, level);
            String::from_utf8(identity.name).unwrap()
        };
        for (given, user, kernel) in [
            ("/usr/bin/a", "/usr/bin/a", "/usr/bin/a"),
            ("", "[unknown]", "[unknown]"),
            ("/x\0y", "/x", "/x"),
            ("/tmp/jit-12.dump", "[JIT]", "/tmp/jit-12.dump"),
            ("/tmp/perf-12.map", "[JIT]", "/tmp/perf-12.map"),
            ("//anon", "[JIT]", "//anon"),
            (
                "[kernel.kallsyms]_text",
                "[kernel.kallsyms]_text",
                "[kernel.kallsyms]",
            ),
        ] {
            assert_eq!(name(given, Level::User), user);
            assert_eq!(name(given, Level::Kernel), kernel);
        }
        assert_eq!(name(&"x".repeat(5000), Level::User).len(), 4095);
    }
}
