//! Where links are followed, and what is ours.

use super::*;
use std::fs::{Permissions, create_dir, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};

const OTHER: u32 = 65534;

fn us(uid: u32) -> Us {
    Us { uid, caller: None }
}

/// The name that a path leads to, and whether a link has it.
fn goal(path: &Path, us: Us) -> io::Result<(String, bool)> {
    match Walk::new(path)?.run(us)? {
        Goal::Place(place) => {
            let is_link = place.meta().is_some_and(Metadata::is_symlink);
            Ok((place.name.into_string().unwrap(), is_link))
        }
        Goal::There(_) => Ok(("there".to_owned(), false)),
    }
}

/// A folder with a file, and a link to it.
fn linked() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("real"), "text").unwrap();
    symlink("real", dir.path().join("link")).unwrap();
    dir
}

fn own() -> Us {
    us(rustix::process::geteuid().as_raw())
}

#[test]
fn a_link_of_ours_is_followed_in_a_folder_of_ours_only() {
    let dir = linked();
    let link = dir.path().join("link");
    let mut modes = vec![
        (0o700, true),
        (0o755, true),
        (0o777, false),
        (0o1777, false),
    ];
    if own().uid == 0 {
        modes.extend([(0o775, false), (0o1775, false)]);
    }
    for (mode, follows) in modes {
        set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
        let name = if follows { "real" } else { "link" };
        let expected = (name.to_owned(), !follows);
        assert_eq!(goal(&link, own()).unwrap(), expected, "{mode:o}");
    }
}

#[test]
fn a_link_of_another_user_is_not_followed() {
    if own().uid != 0 {
        return;
    }
    let dir = linked();
    let link = dir.path().join("link");
    let is = |name: &str, is_link| (name.to_owned(), is_link);
    // Root's link, in root's folder.
    assert_eq!(goal(&link, us(OTHER)).unwrap(), is("real", false));
    lchown(&link, Some(OTHER), None).unwrap();
    assert_eq!(goal(&link, us(0)).unwrap(), is("link", true));
    assert_eq!(goal(&link, us(OTHER)).unwrap(), is("real", false));
    // A group of one's own may write to the folder; another one may not.
    lchown(dir.path(), Some(OTHER), Some(OTHER)).unwrap();
    set_permissions(dir.path(), Permissions::from_mode(0o775)).unwrap();
    assert_eq!(goal(&link, us(OTHER)).unwrap(), is("real", false));
    lchown(dir.path(), Some(OTHER), Some(OTHER - 1)).unwrap();
    assert_eq!(goal(&link, us(OTHER)).unwrap(), is("link", true));
    set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    // Somebody else's folder, with the same.
    lchown(dir.path(), Some(OTHER), None).unwrap();
    lchown(&link, Some(0), None).unwrap();
    assert_eq!(goal(&link, us(0)).unwrap(), is("link", true));
    assert_eq!(goal(&link, us(OTHER)).unwrap(), is("real", false));
    assert_eq!(goal(&link, us(OTHER - 1)).unwrap(), is("link", true));
}

#[test]
fn for_another_user_root_follows_no_link_to_a_file() {
    let dir = linked();
    let us = Us {
        caller: Some(OTHER),
        ..own()
    };
    let place = goal(&dir.path().join("link"), us).unwrap();
    assert_eq!(place, ("link".to_owned(), true));
    symlink("nothing", dir.path().join("dangling")).unwrap();
    let place = goal(&dir.path().join("dangling"), us).unwrap();
    assert_eq!(place, ("dangling".to_owned(), true));
    symlink("/dev/null", dir.path().join("null")).unwrap();
    assert_eq!(goal(&dir.path().join("null"), us).unwrap().0, "there");
    assert_eq!(goal(&dir.path().join("real"), us).unwrap().0, "real");
}

#[test]
fn links_on_the_way_are_ours_or_an_error() {
    let dir = tempfile::tempdir().unwrap();
    create_dir(dir.path().join("folder")).unwrap();
    symlink("folder", dir.path().join("link")).unwrap();
    let path = dir.path().join("link/file");
    for mode in [0o700, 0o1777] {
        set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(goal(&path, own()).unwrap().0, "file", "{mode:o}");
    }
    set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    let error = goal(&path, own()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().starts_with("link is a link"), "{error}");
    // A link of ours that leads to another one.
    let inner = dir.path().join("folder/inner");
    symlink(&path, &inner).unwrap();
    assert!(goal(&inner, own()).is_err());
}

#[test]
fn what_is_no_place_for_a_file_is_told_apart() {
    let dir = linked();
    let path = |name: &str| dir.path().join(name);
    let kind = |path: &Path| goal(path, own()).unwrap_err().kind();
    assert_eq!(kind(dir.path()), io::ErrorKind::IsADirectory);
    assert_eq!(kind(Path::new("/")), io::ErrorKind::IsADirectory);
    assert_eq!(kind(Path::new("")), io::ErrorKind::NotFound);
    assert_eq!(kind(&path("none/file")), io::ErrorKind::NotFound);
    assert_eq!(kind(&path("real/file")), io::ErrorKind::NotADirectory);
    assert_eq!(kind(&path("real/")), io::ErrorKind::NotADirectory);
    symlink("round", path("round")).unwrap();
    let error = goal(&path("round"), own()).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
    assert_eq!(goal(Path::new("/dev/null"), own()).unwrap().0, "there");
    let open = File::open(path("real")).unwrap();
    let magic = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    assert_eq!(goal(Path::new(&magic), own()).unwrap().0, "there");
    let name = goal(
        &path("../")
            .join(dir.path().file_name().unwrap())
            .join("./new"),
        own(),
    );
    assert_eq!(name.unwrap().0, "new");
}

#[test]
fn a_fifo_is_ours_or_of_whom_root_does_it_for() {
    let dir = tempfile::tempdir().unwrap();
    set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
    let fifo = dir.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    symlink("fifo", dir.path().join("link")).unwrap();
    assert_eq!(goal(&fifo, own()).unwrap().0, "there");
    assert!(open_fifo(&fifo).is_ok());
    assert_eq!(
        open_fifo(&dir.path().join("none")).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    assert_eq!(
        open_fifo(&dir.path().join("link")).unwrap_err().kind(),
        io::ErrorKind::PermissionDenied
    );
    if own().uid != 0 {
        return;
    }
    lchown(&fifo, Some(OTHER), None).unwrap();
    let callers = |caller| Us { caller, ..own() };
    assert!(goal(&fifo, own()).is_err());
    assert_eq!(goal(&fifo, callers(Some(OTHER))).unwrap().0, "there");
    assert!(goal(&fifo, callers(Some(OTHER - 1))).is_err());
}

#[test]
fn only_files_of_ours_with_one_name_are_appended_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    write(&path, "text").unwrap();
    let check = |us: Us| match Walk::new(&path).unwrap().run(us).unwrap() {
        Goal::Place(place) => place.check_ours(us).map_err(|error| error.to_string()),
        Goal::There(_) => panic!("it is a file"),
    };
    let mut file = open_to_append(&path).unwrap();
    io::Write::write_all(&mut file, b" more").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "text more");
    std::fs::hard_link(&path, dir.path().join("other")).unwrap();
    assert_eq!(check(own()), Ok(()));
    set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
    assert!(check(own()).unwrap_err().contains("another hard link"));
    std::fs::remove_file(dir.path().join("other")).unwrap();
    assert_eq!(check(own()), Ok(()));
    if own().uid != 0 {
        return;
    }
    lchown(&path, Some(OTHER), None).unwrap();
    assert!(check(own()).unwrap_err().contains("another user (uid"));
    assert_eq!(
        check(Us {
            caller: Some(OTHER),
            ..own()
        }),
        Ok(())
    );
}

#[test]
fn permissions_are_taken_over_from_a_file_of_ours_alone() {
    let dir = linked();
    let real = dir.path().join("real");
    set_permissions(&real, Permissions::from_mode(0o4640)).unwrap();
    let mode = || match Walk::new(&real).unwrap().run(own()).unwrap() {
        Goal::Place(place) => place.own_mode(),
        Goal::There(_) => None,
    };
    assert_eq!(mode(), Some(0o640));
    std::fs::hard_link(&real, dir.path().join("other")).unwrap();
    assert_eq!(mode(), None);
}

#[test]
fn a_folder_is_made_where_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("folder");
    let Goal::Place(place) = Goal::of(&path).unwrap() else {
        panic!("nothing is there");
    };
    place.make_folder(0o700).unwrap();
    // Somebody else was faster.
    place.make_folder(0o700).unwrap();
    let error = Goal::of(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
}
