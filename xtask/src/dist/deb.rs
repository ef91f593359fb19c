//! The Debian package: `dpkg-deb` builds it of a tree that follows Debian's policy.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Release;
use super::files::{compress, copy_below, kib_below, settle_modes};
use crate::command::{self, captured, command, root};
use crate::files::make_folder;

const DESCRIPTION: &str = "sampling profiler: record, report, flame graphs
 rprof records with the kernel's perf_event_open, writes standard perf.data
 files and reads those of others. It shows where the time went: as perf's
 table, as call trees, as flame graphs, and in the formats of other viewers.";

/// Packs what is in `tree`, and returns the package's name.
pub(super) fn build(release: &Release, tree: &Path, folder: &Path) -> Result<String> {
    let architecture = match release.architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "riscv64" => "riscv64",
        other => bail!("what Debian calls {other} is not known here"),
    };
    let version = format!("{}-1", release.version);
    let stage = folder.join("stage/deb");
    copy_below(tree, &stage.join("usr"))?;
    follow_policy(release, &version, &stage)?;
    settle_modes(&stage)?;
    let control = stage.join("DEBIAN");
    make_folder(&control)?;
    let sums = md5sums(&stage)?;
    fs::write(control.join("md5sums"), sums).context("writing md5sums")?;
    let size = kib_below(&stage)?;
    let maintainer = &release.maintainer;
    let text = format!(
        "Package: rprof\nVersion: {version}\nSection: devel\nPriority: optional\n\
         Architecture: {architecture}\nMaintainer: {maintainer}\nInstalled-Size: {size}\n\
         Description: {DESCRIPTION}\n"
    );
    fs::write(control.join("control"), text).context("writing control")?;
    settle_modes(&control)?;
    let name = format!("rprof_{version}_{architecture}.deb");
    let mut build = command("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", release.time.to_string());
    build.args(["--root-owner-group", "--build"]).arg(&stage);
    command::run(build.arg(folder.join(&name))).context("dpkg-deb is in Debian's package dpkg")?;
    Ok(name)
}

/// Puts files where Debian has them, and as Debian has them.
fn follow_policy(release: &Release, version: &str, stage: &Path) -> Result<()> {
    let share = stage.join("usr/share");
    let texts = share.join("doc/rprof");
    let vendor = share.join("zsh/vendor-completions");
    rename(&share.join("zsh/site-functions"), &vendor)?;
    rename(&texts.join("CHANGELOG.md"), &texts.join("changelog"))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "NOTICE"] {
        fs::remove_file(texts.join(name)).with_context(|| format!("removing {name}"))?;
    }
    fs::write(texts.join("copyright"), copyright()?).context("writing copyright")?;
    let entry = format!(
        "rprof ({version}) unstable; urgency=medium\n\n  * Version {}: see changelog.gz.\n\n -- \
         {}  {}\n",
        release.version,
        release.maintainer,
        release.date("--rfc-email")?
    );
    fs::write(texts.join("changelog.Debian"), entry).context("writing changelog.Debian")?;
    for name in ["changelog", "changelog.Debian", "LICENSES-OF-LIBRARIES"] {
        compress(&texts.join(name))?;
    }
    let pages =
        fs::read_dir(share.join("man/man1")).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let pages = pages.context("listing man pages")?;
    pages.iter().try_for_each(|page| compress(&page.path()))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("renaming {}", from.display()))
}

/// What Debian asks for beside a program: who may do what with it.
fn copyright() -> Result<String> {
    let read = |name: &str| {
        let text = fs::read_to_string(root().join(name));
        text.with_context(|| format!("reading {name}"))
    };
    Ok(format!(
        "{}\nThe licences of the libraries are in LICENSES-OF-LIBRARIES.gz beside this file. On Debian\n\
         systems, the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0. The MIT\n\
         licence:\n\n{}",
        read("NOTICE")?,
        read("LICENSE-MIT")?
    ))
}

/// The sums of all files, by their paths.
fn md5sums(stage: &Path) -> Result<String> {
    let find = ["usr", "-type", "f", "-print0"];
    let names = captured(command("find").args(find).current_dir(stage))?;
    let mut names: Vec<&str> = names.split('\0').filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    captured(command("md5sum").args(names).current_dir(stage))
}
