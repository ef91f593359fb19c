//! How this program is started with sudo, whose PATH is not the user's.

use rprof_untrusted::quoted;
use std::env;
use std::ffi::OsStr;
use std::path::Path;

/// Folders that sudo looks in, as distributions set it up (`secure_path` in sudoers).
const SECURE_PATH: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// `sudo rprof`, or what finds the same program: `cargo install` puts it where sudo does not look.
pub(crate) fn sudo_rprof() -> String {
    match env::current_exe() {
        Ok(program) => command(&program, env::var_os("PATH").as_deref()),
        Err(_) => "sudo rprof".to_owned(),
    }
}

fn command(program: &Path, path: Option<&OsStr>) -> String {
    let folder = program.parent().unwrap_or(program);
    if SECURE_PATH.iter().any(|secure| folder == Path::new(secure)) {
        return "sudo rprof".to_owned();
    }
    let mut folders = path.into_iter().flat_map(env::split_paths);
    if folders.any(|one| one == folder) {
        "sudo $(which rprof)".to_owned()
    } else {
        format!("sudo {}", quoted(program.as_os_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_finds_the_program_that_runs() {
        let path = OsStr::new("/home/me/.cargo/bin:/usr/bin");
        for (program, expected) in [
            ("/usr/local/bin/rprof", "sudo rprof"),
            ("/home/me/.cargo/bin/rprof", "sudo $(which rprof)"),
            ("/home/me/my work/rprof", "sudo '/home/me/my work/rprof'"),
        ] {
            assert_eq!(command(Path::new(program), Some(path)), expected);
        }
        assert_eq!(command(Path::new("/x/rprof"), None), "sudo /x/rprof");
    }
}
