//! `/proc/kallsyms` and its copies.

use std::io;
use std::path::Path;

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
    /// A list from a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self {
            text: std::fs::read(path)?,
        })
    }

    /// Whether the kernel showed addresses to who read it. Hidden ones are all zero; the first lines
    /// may be zero anyway (per-CPU symbols).
    pub fn shows_addresses(&self) -> bool {
        self.symbols()
            .take(20_000)
            .any(|symbol| symbol.address != 0)
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
    parse_usual_line(line).or_else(|| parse_any_line(line))
}

/// A line as kernels of 64 bits print it: 16 digits, a letter, a name.
#[inline]
fn parse_usual_line(line: &[u8]) -> Option<Kallsym<'_>> {
    let (digits, rest) = line.split_first_chunk::<16>()?;
    let [b' ', kind, b' ', rest @ ..] = rest else {
        return None;
    };
    let mut address = 0;
    for &digit in digits {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        address = address << 4 | u64::from(digit);
    }
    let len = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'));
    if matches!(kind, b' ' | b'\t') || len.unwrap_or(rest.len()) == 0 {
        return None;
    }
    let Some((name, [_, rest @ ..])) = len.map(|len| rest.split_at(len)) else {
        return Some(Kallsym {
            address,
            kind: *kind,
            name: rest,
            module: None,
        });
    };
    let mut words = rest.split(|byte| matches!(byte, b' ' | b'\t'));
    Some(Kallsym {
        address,
        kind: *kind,
        name,
        module: words.next().and_then(module_of),
    })
}

/// A module's name in brackets.
fn module_of(word: &[u8]) -> Option<&[u8]> {
    word.strip_prefix(b"[")?.strip_suffix(b"]")
}

fn parse_any_line(line: &[u8]) -> Option<Kallsym<'_>> {
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\t');
    let address = words.next()?.iter().try_fold(0u64, |value, &digit| {
        Some(value << 4 | u64::from(char::from(digit).to_digit(16)?))
    })?;
    let [kind] = *words.next()? else {
        return None;
    };
    let name = words.next().filter(|name| !name.is_empty())?;
    Some(Kallsym {
        address,
        kind,
        name,
        module: words.next().and_then(module_of),
    })
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
    fn usual_lines_are_read_as_any_other() {
        let lines: [(&[u8], bool); 14] = [
            (b"ffffffff81000000 T _text", true),
            (b"ffffffffc0a12000 t nf_nat_setup\t[nf_nat]", true),
            (b"ffffffffc0a12000 t nf nat [x]", true),
            (b"ffffffffc0a12000 t nf\t\t[x]", true),
            (b"ffffffffc0a12000 t nf\t", true),
            (b"FFFFFFFFC0A12000 t nf", false),
            (b"c0a12000 t nf", false),
            (b"0ffffffffc0a12000 t nf", false),
            (b"ffffffffc0a12000 t ", false),
            (b"ffffffffc0a12000 t", false),
            (b"ffffffffc0a12000\tt nf", false),
            (b"ffffffffc0a12000   nf", false),
            (b"000000000000000g t nf", false),
            (b"", false),
        ];
        for (line, is_usual) in lines {
            let text = line.escape_ascii();
            let usual = parse_usual_line(line);
            assert_eq!(usual.is_some(), is_usual, "{text}");
            let any = parse_any_line(line);
            assert!(!is_usual || usual == any, "{text}");
            assert_eq!(parse_line(line), any, "{text}");
        }
    }

    #[test]
    fn hidden_addresses_are_recognised() {
        let shows = |text: &[u8]| Kallsyms { text: text.into() }.shows_addresses();
        assert!(!shows(b"0000000000000000 T _text\n0000000000000000 T x\n"));
        assert!(shows(b"0000000000000000 A a\nffffffff81000000 T _text\n"));
    }
}
