//! What root writes where others can write, too: no link of theirs is followed, no file of theirs is
//! written to, whatever the kernel's own protections are set to.

use crate::common::nobody::{NOBODY, Sysctl};
use crate::common::{Running, fixtures, is_root, needs, report, rprof, run, scratch, tool};
use crate::hostile::folders::{Folders, export, link, owner, record, under_all_protections};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

#[test]
fn a_recording_takes_the_place_of_another_users_link() {
    needs!(alone, root);
    let folders = Folders::new();
    let (victim, missing) = (folders.victim(), folders.private.join("missing"));
    under_all_protections(|settings| {
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
    needs!(alone, root);
    let folders = Folders::new();
    under_all_protections(|settings| {
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
    needs!(alone, root);
    let folders = Folders::new();
    let (victim, missing) = (folders.victim(), folders.private.join("missing"));
    under_all_protections(|settings| {
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
    needs!(alone, root);
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
    needs!(live);
    let dir = scratch();
    let (real, path) = (dir.path().join("real"), dir.path().join("perf.data"));
    symlink("real", &path).unwrap();
    run(&mut record(&path, false)).ok();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    report(&real, &["-g", "none"]);
    // The older one is kept beside it.
    run(&mut record(&path, false)).ok();
    report(&dir.path().join("real.old"), &["-g", "none"]);
    if is_root() {
        let before = fs::read(&real).unwrap();
        run(&mut record(&path, true)).ok();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read(&real).unwrap(), before);
    }
}

#[test]
fn another_users_link_to_a_folder_is_an_error() {
    needs!(alone, root);
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
            assert!(error.contains("way is a link that another user"), "{error}");
        }
    }
    assert_eq!(folders.private.read_dir().unwrap().count(), 0);
}

/// Nor does it wait for a reader.
#[test]
fn another_users_pipe_gets_no_export() {
    needs!(root);
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

/// A recorder that is killed leaves what it has under the name that was asked for.
#[test]
fn a_recorder_has_its_file_under_its_name_while_it_records() {
    needs!(live);
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
