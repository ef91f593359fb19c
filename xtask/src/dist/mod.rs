//! `cargo xtask dist [--docs]`: what a release is made of, in `target/dist`: a static binary, a
//! Debian package, an archive and their checksums. With `--docs`, only man pages and completions.
//!
//! The same sources give the same bytes: times are those of the last commit, or what
//! `SOURCE_DATE_EPOCH` says, and paths of this machine are not in the binary. The Debian package's maintainer is who
//! `DEBFULLNAME` and `DEBEMAIL` say, else the first of the workspace's `authors`.

mod deb;
mod docs;
mod files;
mod licences;
mod maintainer;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::args::has_flag;
use crate::command::{self, captured, cargo, command, packages, root, target_folder};
use crate::files::make_folder;
use files::copy;

/// What a release has beside the default features, as cargo takes it.
const FEATURES: [&str; 2] = ["--features", "rprof-cli/parquet"];

/// What is released.
struct Release {
    version: String,
    /// Seconds since 1970.
    time: u64,
    /// As `rustc` says it.
    architecture: &'static str,
    /// Name and address.
    maintainer: String,
}

/// Builds a release, or its documentation alone.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let only_docs = has_flag(args, "--docs")?;
    let release = Release::find()?;
    let toolchain = if only_docs {
        None
    } else {
        Some(Toolchain::find(&release)?)
    };
    let folder = target_folder()?.join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let Some(toolchain) = toolchain else {
        let rprof = || {
            let mut rprof = cargo();
            rprof.args(["run", "--quiet", "--locked", "-p", "rprof-cli"]);
            rprof.args(FEATURES).arg("--");
            rprof
        };
        docs::write(&release, rprof, &folder)?;
        println!("man pages and completions are in {}", folder.display());
        return Ok(());
    };
    let binary = build(&toolchain)?;
    let name = format!("rprof-{}-{}-linux", release.version, release.architecture);
    let tree = folder.join("stage").join(&name);
    fill(&release, &binary, &tree)?;
    let archive = archive(&release, &tree, &folder)?;
    let package = deb::build(&release, &tree, &folder)?;
    copy(&binary, &folder.join("rprof"))?;
    fs::remove_dir_all(folder.join("stage")).context("removing what was packed")?;
    let made = ["rprof", &archive, &package];
    let sums = captured(command("sha256sum").args(made).current_dir(&folder))?;
    fs::write(folder.join("SHA256SUMS"), &sums).context("writing SHA256SUMS")?;
    print!("\nin {}:\n{sums}", folder.display());
    Ok(())
}

impl Release {
    fn find() -> Result<Self> {
        let packages = packages()?;
        let rprof = packages.iter().find(|one| one["name"] == "rprof-cli");
        let rprof = rprof.context("cargo metadata lists no rprof-cli")?;
        let authors = rprof["authors"].as_array().into_iter().flatten();
        let authors: Vec<String> = (authors.filter_map(Value::as_str))
            .map(str::to_owned)
            .collect();
        let time = match env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => captured(command("git").args(["log", "-1", "--format=%ct"]))
                .context("no time: set SOURCE_DATE_EPOCH where git has no history")?,
        };
        Ok(Self {
            version: rprof["version"].as_str().unwrap_or_default().to_owned(),
            time: time
                .trim()
                .parse()
                .context("SOURCE_DATE_EPOCH is not a number")?,
            architecture: env::consts::ARCH,
            maintainer: maintainer::of(|name| env::var(name).ok(), &authors)?,
        })
    }

    fn target(&self) -> String {
        format!("{}-unknown-linux-musl", self.architecture)
    }

    /// Its time, as `date` writes it by `format`.
    fn date(&self, format: &str) -> Result<String> {
        let seconds = format!("--date=@{}", self.time);
        let mut date = command("date");
        let date = captured(date.env("LC_ALL", "C").args(["--utc", &seconds, format]))?;
        Ok(date.trim().to_owned())
    }
}

/// What builds static binaries.
struct Toolchain {
    target: String,
    /// The variable that names the C compiler, and what it is to be; `None` if it names one already.
    compiler: Option<(String, &'static str)>,
}

impl Toolchain {
    /// Looks for all of it before anything is built or removed.
    fn find(release: &Release) -> Result<Self> {
        let target = release.target();
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let library = ["--print", "target-libdir", "--target", &target];
        let library = captured(command(rustc).args(library))?;
        let variable = format!("CC_{}", target.replace('-', "_"));
        let is_named = env::var_os(&variable).is_some();
        // zstd and ring are C.
        let has_compiler = is_named || captured(command("musl-gcc").arg("--version")).is_ok();
        let lacks = lacking(&target, Path::new(library.trim()).is_dir(), has_compiler);
        ensure!(
            lacks.is_empty(),
            "a static binary needs {}",
            lacks.join(", and ")
        );
        Ok(Self {
            target,
            compiler: (!is_named).then_some((variable, "musl-gcc")),
        })
    }
}

/// What is not there, and how to install it.
fn lacking(target: &str, has_library: bool, has_compiler: bool) -> Vec<String> {
    let library = format!("Rust's library for {target} (rustup target add {target})");
    let compiler = format!(
        "a C compiler for musl (apt-get install musl-tools, or name one in CC_{})",
        target.replace('-', "_")
    );
    let parts = [(has_library, library), (has_compiler, compiler)];
    let lacks = parts.into_iter().filter(|(is_there, _)| !is_there);
    lacks.map(|(_, what)| what).collect()
}

/// Builds the binary, and returns where it is.
fn build(toolchain: &Toolchain) -> Result<PathBuf> {
    let target = &toolchain.target;
    let mut build = cargo();
    if let Some((variable, compiler)) = &toolchain.compiler {
        build.env(variable, compiler);
    }
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let paths = [(root(), "rprof"), (home.as_path(), "cargo")];
    let remap = paths.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    build.env("CARGO_ENCODED_RUSTFLAGS", remap.join("\x1f"));
    build.args([
        "build",
        "--locked",
        "-p",
        "rprof-cli",
        "--profile",
        "stripped",
    ]);
    command::run(build.args(FEATURES).args(["--target", target]))?;
    Ok(target_folder()?.join(target).join("stripped/rprof"))
}

/// Puts together what is below `/usr` or `/usr/local`.
fn fill(release: &Release, binary: &Path, tree: &Path) -> Result<()> {
    docs::write(release, || command(binary), tree)?;
    copy(binary, &tree.join("bin/rprof"))?;
    let texts = tree.join("share/doc/rprof");
    make_folder(&texts)?;
    for name in [
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "NOTICE",
    ] {
        copy(&root().join(name), &texts.join(name))?;
    }
    continuous(tree)?;
    let licences = licences::of_dependencies(&release.target())?;
    fs::write(texts.join("LICENSES-OF-LIBRARIES"), licences).context("writing licences")
}

/// What records all the time, and pushes: units where systemd looks for them, on Debian, too, and examples for Kubernetes.
fn continuous(tree: &Path) -> Result<()> {
    let from = root().join("crates/record/continuous");
    for (name, folder) in [
        ("rprof-record.service", "lib/systemd/system"),
        ("rprof-push.service", "lib/systemd/system"),
        ("rprof.conf", "lib/tmpfiles.d"),
        ("daemonset.yaml", "share/doc/rprof/examples"),
        ("daemonset-push.yaml", "share/doc/rprof/examples"),
    ] {
        copy(&from.join(name), &tree.join(folder).join(name))?;
    }
    Ok(())
}

/// Packs the tree, and returns the archive's name.
fn archive(release: &Release, tree: &Path, folder: &Path) -> Result<String> {
    files::settle_modes(tree)?;
    let stem = tree.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}.tar.gz");
    let mut tar = command("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=ustar", "--use-compress-program=gzip -9n"])
        .arg(format!("--mtime=@{}", release.time))
        .arg(format!("--directory={}", folder.join("stage").display()))
        .arg("--create")
        .arg(format!("--file={}", folder.join(&name).display()))
        .arg(&*stem);
    command::run(&mut tar)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_pages_and_changelogs_have_them() {
        let release = Release {
            version: "1.0.0".to_owned(),
            time: 951_782_399,
            architecture: "x86_64",
            maintainer: maintainer::NOBODY.to_owned(),
        };
        let mail = release.date("--rfc-email").unwrap();
        assert_eq!(mail, "Mon, 28 Feb 2000 23:59:59 +0000");
        assert_eq!(release.target(), "x86_64-unknown-linux-musl");
    }

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let target = "x86_64-unknown-linux-musl";
        assert!(lacking(target, true, true).is_empty());
        let both = lacking(target, false, false).join(", and ");
        assert!(
            both.contains("rustup target add x86_64-unknown-linux-musl"),
            "{both}"
        );
        assert!(
            both.contains("musl-tools, or name one in CC_x86_64_unknown_linux_musl"),
            "{both}"
        );
        assert_eq!(lacking(target, true, false).len(), 1);
    }

    #[test]
    fn only_docs_is_an_argument() {
        assert!(run(&["--doc".to_owned()]).is_err());
    }
}
