//! Derives recordings from existing ones, for `cargo xtask bench` and `ratchet`.
//!
//! It is a program of its own since it needs rprof's crates: `cargo xtask demo` would compile them twice.
//!
//! - `derive-recording repeat all|samples FROM TO COPIES`: the records of FROM again and again, or of the copies after the
//!   first only samples;
//! - `derive-recording parts FROM SAMPLES`: prints how many parts of about SAMPLES samples FROM has, and how
//!   many samples each has;
//! - `derive-recording machine FROM SAMPLES NUMBER DAY TO`: one of these parts as an hour of a machine, on a day.

#![expect(clippy::print_stdout, reason = "that is what it is asked for")]

mod machine;
mod repeat;

use anyhow::{Context, Result, bail};
use machine::{Base, Machine};
use repeat::repeat;
use rprof_abi::RecordKind;
use rprof_perfdata::file_kind;
use std::path::Path;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["repeat", what, from, to, copies] => {
            let wanted = match what {
                "all" => |_| true,
                "samples" => is_sample,
                _ => bail!("expected all or samples, not {what}"),
            };
            repeat(Path::new(from), Path::new(to), number(copies)?, wanted)
        }
        ["parts", from, samples] => {
            let base = Base::open(Path::new(from), number(samples)?)?;
            println!("{} {}", base.distinct(), base.samples());
            Ok(())
        }
        ["machine", from, samples, machine, day, to] => {
            let machine = Machine {
                number: number(machine)?,
                day: number(day)?,
            };
            Base::open(Path::new(from), number(samples)?)?.record(&machine, Path::new(to))
        }
        _ => bail!(
            "repeat all|samples FROM TO COPIES, parts FROM SAMPLES, or machine FROM SAMPLES NUMBER DAY TO"
        ),
    }
}

/// Mappings that are announced again and again would measure hash tables, which have another seed each time.
fn is_sample(kind: RecordKind) -> bool {
    kind == RecordKind::SAMPLE || kind == file_kind::FINISHED_ROUND
}

fn number(text: &str) -> Result<u64> {
    text.parse()
        .with_context(|| format!("expected a number, not {text}"))
}
