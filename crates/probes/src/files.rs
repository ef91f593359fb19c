//! A file by its name alone: programs as a shell finds them, libraries as the loader does.

use crate::recorded::{in_path, paths_of};
use crate::searched::Searched;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where libraries are, after what `/etc/ld.so.conf` says (`ld.so(8)`).
const USUAL: &[&str] = &["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"];

/// The path of a file that is named without a folder: one here, one that what is recorded has mapped, a program in
/// PATH, or a library; as it is if there is none.
pub(crate) fn found(path: &Path, searched: Searched<'_>) -> PathBuf {
    let name = path.as_os_str();
    if name.as_bytes().contains(&b'/') || path.exists() {
        return path.to_owned();
    }
    let mapped = mapped_by(searched).find(|mapped| mapped.file_name() == Some(name));
    let of_loader = || {
        let mut all = folders().into_iter().map(|folder| folder.join(path));
        all.find(|path| is_like_us(path))
    };
    let found = mapped.or_else(|| in_path(name)).or_else(of_loader);
    found.unwrap_or_else(|| path.to_owned())
}

fn mapped_by(searched: Searched<'_>) -> impl Iterator<Item = PathBuf> {
    let ids = match searched {
        Searched::Tasks(ids) => ids,
        Searched::Command(_) | Searched::Nowhere => &[],
    };
    ids.iter().filter_map(|&id| paths_of(id).ok()).flatten()
}

/// Folders of libraries.
fn folders() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir("/etc/ld.so.conf.d")
        .map(|entries| {
            entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect()
        })
        .unwrap_or_default();
    files.sort();
    files.push(PathBuf::from("/etc/ld.so.conf"));
    let texts = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok());
    let texts: Vec<String> = texts.collect();
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    let listed = lines.filter(|line| line.starts_with('/'));
    listed
        .chain(USUAL.iter().copied())
        .map(PathBuf::from)
        .collect()
}

/// Whether a file is of our own kind of machine: there may be libraries of others beside.
fn is_like_us(path: &Path) -> bool {
    let head = |path: &Path| {
        let mut head = [0; 20];
        File::open(path).ok()?.read_exact(&mut head).ok()?;
        // `e_ident`, without what is of the system, and `e_machine`.
        Some((<[u8; 6]>::try_from(&head[..6]).ok()?, [head[18], head[19]]))
    };
    path.is_file()
        && head(path).is_some_and(|found| head(Path::new("/proc/self/exe")) == Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_looked_for_and_a_path_is_not() {
        let nowhere = |name: &str| found(Path::new(name), Searched::Nowhere);
        assert_eq!(nowhere("/no/such.so"), Path::new("/no/such.so"));
        assert_eq!(nowhere("no-such.so.77"), Path::new("no-such.so.77"));
        assert!(nowhere("sh").is_absolute());
        // Of this test's own, as the loader has found it.
        let own = std::process::id().cast_signed();
        let mapped = paths_of(own).unwrap();
        let libc = mapped
            .iter()
            .find(|path| path.to_string_lossy().contains("/libc.so"));
        if let Some(libc) = libc {
            let name = Path::new(libc.file_name().unwrap());
            assert_eq!(found(name, Searched::Tasks(&[own])), *libc);
            let loaded = std::fs::canonicalize(nowhere(name.to_str().unwrap())).unwrap();
            assert_eq!(loaded, std::fs::canonicalize(libc).unwrap());
        }
    }
}
