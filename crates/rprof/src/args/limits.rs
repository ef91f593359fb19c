//! Limits on the memory and disk space used for a recording and the files it refers to: options of all readers.

use rprof_untrusted::Allowed;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(id = "all/limits")]
pub(crate) struct LimitArgs {
    /// Memory limit for the contents of files, such as 4G [default: 8 times the recording's size plus 512M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    mem: Option<u64>,

    /// Size limit for decompressed data in temporary files [default: 64 times the recording's size plus 256M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_spool: Option<u64>,
}

impl LimitArgs {
    pub(crate) fn allowed(self) -> Allowed {
        Allowed {
            memory: self.mem,
            spool: self.max_spool,
        }
    }
}

/// Parses a size in bytes; K, M, G and T are powers of 1024, as in perf.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size, such as 512M or 4G".to_owned();
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        for (text, size) in [
            ("0", 0),
            ("17", 17),
            ("3k", 3072),
            ("512M", 1 << 29),
            ("4G", 1 << 32),
        ] {
            assert_eq!(parse_size(text), Ok(size));
        }
        for text in ["", "M", "-1", "1.5G", "4GB", "99999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
