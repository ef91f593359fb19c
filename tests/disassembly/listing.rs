//! What `objdump` says of a file: blocks of instructions, each with its bytes and its text.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// An instruction as `objdump` has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it is.
    pub(crate) address: u64,
    /// Its bytes, in the order of addresses.
    pub(crate) bytes: Vec<u8>,
    /// Its text, without the names of addresses.
    pub(crate) text: String,
    /// The address in the remark behind it.
    pub(crate) remark: Option<u64>,
}

/// Gives the code of a file block by block: what `objdump` decodes from one symbol to the next. Says
/// whether there is an `objdump` of this name.
pub(crate) fn blocks(
    program: &str,
    flags: &[&str],
    file: &Path,
    mut each: impl FnMut(&[Line]),
) -> bool {
    let mut command = Command::new(program);
    command
        .args(["--disassemble", "--wide", "--disassemble-zeroes"])
        .args(flags)
        .arg(file);
    let Ok(mut child) = command.env("LC_ALL", "C").stdout(Stdio::piped()).spawn() else {
        return false;
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut block) = (String::new(), Vec::new());
    while lines.read_line(&mut line).unwrap() > 0 {
        match parse(&line) {
            Some(parsed) => block.push(parsed),
            None => {
                each(&block);
                block.clear();
            }
        }
        line.clear();
    }
    each(&block);
    assert!(
        child.wait().unwrap().success(),
        "{program} fails on {}",
        file.display()
    );
    true
}

/// `  401000:\t48 83 ec 08          \tsub    $0x8,%rsp`; ARM has the word as one number.
fn parse(line: &str) -> Option<Line> {
    let (address, rest) = line.trim_start().split_once(":\t")?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let (bytes, text) = rest.split_once('\t').unwrap_or((rest, ""));
    let mut all = Vec::new();
    for part in bytes.split_whitespace() {
        let mut number: Vec<u8> = (0..part.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(part.get(at..at + 2)?, 16).ok())
            .collect::<Option<_>>()?;
        number.reverse();
        all.append(&mut number);
    }
    let (text, remark) = without_names(text);
    Some(Line {
        address,
        bytes: all,
        text,
        remark,
    })
}

/// The text without `<name+0x10>`, and the address of the remark: `# 4018 <name>`.
fn without_names(text: &str) -> (String, Option<u64>) {
    // What ARM's has behind two strokes says the same in other words.
    let text = text
        .split_once("//")
        .map_or(text, |(text, _)| text)
        .trim_end();
    let text = match text.rfind(" <") {
        Some(at) if text.ends_with('>') => &text[..at],
        _ => text,
    };
    let remark = text.rsplit_once('#').and_then(|(before, after)| {
        let address = after.trim();
        let digits = address.strip_prefix("0x").unwrap_or(address);
        Some((before, u64::from_str_radix(digits, 16).ok()?))
    });
    match remark {
        Some((before, address)) if before.ends_with("  ") => {
            (before.trim_end().to_owned(), Some(address))
        }
        _ => (text.to_owned(), None),
    }
}
