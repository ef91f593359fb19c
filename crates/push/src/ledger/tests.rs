//! Notes, in directories of their own.

use super::folder::FOLDER;
use super::*;
use crate::Protocol;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const CONTENT: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn target(url: &str) -> PushTarget {
    PushTarget::parse(url, Protocol::Otlp).unwrap()
}

fn stamp(dir: &Path) -> FileStamp {
    FileStamp::of(&fs::metadata(dir).unwrap())
}

#[track_caller]
fn opened(dir: &Path, url: &str) -> Ledger {
    let mut ledger = Ledger::new(dir, &target(url));
    ledger.open().unwrap();
    ledger
}

/// The folder of a server's notes.
fn own_folder(dir: &Path, url: &str) -> PathBuf {
    dir.join(FOLDER).join(target(url).id())
}

#[test]
fn what_is_noted_is_there_for_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let stamp = stamp(dir.path());
    let [first, second, large] = [b"a", b"b", b"c"].map(|body| PartId::of(body));
    {
        let mut ledger = opened(dir.path(), "http://a");
        ledger.count(CONTENT, stamp, Some(212));
        ledger.delivered_part(CONTENT, stamp, first).unwrap();
        ledger.split_part(CONTENT, stamp, large).unwrap();
        assert!(!ledger.is_unsaved());
    }
    let mut ledger = opened(dir.path(), "http://a");
    assert_eq!(ledger.content(&stamp), Some(CONTENT));
    assert!(ledger.has(CONTENT, first) && !ledger.has(CONTENT, second));
    assert!(ledger.is_split(CONTENT, large) && !ledger.is_split(CONTENT, first));
    let known = ledger.recording(CONTENT).unwrap();
    assert_eq!((known.samples, known.is_delivered), (Some(212), false));
    ledger.delivered(CONTENT, stamp).unwrap();
    assert!(ledger.is_delivered_to_all(CONTENT));
    drop(ledger);
    let mut ledger = opened(dir.path(), "http://a");
    assert!(ledger.recording(CONTENT).unwrap().is_delivered);
    ledger.forget(CONTENT);
    let folder = own_folder(dir.path(), "http://a");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn what_ended_a_run_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let stamp = stamp(dir.path());
    let mut ledger = opened(dir.path(), "http://a");
    ledger.begin(CONTENT, stamp).unwrap();
    drop(ledger);
    let mut ledger = opened(dir.path(), "http://a");
    assert!(ledger.has_ended_a_run(&stamp));
    ledger.count(CONTENT, stamp, Some(1));
    ledger.save_all().unwrap();
    drop(ledger);
    assert!(!opened(dir.path(), "http://a").has_ended_a_run(&stamp));
}

#[test]
fn a_recording_is_delivered_when_all_servers_have_it() {
    let dir = tempfile::tempdir().unwrap();
    let stamp = stamp(dir.path());
    let [mut one, mut other] = ["http://a", "http://b"].map(|url| opened(dir.path(), url));
    one.delivered(CONTENT, stamp).unwrap();
    assert!(!one.is_delivered_to_all(CONTENT));
    other.delivered(CONTENT, stamp).unwrap();
    assert!(one.is_delivered_to_all(CONTENT));
}

#[test]
fn two_do_not_send_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let first = opened(dir.path(), "http://a");
    let mut second = Ledger::new(dir.path(), &target("http://a/"));
    assert!(matches!(second.open(), Err(Error::Busy { .. })));
    drop(first);
    second.open().unwrap();
}

#[test]
fn where_no_note_can_be_written_all_goes_on_in_memory() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("later");
    let stamp = stamp(parent.path());
    let mut ledger = Ledger::new(&dir, &target("http://a"));
    assert!(matches!(ledger.open(), Err(Error::State { .. })));
    assert!(ledger.delivered(CONTENT, stamp).is_err());
    assert!(ledger.is_unsaved() && ledger.recording(CONTENT).unwrap().is_delivered);
    // It is written when that can be done.
    fs::create_dir(&dir).unwrap();
    ledger.save_all().unwrap();
    assert!(!ledger.is_unsaved());
    drop(ledger);
    let ledger = opened(&dir, "http://a");
    assert!(ledger.recording(CONTENT).unwrap().is_delivered);
}

/// A note that was read late does not lose what it says.
#[test]
fn notes_that_are_found_later_count_too() {
    let parent = tempfile::tempdir().unwrap();
    let [dir, away] = ["dir", "away"].map(|name| parent.path().join(name));
    fs::create_dir(&dir).unwrap();
    let stamp = stamp(&dir);
    let [first, second] = [b"a", b"b"].map(|body| PartId::of(body));
    let mut early = opened(&dir, "http://a");
    early.delivered_part(CONTENT, stamp, first).unwrap();
    drop(early);
    fs::rename(&dir, &away).unwrap();
    let mut ledger = Ledger::new(&dir, &target("http://a"));
    assert!(ledger.delivered_part(CONTENT, stamp, second).is_err());
    fs::rename(&away, &dir).unwrap();
    ledger.save_all().unwrap();
    drop(ledger);
    let ledger = opened(&dir, "http://a");
    assert!(ledger.has(CONTENT, first) && ledger.has(CONTENT, second));
}

/// Without notes that are there, all would be sent again.
#[test]
fn notes_that_cannot_be_read_are_an_error() {
    type Spoil = fn(&Path);
    let spoils: [(Spoil, &str); 4] = [
        (
            |all| fs::set_permissions(all, Permissions::from_mode(0o777)).unwrap(),
            "other users may write to it",
        ),
        (
            |all| {
                fs::remove_dir_all(all).unwrap();
                symlink("/tmp", all).unwrap();
            },
            "ot a directory",
        ),
        (
            |all| {
                fs::remove_dir_all(all).unwrap();
                fs::write(all, "").unwrap();
            },
            "ot a directory",
        ),
        (
            |all| {
                let server = fs::read_dir(all).unwrap().next().unwrap().unwrap().path();
                fs::write(server.join(CONTENT), "rprof-push 1\n").unwrap();
            },
            "damaged",
        ),
    ];
    for (spoil, said) in spoils {
        let dir = tempfile::tempdir().unwrap();
        drop(opened(dir.path(), "http://a"));
        spoil(&dir.path().join(FOLDER));
        let mut ledger = Ledger::new(dir.path(), &target("http://a"));
        match ledger.open() {
            Err(Error::Notes { source, .. }) => {
                let source = source.to_string();
                assert!(source.contains(said), "{source}");
            }
            other => panic!("{said}: {other:?}"),
        }
        assert!(ledger.delivered(CONTENT, stamp(dir.path())).is_err());
    }
}

#[test]
fn other_files_are_no_notes() {
    let dir = tempfile::tempdir().unwrap();
    drop(opened(dir.path(), "http://a"));
    let folder = own_folder(dir.path(), "http://a");
    fs::write(folder.join("notes"), "x").unwrap();
    fs::write(folder.join(".rprof-0123456789abcdef"), "x").unwrap();
    let ledger = opened(dir.path(), "http://a");
    assert_eq!(ledger.recording(CONTENT), None);
    assert!(folder.join("notes").exists());
    // What a killed run left is gone.
    assert!(!folder.join(".rprof-0123456789abcdef").exists());
}

/// After a reboot a device may have another number.
#[test]
fn notes_on_what_is_there_stay_whatever_its_device() {
    let dir = tempfile::tempdir().unwrap();
    let before = stamp(dir.path());
    let mut ledger = opened(dir.path(), "http://a");
    ledger.delivered(CONTENT, before).unwrap();
    drop(ledger);
    let note = own_folder(dir.path(), "http://a").join(CONTENT);
    let age = |days: u64| {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        let file = File::options().write(true).open(&note).unwrap();
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
    };
    age(8);
    let mut ledger = opened(dir.path(), "http://a");
    let after = FileStamp {
        device: before.device + 1,
        ..before
    };
    ledger.see(after, CONTENT);
    let present = HashSet::from([CONTENT.to_owned()]);
    ledger.clean(&present);
    assert!(ledger.recording(CONTENT).unwrap().is_delivered);
    // It is noted where it is now.
    ledger.save_all().unwrap();
    drop(ledger);
    let mut ledger = opened(dir.path(), "http://a");
    assert_eq!(ledger.content(&after), Some(CONTENT));
    // What is gone is forgotten after a week.
    age(6);
    ledger.clean(&HashSet::new());
    assert!(note.exists());
    age(8);
    ledger.clean(&HashSet::new());
    assert!(!note.exists() && ledger.recording(CONTENT).is_none());
}
