//! Another user who swaps files in folders where root writes.

use crate::common::nobody::{NOBODY, Sysctl, as_user};
use crate::common::{Running, compile_c, needs, run};
use crate::hostile::folders::{Folders, export, owner, record};
use std::fs;

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
    needs!(alone, root, cc, "setpriv" in "util-linux");
    let set = |name| Sysctl::set_or_skip(name, "0");
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
