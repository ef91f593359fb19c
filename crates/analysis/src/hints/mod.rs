//! What would give an image its names: one command, or one option, for the reason why it has none.

mod distribution;
mod dpkg;

use crate::index::recorded_elsewhere;
use crate::locations::last_comm;
use crate::recording::Recording;
use distribution::{Distribution, Packages};
use foldhash::HashMap;
use rprof_images::NoFile;
use rprof_machine::RecordedImage;
use rprof_symbols::Reason;
use rprof_untrusted::quoted;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How to build programs of one's own.
const OWN_PROGRAM: &str = "build it with -g and do not strip it (Rust: strip = false, \
                           debug = \"line-tables-only\" in its profile)";

/// What to do about each image, in their order; `None` where nothing is known to help.
pub(crate) fn hints(
    recording: &Recording<'_>,
    images: &[(&RecordedImage, &Reason)],
) -> Vec<Option<String>> {
    let is_elsewhere =
        recorded_elsewhere(recording.reader).is_some() && recording.locator.symfs.is_none();
    let is_stripped = |reason: &Reason| matches!(reason, Reason::Stripped | Reason::OnlyExported);
    let mut system = None;
    if images.iter().any(|(_, reason)| is_stripped(reason)) && !is_elsewhere {
        let stripped = images.iter().filter(|(_, reason)| is_stripped(reason));
        let paths = stripped.filter_map(|(image, _)| system_path(image));
        system = Some(System::look_up(Distribution::here(), paths));
    }
    let one = |&(image, reason): &(&RecordedImage, &Reason)| match reason {
        // It gives neither a process's map nor embedded names.
        Reason::NoFile(_)
        | Reason::Stripped
        | Reason::OnlyExported
        | Reason::NoKernelSymbols(_)
            if is_elsewhere =>
        {
            Some("rprof symbols --embed on the recorded machine".to_owned())
        }
        Reason::Stripped | Reason::OnlyExported => match (&system, system_path(image)) {
            (Some(system), Some(path)) => system.hint(path, image.build_id.is_some()),
            _ => Some(OWN_PROGRAM.to_owned()),
        },
        Reason::NoFile(reason) => of_file(reason, recording.known_names.is_some()),
        Reason::NoMap => {
            let comm = image
                .process_of_map()
                .map(|pid| process_name(recording, pid));
            Some(map_maker(&comm.unwrap_or_default()).to_owned())
        }
        // What is to be done about these is in the reason itself.
        _ => None,
    };
    images.iter().map(one).collect()
}

/// `is_live`: it goes on while it is looked at.
fn of_file(reason: &NoFile, is_live: bool) -> Option<String> {
    let text = match reason {
        NoFile::Changed { .. } | NoFile::Replaced | NoFile::Rewritten | NoFile::Modified
            if is_live =>
        {
            "restart the programs that run from the old file"
        }
        NoFile::Missing | NoFile::Deleted if is_live => {
            "rprof record --embed-symbols saves names while programs run"
        }
        NoFile::Changed { .. } | NoFile::Replaced | NoFile::Rewritten | NoFile::Modified => {
            "record again, or use --symfs DIR with the old file below it"
        }
        NoFile::Missing | NoFile::Deleted => {
            "use --symfs DIR with the file below it; next time, rprof record --embed-symbols"
        }
        NoFile::Unreadable(ErrorKind::PermissionDenied) => {
            "run rprof as a user with permission (sudo)"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// What a process was called last.
fn process_name(recording: &Recording<'_>, pid: i32) -> String {
    let history = &recording.index.history;
    last_comm(history, pid, pid).into_raw().into_owned()
}

/// How those that make code at run time are told to write a map.
fn map_maker(comm: &str) -> &'static str {
    const MAKERS: &[(&str, &str)] = &[
        ("node", "node --perf-basic-prof"),
        ("MainThread", "node --perf-basic-prof"),
        (
            "java",
            "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (JDK 17 or newer; \
             before that perf-map-agent)",
        ),
        // Regular expressions: PCRE writes no map.
        (
            "php",
            "php -d opcache.jit_debug=16 (PHP's own code), -d pcre.jit=0 (PCRE's code never has names)",
        ),
        ("nginx", "pcre_jit off (PCRE's code has no names)"),
        ("python", "python3 -X perf (3.12 or newer)"),
        ("dotnet", "DOTNET_PerfMapEnabled=1"),
        (".NET", "DOTNET_PerfMapEnabled=1"),
        ("ruby", "ruby --yjit --yjit-perf (3.3 or newer)"),
        ("julia", "ENABLE_JITPROFILING=1"),
    ];
    let known = MAKERS.iter().find(|(name, _)| comm.starts_with(name));
    known.map_or(
        "node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit or python3 -X perf write one",
        |(_, how)| how,
    )
}

/// The path of an image that came with the system, not from its user.
fn system_path(image: &RecordedImage) -> Option<&Path> {
    const SYSTEM: &[&str] = &["/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin"];
    let path = Path::new(OsStr::from_bytes(&image.path));
    let is_system = SYSTEM.iter().any(|root| path.starts_with(root));
    (is_system && !path.starts_with("/usr/local")).then_some(path)
}

/// What this machine's distribution has for files that were stripped.
struct System<'a> {
    distribution: Distribution,
    /// Files and the packages that they are of.
    owners: HashMap<&'a Path, String>,
}

impl<'a> System<'a> {
    fn look_up(distribution: Distribution, paths: impl Iterator<Item = &'a Path>) -> Self {
        let owners = match distribution.packages {
            Packages::Dpkg => dpkg::owners(Path::new("/var/lib/dpkg/info"), paths),
            Packages::Dnf | Packages::Unknown => HashMap::default(),
        };
        Self {
            distribution,
            owners,
        }
    }

    fn hint(&self, path: &Path, has_build_id: bool) -> Option<String> {
        // A server finds by build id alone.
        let by_server =
            has_build_id.then(|| format!("DEBUGINFOD_URLS={}", self.distribution.server));
        if let Some(package) = self.owners.get(path) {
            let package = dpkg::debug_package(package);
            let install = format!("apt install {}", quoted(OsStr::new(&package)));
            return Some(match (by_server, &self.distribution.debug_archive) {
                (_, None) => install,
                (None, Some(archive)) => format!("{install} (add to apt's sources: {archive})"),
                (Some(by_server), Some(archive)) => {
                    format!("{by_server}, or {install} (add to apt's sources: {archive})")
                }
            });
        }
        if let Packages::Dnf = self.distribution.packages {
            return Some(format!(
                "dnf debuginfo-install {}",
                quoted(path.as_os_str())
            ));
        }
        by_server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_machine::ImageKind;

    fn image(path: &str) -> RecordedImage {
        RecordedImage {
            path: path.as_bytes().to_vec(),
            build_id: None,
            inode: None,
            device: None,
            kind: ImageKind::User,
        }
    }

    #[test]
    fn what_came_with_the_system_is_told_from_ones_own() {
        for path in ["/usr/lib/libx.so", "/lib64/ld.so", "/bin/sh"] {
            assert!(system_path(&image(path)).is_some(), "{path}");
        }
        for path in ["/usr/local/bin/x", "/home/me/x", "/library/x", "//anon"] {
            assert!(system_path(&image(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn each_distribution_has_its_way() {
        let system = |packages, owners: &[(&'static str, &str)]| System {
            distribution: Distribution {
                packages,
                server: "https://debug.example",
                debug_archive: None,
            },
            owners: owners
                .iter()
                .map(|(path, package)| (Path::new(*path), (*package).to_owned()))
                .collect(),
        };
        let hint = |system: &System<'_>| system.hint(Path::new("/usr/lib/libx.so"), true);
        let text = |text: &str| Some(text.to_owned());
        let debian = system(Packages::Dpkg, &[("/usr/lib/libx.so", "libx1")]);
        assert_eq!(hint(&debian), text("apt install libx1-dbgsym"));
        let mut without = system(Packages::Dpkg, &[("/usr/lib/libx.so", "libx1")]);
        without.distribution.debug_archive = Some("debian-debug, suite s-debug".to_owned());
        let fixed = hint(&without).unwrap();
        let expected = "DEBUGINFOD_URLS=https://debug.example, or apt install libx1-dbgsym (add to";
        assert!(
            fixed.starts_with(expected) && fixed.contains("suite s-debug"),
            "{fixed}"
        );
        let fedora = system(Packages::Dnf, &[]);
        assert_eq!(
            hint(&fedora),
            text("dnf debuginfo-install /usr/lib/libx.so")
        );
        assert_eq!(
            fedora.hint(Path::new("/usr/lib/x$(reboot)"), false),
            text("dnf debuginfo-install '/usr/lib/x$(reboot)'")
        );
        let server = text("DEBUGINFOD_URLS=https://debug.example");
        assert_eq!(hint(&system(Packages::Dpkg, &[])), server);
        assert_eq!(hint(&system(Packages::Unknown, &[])), server);
        let unknown = system(Packages::Unknown, &[]);
        assert_eq!(unknown.hint(Path::new("/usr/lib/libx.so"), false), None);
    }

    #[test]
    fn who_made_the_code_is_told_how_to_name_it() {
        assert_eq!(map_maker("node"), "node --perf-basic-prof");
        assert_eq!(map_maker("python3.12"), "python3 -X perf (3.12 or newer)");
        assert!(map_maker("php-fpm8.2").contains("pcre.jit=0"));
        // The JVM wants the one before the other.
        assert!(
            map_maker("java").contains("-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit")
        );
        assert!(map_maker("spin").contains("java"));
    }
}
