//! Writes man pages and completions into a folder: `cargo run -p rprof --example docs -- FOLDER DATE`.
//!
//! An example, since only a release needs what makes them: `cargo xtask dist` runs it.

#![allow(clippy::print_stderr, reason = "a program talks to its user")]

mod pages;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(folder), Some(date), None) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: docs FOLDER DATE");
        return ExitCode::from(2);
    };
    match pages::write(Path::new(&folder), &date.to_string_lossy()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: writing to {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
