//! What makes one build of the same code cost something else than another.

use std::fmt;
use std::fs;

use anyhow::{Context, Result};

use crate::command::{captured, command};

/// Compiler, C library, valgrind and CPU, each as it names itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// `rustc 1.95.0 (59807616e 2026-04-14) x86_64-unknown-linux-gnu`
    pub(super) compiler: String,
    /// `glibc 2.36-9+deb12u14`
    pub(super) libc: String,
    /// `valgrind-3.19.0`
    pub(super) valgrind: String,
    /// What libc chooses its functions by: `avx2`, or nothing that is known.
    pub(super) cpu: String,
}

impl Toolchain {
    /// What we run with.
    pub(super) fn of_this_machine() -> Result<Self> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = captured(command(rustc).arg("--version"))?;
        let libc = captured(command("ldd").arg("--version"))?;
        let libc = libc.lines().next().unwrap_or_default();
        Ok(Self {
            compiler: format!("{} {}", version.trim(), crate::command::host()?),
            libc: libc.trim_start_matches("ldd ").to_owned(),
            valgrind: captured(command("valgrind").arg("--version"))?
                .trim()
                .to_owned(),
            cpu: cpu()?,
        })
    }
}

/// The vector instructions of this CPU that libc has functions for.
fn cpu() -> Result<String> {
    const KNOWN: &[&str] = &["avx2", "avx512f", "erms", "asimd", "sve"];
    let info = fs::read_to_string("/proc/cpuinfo").context("reading /proc/cpuinfo")?;
    let words: Vec<&str> = info
        .lines()
        .find(|line| line.starts_with("flags") || line.starts_with("Features"))
        .map(|line| line.split_whitespace().collect())
        .unwrap_or_default();
    let known = KNOWN.iter().filter(|flag| words.contains(*flag));
    Ok(known.copied().collect::<Vec<_>>().join(" "))
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {}, CPU with {}",
            self.compiler, self.libc, self.valgrind, self.cpu
        )
    }
}
