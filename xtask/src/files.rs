//! The files of the workspace: found, sorted, and said to be text or not.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One file, read.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Relative to the workspace's root.
    pub(crate) path: PathBuf,
    /// How large it is.
    pub(crate) len_bytes: usize,
    /// What stands in it, if that is text.
    pub(crate) text: Option<String>,
}

impl File {
    /// Whether this is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.extension() == Some(OsStr::new("rs"))
    }

    /// Whether this is Rust source that the house rules hold for: programs under `fixtures/` are
    /// test data.
    pub(crate) fn is_ours(&self) -> bool {
        let houses = ["crates", "xtask", "tests"];
        self.is_rust() && houses.iter().any(|house| self.path.starts_with(house))
    }
}

/// Reads every file below `folder` (relative to `root`), in the order of their paths.
///
/// Build output, git's own folder and symbolic links are left out. A folder that is not there is
/// empty.
pub(crate) fn read_below(root: &Path, folder: &Path) -> Result<Vec<File>> {
    let mut paths = Vec::new();
    if root.join(folder).is_dir() {
        collect(root, folder, &mut paths)?;
    }
    paths.sort();
    paths.into_iter().map(|path| read(root, path)).collect()
}

/// All files and folders below a folder, whatever they are.
pub(crate) fn all_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let context = || format!("listing {}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.is_dir() {
            paths.extend(all_below(&path)?);
        }
        paths.push(path);
    }
    Ok(paths)
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))
}

/// Makes an empty file, or makes one empty.
pub(crate) fn make_file(path: &Path) -> Result<fs::File> {
    fs::File::create(path).with_context(|| format!("creating {}", path.display()))
}

fn collect(root: &Path, folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let full = root.join(folder);
    let context = || format!("listing {}", full.display());
    for entry in fs::read_dir(&full).with_context(context)? {
        let entry = entry.with_context(context)?;
        let kind = entry.file_type().with_context(context)?;
        let path = folder.join(entry.file_name());
        if kind.is_file() {
            paths.push(path);
        } else if kind.is_dir() && entry.file_name() != "target" && entry.file_name() != ".git" {
            collect(root, &path, paths)?;
        }
    }
    Ok(())
}

fn read(root: &Path, path: PathBuf) -> Result<File> {
    let bytes =
        fs::read(root.join(&path)).with_context(|| format!("reading {}", path.display()))?;
    let len_bytes = bytes.len();
    let is_text = !is_test_data(&path) && !bytes.contains(&0);
    let text = if is_text {
        String::from_utf8(bytes).ok()
    } else {
        None
    };
    Ok(File {
        path,
        len_bytes,
        text,
    })
}

/// Recordings and fuzz seeds may happen to look like text.
fn is_test_data(path: &Path) -> bool {
    let Some(extension) = path.extension() else {
        return path.starts_with("fixtures") || path.starts_with("tests");
    };
    ["data", "bin", "dump", "be"]
        .iter()
        .any(|data| extension == *data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_recordings_are_data_and_licences_are_not() {
        for (path, expected) in [
            ("fixtures/cut/perf.data", true),
            ("tests/fuzz/corpus/reader/0a1b", true),
            ("fixtures/cut/case.md", false),
            ("tests/report.rs", false),
            ("NOTICE", false),
            (".ci/run", false),
        ] {
            assert_eq!(is_test_data(Path::new(path)), expected, "{path}");
        }
    }
}
