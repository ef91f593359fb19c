//! Man pages and completions: rprof itself writes them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Release;
use crate::command::captured;
use crate::files::make_folder;

/// Shells, and where each looks for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/rprof"),
    ("zsh", "share/zsh/site-functions/_rprof"),
    ("fish", "share/fish/vendor_completions.d/rprof.fish"),
];

/// Writes them below `prefix`; `rprof` starts the program.
pub(super) fn write(release: &Release, rprof: impl Fn() -> Command, prefix: &Path) -> Result<()> {
    let mut pages = rprof();
    pages.env("SOURCE_DATE_EPOCH", release.time.to_string());
    let folder = prefix.join("share/man/man1");
    captured(pages.arg("help").arg(format!("--man={}", folder.display())))?;
    for (shell, path) in COMPLETIONS {
        let script = captured(rprof().args(["completions", shell]))?;
        let path = prefix.join(path);
        make_folder(path.parent().unwrap_or(prefix))?;
        fs::write(&path, script).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
