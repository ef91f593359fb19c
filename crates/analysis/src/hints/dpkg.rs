//! Which Debian package a file is of, and which one has its debug file.

use foldhash::HashMap;
use std::path::Path;

/// One of `/var/lib/dpkg/info` is a few MB at most.
const MAX_LIST: u64 = 64 << 20;

/// The packages of files, by the lists that dpkg keeps of each package's files.
pub(super) fn owners<'p>(
    info: &Path,
    paths: impl Iterator<Item = &'p Path>,
) -> HashMap<&'p Path, String> {
    let mut wanted: HashMap<&str, Vec<&'p Path>> = HashMap::default();
    for path in paths {
        if let Some(text) = path.to_str() {
            wanted.entry(without_usr(text)).or_default().push(path);
        }
    }
    let mut owners = HashMap::default();
    let entries = info.read_dir().into_iter().flatten().flatten();
    let mut lists: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "list"))
        .collect();
    // Two packages may have a file in common: the same answer each time.
    lists.sort();
    for list in lists {
        if wanted.is_empty() {
            break;
        }
        let len = list.metadata().map_or(0, |meta| meta.len());
        if len > MAX_LIST {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&list) else {
            continue;
        };
        let package = list.file_stem().map(|name| name.to_string_lossy());
        // Libraries may be there for several machines: `libc6:amd64.list`.
        let package = package.as_deref().and_then(|name| name.split(':').next());
        let Some(package) = package else { continue };
        for line in text.lines() {
            let owned = wanted.remove(without_usr(line)).unwrap_or_default();
            owners.extend(owned.into_iter().map(|path| (path, package.to_owned())));
        }
    }
    owners
}

/// `/lib` has become a link to `/usr/lib`, and packages name files by either.
fn without_usr(path: &str) -> &str {
    path.strip_prefix("/usr").unwrap_or(path)
}

/// The package with a package's debug files. libc is the one whose debug files are in the main
/// archive, under the old rule; others are in that of debug files
/// (<https://wiki.debian.org/HowToGetABacktrace>).
pub(super) fn debug_package(package: &str) -> String {
    match package {
        "libc6" | "libc6.1" => format!("{package}-dbg"),
        _ => format!("{package}-dbgsym"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_under_either_name() {
        let dir = std::env::temp_dir().join(format!("rprof-dpkg-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        write("libc6:amd64.list", "/.\n/lib\n/lib/x/libc.so.6\n");
        write("zlib1g.list", "/usr/lib/x/libz.so.1\n");
        write("other.list", "/usr/share/doc/libc.so.6\n");
        write("zlib1g.md5sums", "/usr/lib/x/none\n");
        let paths = [
            "/usr/lib/x/libc.so.6",
            "/lib/x/libz.so.1",
            "/usr/lib/x/none",
        ];
        let found = owners(&dir, paths.iter().map(Path::new));
        std::fs::remove_dir_all(&dir).unwrap();
        let mut found: Vec<_> = found
            .iter()
            .map(|(path, name)| (path.to_str().unwrap(), &name[..]))
            .collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("/lib/x/libz.so.1", "zlib1g"),
                ("/usr/lib/x/libc.so.6", "libc6"),
            ]
        );
        let paths = [Path::new("/x")].into_iter();
        assert!(owners(Path::new("/nowhere"), paths).is_empty());
    }

    #[test]
    fn debug_packages_follow_debians_rule() {
        assert_eq!(debug_package("libc6"), "libc6-dbg");
        assert_eq!(debug_package("coreutils"), "coreutils-dbgsym");
    }
}
