//! Where source files are looked for, and what is said of them.

use super::*;

fn places(settings: &SourceSettings, path: &str) -> Vec<String> {
    let places = settings.places(path).into_iter();
    places
        .map(|place| place.path.display().to_string())
        .collect()
}

#[test]
fn a_prefix_is_replaced_where_a_folder_ends() {
    let settings = SourceSettings {
        replaced: vec![
            ("/rustc/abc".to_owned(), "/usr/src/rust".to_owned()),
            (String::new(), "/home/work".to_owned()),
        ],
        ..SourceSettings::default()
    };
    let rust = "/rustc/abc/library/core/src/lib.rs";
    let found = "/usr/src/rust/library/core/src/lib.rs";
    assert_eq!(places(&settings, rust), [found, rust]);
    assert_eq!(places(&settings, "/rustc/abcd/x.rs"), ["/rustc/abcd/x.rs"]);
    assert_eq!(places(&settings, "src/x.rs"), ["/home/work/src/x.rs"]);
}

#[test]
fn a_relative_path_is_not_looked_for_in_the_working_folder() {
    assert!(places(&SourceSettings::default(), "src/x.rs").is_empty());
}

#[test]
fn prefixes_of_perf_are_put_before_what_is_left_of_a_path() {
    let mut settings = SourceSettings {
        prefix: Some("/new".to_owned()),
        ..SourceSettings::default()
    };
    assert_eq!(places(&settings, "/a/b/c.c"), ["/new/a/b/c.c", "/a/b/c.c"]);
    settings.strip = 1;
    assert_eq!(places(&settings, "/a/b/c.c")[0], "/new/b/c.c");
    settings.strip = 9;
    assert_eq!(places(&settings, "/a/b/c.c")[0], "/new/c.c");
}

#[test]
fn lines_are_printed_and_counted_from_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.c");
    std::fs::write(&path, "\tone\r\n\x1b[2Jtwo\n\nfour").unwrap();
    let path = path.display().to_string();
    let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
    let lines: Vec<Option<String>> = (0..6).map(|line| files.line(&path, line)).collect();
    let lines: Vec<Option<&str>> = lines.iter().map(Option::as_deref).collect();
    let two = "\\x1b[2Jtwo";
    assert_eq!(
        lines,
        [
            None,
            Some("        one"),
            Some(two),
            Some(""),
            Some("four"),
            None
        ]
    );
    assert!(files.end().is_empty());
}

#[test]
fn what_is_not_found_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone.c").display().to_string();
    let folder = dir.path().display().to_string();
    let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
    for path in [&gone, &folder, "rel.c", "x1.c"] {
        assert_eq!(files.line(path, 1), None);
    }
    let notes = files.end();
    assert!(notes[0].contains("not a regular file"), "{notes:?}");
    let said = format!(
        "no source for {gone} and 2 more files: say where it is with --source-prefix FROM=TO"
    );
    assert!(notes[1].starts_with(&said), "{notes:?}");
    assert_eq!(notes.len(), 2);
}

#[test]
fn only_files_that_the_code_has_lines_of_are_said_to_be_newer() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (code, one, other) = (path("code"), path("one.c"), path("other.c"));
    std::fs::write(&code, "").unwrap();
    let built = std::fs::metadata(&code).unwrap().modified().unwrap();
    for source in [&one, &other] {
        std::fs::write(source, "line\n").unwrap();
        let file = std::fs::File::options().write(true).open(source).unwrap();
        let later = built + std::time::Duration::from_secs(60);
        file.set_modified(later).unwrap();
    }
    let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
    files.begin(&code, &[]);
    assert!(files.line(&one, 1).is_some() && files.line(&other, 1).is_some());
    let said = format!("{one} and 1 more file are newer than the file with the code");
    assert!(files.end()[0].starts_with(&said), "{:?}", files.end());
    files.begin(&code, &[]);
    assert!(files.end().is_empty());
    assert!(files.line(&other, 1).is_some());
    let said = format!("{other} is newer than the file with the code: its lines may not match");
    assert_eq!(files.end(), [said]);
}

#[test]
fn what_a_server_sent_is_not_taken_for_other_code() {
    let dir = tempfile::tempdir().unwrap();
    let sent = dir.path().join("sent");
    std::fs::write(&sent, "line\n").unwrap();
    let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
    let copy = sent.clone();
    files.fetch_with(Some(Box::new(move |_| Some(copy.clone()))));
    assert_eq!(files.line("/none/a.c", 1).unwrap(), "line");
    files.fetch_with(None);
    files.begin("/none/other", &[]);
    assert_eq!(files.line("/none/a.c", 1), None);
}

#[test]
fn a_path_that_leads_out_of_the_folder_that_the_user_names_is_not_the_users() {
    let settings = SourceSettings {
        symfs: Some("/sysroot".into()),
        replaced: vec![("/build".to_owned(), "/src".to_owned())],
        prefix: Some("/new".to_owned()),
        ..SourceSettings::default()
    };
    let named = |path: &str| -> Vec<String> {
        let places = settings.places(path).into_iter();
        let users = places.filter(|place| place.named_by == NamedBy::User);
        users
            .map(|place| place.path.display().to_string())
            .collect()
    };
    let inside = named("/build/a/../b.c");
    assert_eq!(inside, ["/src/b.c", "/new/build/b.c", "/sysroot/build/b.c"]);
    let outside = named("/build/../../etc/shadow");
    assert_eq!(outside, Vec::<String>::new());
    assert!(
        settings
            .places("/build/../etc/shadow")
            .contains(&SourcePath::of_code("/build/../etc/shadow"))
    );
}

#[test]
fn what_one_author_may_read_is_not_shown_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.c");
    std::fs::write(&path, "line\n").unwrap();
    let path = path.display().to_string();
    let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
    files.begin("/none", &[Author::Root]);
    assert_eq!(files.line(&path, 1).as_deref(), Some("line"));
    std::fs::write(&path, "other\n").unwrap();
    files.begin("/none", &[Author::Root]);
    assert_eq!(files.line(&path, 1).as_deref(), Some("line"), "read once");
    files.begin("/none", &[Author::User(1)]);
    assert_ne!(files.line(&path, 1).as_deref(), Some("line"));
}
