//! What root writes where others can write, too: no link of theirs is followed, no file of theirs is
//! written to, whatever the kernel's own protections are set to.

use crate::common::nobody::{NOBODY, Sysctl, as_user};
use crate::common::{
    Running, compile_c, fixtures, has, is_root, live, report, rprof, run, scratch, tool,
};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Kernels' protections of links and of files in sticky folders, each value of both.
const PROTECTIONS: &[(&str, &str)] = &[
    ("0", "0"),
    ("0", "1"),
    ("0", "2"),
    ("1", "0"),
    ("1", "1"),
    ("1", "2"),
];

/// Does something under each setting of those; says so if they may not be set.
#[track_caller]
fn under_all_protections(test: &str, check: impl Fn(&str)) {
    for (links, regular) in PROTECTIONS {
        let set = |name, value| Sysctl::set_or_skip(test, name, value);
        let Some(_links) = set("fs/protected_symlinks", links) else {
            return;
        };
        let Some(_regular) = set("fs/protected_regular", regular) else {
            return;
        };
        check(&format!("links {links}, regular {regular}"));
    }
}

/// Folders of root's and of another user's.
struct Folders {
    dir: TempDir,
    /// Where only root comes.
    private: PathBuf,
    /// The other user's own, and one for everybody, as `/tmp`.
    open: [PathBuf; 2],
}

impl Folders {
    fn new() -> Self {
        let dir = scratch();
        let path = |name: &str| dir.path().join(name);
        let make = |path: PathBuf, mode| {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let private = make(path("private"), 0o700);
        let own = make(path("own"), 0o755);
        chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
        let sticky = make(path("sticky"), 0o1777);
        Self {
            private,
            open: [own, sticky],
            dir,
        }
    }

    /// A file of root's that must stay as it is.
    fn victim(&self) -> PathBuf {
        let path = self.private.join("victim");
        fs::write(&path, "precious").unwrap();
        path
    }
}

/// A link that the other user made.
fn link(target: &Path, at: &Path) {
    let _ = fs::remove_file(at);
    symlink(target, at).unwrap();
    lchown(at, Some(NOBODY), Some(NOBODY)).unwrap();
}

/// `record -o PATH -- true`, by root; for the other user, if that is said.
fn record(out: &Path, by_sudo: bool) -> Command {
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-o"]);
    record.arg(out).args(["--", "true"]);
    for name in ["SUDO_UID", "SUDO_GID"] {
        match by_sudo {
            true => record.env(name, NOBODY.to_string()),
            false => record.env_remove(name),
        };
    }
    record
}

/// `export -o PATH` of a small recording.
fn export(out: &Path) -> Command {
    let spin = fixtures().join("spin");
    let mut export = rprof(["export", "--format", "json", "--symfs"]);
    export.arg(spin.join("root")).arg("-i");
    export.arg(spin.join("perf.data")).arg("-o").arg(out);
    export
}

/// Whose a file is, and who may do what with it; of a link, of itself.
fn owner(path: &Path) -> (u32, u32) {
    let meta = fs::symlink_metadata(path).unwrap();
    assert!(meta.is_file(), "{}", path.display());
    (meta.uid(), meta.mode() & 0o777)
}

#[test]
fn a_recording_takes_the_place_of_another_users_link() {
    let test = "a_recording_takes_the_place_of_another_users_link";
    let Some(_live) = live(test) else {
        return;
    };
    if !is_root(test) {
        return;
    }
    let folders = Folders::new();
    let (victim, missing) = (folders.victim(), folders.private.join("missing"));
    under_all_protections(test, |settings| {
        for (folder, by_sudo) in folders.open.iter().flat_map(|f| [(f, false), (f, true)]) {
            let out = folder.join("perf.data");
            for target in [&victim, &missing] {
                link(target, &out);
                run(&mut record(&out, by_sudo)).ok();
                let uid = if by_sudo { NOBODY } else { 0 };
                assert_eq!(owner(&out), (uid, 0o600), "{settings}");
            }
            // The older one, and a link in the place of its new name.
            let old = folder.join("perf.data.old");
            link(&victim, &old);
            run(&mut record(&out, by_sudo)).ok();
            assert!(fs::symlink_metadata(&old).unwrap().is_file(), "{settings}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{settings}");
        assert_eq!(owner(&victim).0, 0, "{settings}");
        assert!(!missing.exists(), "{settings}");
    });
}

#[test]
fn another_users_empty_file_is_replaced_and_not_written_to() {
    let test = "another_users_empty_file_is_replaced_and_not_written_to";
    let Some(_live) = live(test) else {
        return;
    };
    if !is_root(test) {
        return;
    }
    let folders = Folders::new();
    under_all_protections(test, |settings| {
        for folder in &folders.open {
            let out = folder.join("perf.data");
            let _ = fs::remove_file(&out);
            let theirs = File::create_new(&out).unwrap();
            chown(&out, Some(NOBODY), Some(NOBODY)).unwrap();
            fs::set_permissions(&out, Permissions::from_mode(0o666)).unwrap();
            run(&mut record(&out, false)).ok();
            assert_eq!(owner(&out), (0, 0o600), "{settings}");
            assert_eq!(theirs.metadata().unwrap().len(), 0, "{settings}");
        }
    });
}

#[test]
fn an_export_takes_the_place_of_another_users_link_and_file() {
    let test = "an_export_takes_the_place_of_another_users_link_and_file";
    if !is_root(test) {
        return;
    }
    let Some(_live) = live(test) else {
        return;
    };
    let folders = Folders::new();
    let (victim, missing) = (folders.victim(), folders.private.join("missing"));
    under_all_protections(test, |settings| {
        for folder in &folders.open {
            let out = folder.join("profile.json");
            for target in [&victim, &missing] {
                link(target, &out);
                run(&mut export(&out)).ok();
                assert_eq!(owner(&out).0, 0, "{settings}");
            }
            let _ = fs::remove_file(&out);
            let theirs = File::create_new(&out).unwrap();
            chown(&out, Some(NOBODY), Some(NOBODY)).unwrap();
            fs::set_permissions(&out, Permissions::from_mode(0o666)).unwrap();
            run(&mut export(&out)).ok();
            // Nor is what it lets everybody do taken over.
            let (uid, mode) = owner(&out);
            assert_eq!((uid, mode & 0o022), (0, 0), "{settings}");
            assert_eq!(theirs.metadata().unwrap().len(), 0, "{settings}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{settings}");
        assert!(!missing.exists(), "{settings}");
    });
}

#[test]
fn names_are_not_put_into_what_another_users_link_leads_to() {
    let test = "names_are_not_put_into_what_another_users_link_leads_to";
    if !is_root(test) {
        return;
    }
    let Some(_live) = live(test) else {
        return;
    };
    let folders = Folders::new();
    let victim = folders.private.join("perf.data");
    let spin = fixtures().join("spin");
    fs::copy(spin.join("perf.data"), &victim).unwrap();
    let before = fs::read(&victim).unwrap();
    let embed = |path: &Path| {
        let mut embed = rprof(["symbols", "--embed", "--symfs"]);
        embed.arg(spin.join("root")).arg("-i").arg(path);
        run(&mut embed)
    };
    let _links = Sysctl::set("fs/protected_symlinks", "0");
    for folder in &folders.open {
        let path = folder.join("perf.data");
        link(&victim, &path);
        let error = embed(&path).fails(1);
        assert!(error.contains("not followed: give the path"), "{error}");
        assert_eq!(fs::read(&victim).unwrap(), before);
    }
    // One's own, where nobody else can write.
    let own = folders.private.join("link.data");
    symlink(&victim, &own).unwrap();
    embed(&own).ok();
    assert_ne!(fs::read(&victim).unwrap(), before);
}

#[test]
fn ones_own_link_is_followed_but_not_for_somebody_else() {
    let test = "ones_own_link_is_followed_but_not_for_somebody_else";
    let Some(_live) = live(test) else {
        return;
    };
    let dir = scratch();
    let (real, path) = (dir.path().join("real"), dir.path().join("perf.data"));
    symlink("real", &path).unwrap();
    run(&mut record(&path, false)).ok();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    report(&real, &["-g", "none"]);
    // The older one is kept beside it.
    run(&mut record(&path, false)).ok();
    report(&dir.path().join("real.old"), &["-g", "none"]);
    if is_root(test) {
        let before = fs::read(&real).unwrap();
        run(&mut record(&path, true)).ok();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read(&real).unwrap(), before);
    }
}

#[test]
fn another_users_link_to_a_folder_is_an_error() {
    let test = "another_users_link_to_a_folder_is_an_error";
    let Some(_live) = live(test) else {
        return;
    };
    if !is_root(test) {
        return;
    }
    let folders = Folders::new();
    let _links = Sysctl::set("fs/protected_symlinks", "0");
    for folder in &folders.open {
        let way = folder.join("way");
        link(&folders.private, &way);
        for mut command in [
            record(&way.join("perf.data"), false),
            export(&way.join("profile.json")),
        ] {
            let error = run(&mut command).fails(1);
            assert!(
                error.contains("way is a link that somebody else"),
                "{error}"
            );
        }
    }
    assert_eq!(folders.private.read_dir().unwrap().count(), 0);
}

/// Nor does it wait for a reader.
#[test]
fn another_users_pipe_gets_no_export() {
    let test = "another_users_pipe_gets_no_export";
    if !is_root(test) {
        return;
    }
    let folders = Folders::new();
    for folder in &folders.open {
        let pipe = folder.join("profile.json");
        run(tool("mkfifo").arg(&pipe)).ok();
        chown(&pipe, Some(NOBODY), Some(NOBODY)).unwrap();
        let error = run(&mut export(&pipe)).fails(1);
        assert!(error.contains("pipe or device of another"), "{error}");
    }
}

#[test]
fn standard_output_by_its_path_is_written_where_it_is() {
    let dir = scratch();
    let expected = dir.path().join("expected.json");
    run(&mut export(&expected)).ok();
    let expected = fs::read_to_string(&expected).unwrap();
    let mut to_stdout = export(Path::new("/dev/stdout"));
    assert_eq!(run(&mut to_stdout).ok().stdout, expected);
    for by_sudo in [false, true] {
        let path = dir.path().join(format!("{by_sudo}.json"));
        let mut shell = tool("sh");
        shell.args(["-c", "exec \"$@\" > \"$0\""]).arg(&path);
        shell
            .arg(to_stdout.get_program())
            .args(to_stdout.get_args());
        if by_sudo {
            shell.env("SUDO_UID", NOBODY.to_string());
        }
        run(&mut shell).ok();
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}

/// A user's own program: in a folder where root writes, it puts links, other files and folders in the
/// place of whatever is there, as fast as it can. It says so if one of its files has got anything.
const SWAPS: &str = r#"
    #include <dirent.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <unistd.h>
    static int files[64];
    static unsigned n;
    static void check(int fd) {
        struct stat now;
        if (fd > 0 && fstat(fd, &now) == 0 && now.st_size > 1) { puts("won"); fflush(stdout); }
    }
    static void put(const char *name, const char *victim, const char *missing) {
        char own[64];
        snprintf(own, sizeof own, "own-%d", getpid());
        int *fd = &files[n % 64];
        switch (n++ % 6) {
        case 0: symlink(victim, own); break;
        case 1: symlink(missing, own); break;
        case 2: case 3:
            check(*fd);
            if (*fd > 0) close(*fd);
            *fd = open(own, O_RDWR | O_CREAT | O_EXCL, 0666);
            if (*fd > 0 && n % 2) { fchmod(*fd, 0666); write(*fd, "x", 1); }
            break;
        case 4: unlink(name); return;
        case 5: if (n % 30 == 0) { mkdir(name, 0777); rmdir(name); } return;
        }
        if (rename(own, name) != 0) unlink(own);
    }
    int main(int argc, char **argv) {
        if (argc < 4 || chdir(argv[1]) != 0) return 1;
        puts("ready");
        fflush(stdout);
        fcntl(0, F_SETFL, O_NONBLOCK);
        char byte;
        while (read(0, &byte, 1) != 0) {
            put("perf.data", argv[2], argv[3]);
            put("perf.data.old", argv[2], argv[3]);
            put("profile.json", argv[2], argv[3]);
            DIR *dir = opendir(".");
            struct dirent *entry;
            while (dir && (entry = readdir(dir)))
                if (strncmp(entry->d_name, ".rprof-", 7) == 0) put(entry->d_name, argv[2], argv[3]);
            if (dir) closedir(dir);
        }
        for (int i = 0; i < 64; i++) check(files[i]);
        return 0;
    }"#;

/// 200 times: half of them recordings, half exports, in folders where the other user may do
/// everything, and in such as `/tmp`. That a command fails is no win: the folder is theirs, too.
#[test]
fn a_user_who_swaps_files_under_root_wins_nothing() {
    let test = "a_user_who_swaps_files_under_root_wins_nothing";
    let Some(_live) = live(test) else {
        return;
    };
    if !is_root(test) || !has(test, "cc", "gcc") || !has(test, "setpriv", "util-linux") {
        return;
    }
    let set = |name| Sysctl::set_or_skip(test, name, "0");
    let (Some(_links), Some(_regular)) =
        (set("fs/protected_symlinks"), set("fs/protected_regular"))
    else {
        return;
    };
    let folders = Folders::new();
    let (victim, missing) = (folders.victim(), folders.private.join("missing"));
    let swaps = compile_c(folders.dir.path(), "swaps", SWAPS);
    for folder in &folders.open {
        let mut user = as_user(NOBODY, NOBODY, &swaps);
        let mut user = Running::start(user.arg(folder).args([&victim, &missing]));
        assert_eq!(user.line(), "ready");
        let mut n_done = 0;
        for _ in 0..50 {
            for mut command in [
                record(&folder.join("perf.data"), false),
                export(&folder.join("profile.json")),
            ] {
                let ran = run(&mut command);
                assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
                n_done += u32::from(ran.status.success());
            }
        }
        user.close_input();
        let said = user.finish().ok().stdout;
        assert_eq!(said, "", "the other user has root's recording");
        assert!(n_done > 0, "nothing was ever written");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(owner(&victim), (0, 0o644));
        assert!(!missing.exists());
    }
    assert_eq!(folders.private.read_dir().unwrap().count(), 1);
}

/// A recorder that is killed leaves what it has under the name that was asked for.
#[test]
fn a_recorder_has_its_file_under_its_name_while_it_records() {
    let test = "a_recorder_has_its_file_under_its_name_while_it_records";
    let Some(_live) = live(test) else {
        return;
    };
    let dir = scratch();
    let out = dir.path().join("perf.data");
    fs::write(&out, "older").unwrap();
    let mut record = rprof(["record", "-e", "cpu-clock", "-o"]);
    record
        .arg(&out)
        .args(["--", "sh", "-c", "echo ready; read -r line"]);
    let mut recorder = Running::start(&mut record);
    assert_eq!(recorder.line(), "ready");
    let names = || {
        let entries = dir.path().read_dir().unwrap().map(Result::unwrap);
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["perf.data", "perf.data.old"]);
    assert_ne!(fs::read(&out).unwrap(), b"older");
    recorder.type_in(b"\n");
    recorder.finish().ok();
    assert_eq!(names(), ["perf.data", "perf.data.old"]);
    report(&out, &["-g", "none"]);
}
