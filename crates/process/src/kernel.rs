//! Where the kernel and its modules are mapped.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// One mapping of kernel code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMap {
    /// First address (AVMA).
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// For the kernel itself the runtime address of the symbol its name ends with; 0 for
    /// modules.
    pub pgoff: u64,
    /// `[kernel.kallsyms]_text`, or a module's path.
    pub name: String,
}

/// The kernel and its modules, as far as this user may see them: addresses that the kernel
/// hides (`kptr_restrict`) are left out.
pub fn kernel_maps() -> Vec<KernelMap> {
    let mut maps = Vec::new();
    maps.extend(kernel_text().ok().flatten());
    maps.extend(modules());
    maps
}

/// The kernel's text. Its start is in the first lines of kallsyms; its length is cheap to have
/// from `/proc/iomem` (root only), and costs a hundred thousand lines of kallsyms otherwise.
fn kernel_text() -> io::Result<Option<KernelMap>> {
    let mut kallsyms = BufReader::with_capacity(1 << 16, File::open("/proc/kallsyms")?);
    let Some((start, name)) = find_symbol(&mut kallsyms, &["_text", "_stext"])? else {
        return Ok(None);
    };
    let len = match code_len_from_iomem() {
        Some(len) => len,
        None => match find_symbol(&mut kallsyms, &["_etext"])? {
            Some((end, _)) => end.saturating_sub(start),
            None => return Ok(None),
        },
    };
    Ok(Some(KernelMap {
        addr: start,
        len,
        pgoff: start,
        name: format!("[kernel.kallsyms]{name}"),
    }))
}

/// Address and name of the first of these symbols; `None` also if addresses are hidden.
fn find_symbol<'n>(
    kallsyms: &mut impl BufRead,
    names: &[&'n str],
) -> io::Result<Option<(u64, &'n str)>> {
    let mut line = String::new();
    loop {
        line.clear();
        if kallsyms.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_ascii_whitespace();
        let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if let Some(&found) = names.iter().find(|wanted| **wanted == name) {
            let address = u64::from_str_radix(address, 16).unwrap_or(0);
            return Ok((address != 0).then_some((address, found)));
        }
    }
}

fn code_len_from_iomem() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/iomem").ok()?;
    let line = text.lines().find(|line| line.ends_with(": Kernel code"))?;
    let (start, end) = line.trim().split_once(' ')?.0.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let len = hex(end)?.checked_sub(hex(start)?)? + 1;
    // Zeros are what a user without rights sees.
    (len > 1).then_some(len)
}

fn modules() -> Vec<KernelMap> {
    let text = std::fs::read_to_string("/proc/modules").unwrap_or_default();
    text.lines().filter_map(parse_module).collect()
}

/// `name size refs deps state 0xaddress`.
fn parse_module(line: &str) -> Option<KernelMap> {
    let mut words = line.split_ascii_whitespace();
    let name = words.next()?;
    let len = words.next()?.parse().ok()?;
    let address = words.nth(3)?;
    let addr = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    (addr != 0).then(|| KernelMap {
        addr,
        len,
        pgoff: 0,
        name: format!("[{name}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_and_hidden_ones_left_out() {
        let map = parse_module("nf_nat 49152 1 nft_chain_nat, Live 0xffffffffc0a12000").unwrap();
        assert_eq!(
            (map.addr, map.len, &map.name[..]),
            (0xffff_ffff_c0a1_2000, 49152, "[nf_nat]")
        );
        assert_eq!(
            parse_module("nf_nat 49152 1 - Live 0x0000000000000000"),
            None
        );
        assert_eq!(parse_module("nf_nat"), None);
    }

    #[test]
    fn the_text_symbol_is_found_and_zeros_are_none() {
        let mut text = &b"0 A fixed\nffffffff81000000 T _stext\n"[..];
        assert_eq!(
            find_symbol(&mut text, &["_stext"]).unwrap(),
            Some((0xffff_ffff_8100_0000, "_stext"))
        );
        let mut hidden = &b"0000000000000000 T _text\n"[..];
        assert_eq!(find_symbol(&mut hidden, &["_text"]).unwrap(), None);
    }
}
