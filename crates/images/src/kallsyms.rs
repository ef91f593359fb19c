//! `/proc/kallsyms` and its copies.

use rprof_base::BuildId;
use std::io;
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kallsym<'a> {
    /// Address (AVMA of the boot it was read in).
    pub address: u64,
    /// `T`, `t`, `D`, ... as `nm` prints it.
    pub kind: u8,
    /// Name.
    pub name: &'a [u8],
    /// Module, without brackets.
    pub module: Option<&'a [u8]>,
}

/// The text of a symbol list.
#[derive(Debug)]
pub struct Kallsyms {
    text: Vec<u8>,
}

impl Kallsyms {
    /// The list of the kernel with this build id: perf's copy in `~/.debug` (a plain file, much
    /// faster to read), else the running kernel's own if it is that kernel.
    ///
    /// # Errors
    /// `NotFound` if neither is that kernel's.
    pub fn of_kernel(build_id: &BuildId) -> io::Result<Self> {
        if let Some(path) = cached_path(build_id)
            && let Ok(text) = std::fs::read(path)
            && Self::shows_addresses(&text)
        {
            return Ok(Self { text });
        }
        if !crate::kernel_build_id().is_some_and(|running| running.matches(build_id)) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        Self::running()
    }

    /// The running kernel's list.
    ///
    /// # Errors
    /// `PermissionDenied` if the kernel hides addresses from this user.
    pub fn running() -> io::Result<Self> {
        let text = std::fs::read("/proc/kallsyms")?;
        if !Self::shows_addresses(&text) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        Ok(Self { text })
    }

    /// A list from a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self {
            text: std::fs::read(path)?,
        })
    }

    /// Hidden addresses are all zero; the first lines may be zero anyway (per-CPU symbols).
    fn shows_addresses(text: &[u8]) -> bool {
        parse(text).take(20_000).any(|symbol| symbol.address != 0)
    }

    /// Its symbols, in its order.
    pub fn symbols(&self) -> impl Iterator<Item = Kallsym<'_>> {
        parse(&self.text)
    }
}

fn parse(text: &[u8]) -> impl Iterator<Item = Kallsym<'_>> {
    text.split(|&byte| byte == b'\n').filter_map(parse_line)
}

fn parse_line(line: &[u8]) -> Option<Kallsym<'_>> {
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\t');
    let address = words.next()?.iter().try_fold(0u64, |value, &digit| {
        Some(value << 4 | u64::from(char::from(digit).to_digit(16)?))
    })?;
    let [kind] = *words.next()? else {
        return None;
    };
    let name = words.next().filter(|name| !name.is_empty())?;
    let module = words
        .next()
        .and_then(|word| word.strip_prefix(b"[")?.strip_suffix(b"]"));
    Some(Kallsym {
        address,
        kind,
        name,
        module,
    })
}

/// `~/.debug/.build-id/ab/cdef.../kallsyms`.
fn cached_path(build_id: &BuildId) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    let dir = Path::new(&home).join(".debug").join(build_id.path()?);
    Some(dir.join("kallsyms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_and_without_module() {
        let text = b"ffffffff81000000 T _text\nffffffffc0a12000 t nf_nat_setup\t[nf_nat]\nbad\n\n";
        let symbols: Vec<_> = parse(text).collect();
        assert_eq!(symbols.len(), 2);
        assert_eq!(
            (symbols[0].address, symbols[0].kind, symbols[0].name),
            (0xffff_ffff_8100_0000, b'T', &b"_text"[..])
        );
        assert_eq!(symbols[1].module, Some(&b"nf_nat"[..]));
    }

    #[test]
    fn hidden_addresses_are_recognised() {
        assert!(!Kallsyms::shows_addresses(
            b"0000000000000000 T _text\n0000000000000000 T x\n"
        ));
        assert!(Kallsyms::shows_addresses(
            b"0000000000000000 A a\nffffffff81000000 T _text\n"
        ));
    }
}
