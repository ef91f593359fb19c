//! Small crates, written out.

use std::path::Path;

use super::Modules;
use crate::files::File;

fn modules(files: &[(&str, &str)]) -> Modules {
    let file = |&(path, text): &(&str, &str)| File {
        path: Path::new("crates/a/src").join(path),
        len_bytes: text.len(),
        text: Some(text.to_owned()),
    };
    let files: Vec<File> = files.iter().map(file).collect();
    Modules::of(&files, Path::new("crates/a/src")).unwrap()
}

/// All imports, as `from -> to`.
fn imports(files: &[(&str, &str)]) -> Vec<String> {
    let modules = modules(files);
    let imports = modules.imports().into_iter();
    let said = imports.map(|one| format!("{} -> {}", modules.name(one.from), modules.name(one.to)));
    said.collect()
}

#[test]
fn names_lead_to_where_they_are_made() {
    let root = ("lib.rs", "mod b;\nmod c;\npub use b::B;\npub struct Own;");
    let thing = ("b/thing.rs", "pub struct B;\npub fn make() {}");
    let facade = ("b/mod.rs", "mod thing;\npub use thing::{B, make as made};");
    for user in [
        "use crate::B;",
        "use super::B as C;",
        "use crate::b::{self, B};",
        "fn f() { crate::b::made(); }",
        "use super::{\n    b,\n};\nfn f() -> b::B {}",
        "use crate::b::*;\nstruct A(B);",
        "use super::*;\nstruct A(B);",
    ] {
        let found = imports(&[root, facade, thing, ("c.rs", user)]);
        assert_eq!(found, ["c -> b::thing"], "{user}");
    }
    let found = imports(&[root, facade, thing, ("c.rs", "use super::Own;")]);
    assert_eq!(found, ["c -> crate"]);
}

#[test]
fn what_is_passed_on_counts_where_it_is_used_too() {
    let child = ("b.rs", "pub struct B;\npub fn count() {}");
    let passed_on = "mod b;\npub use b::{B, count};\n";
    let found = imports(&[("lib.rs", passed_on), child]);
    assert_eq!(found, [""; 0]);
    for use_of_it in ["fn f(b: B) {}", "fn f() { count(); }"] {
        let found = imports(&[("lib.rs", &format!("{passed_on}{use_of_it}")), child]);
        assert_eq!(found, ["crate -> b"], "{use_of_it}");
    }
    let unlike = format!("{passed_on}fn f(count: u32) {{ self.count(count); }}");
    assert_eq!(imports(&[("lib.rs", &unlike), child]), [""; 0]);
}

#[test]
fn tests_strings_comments_and_other_crates_import_nothing() {
    let root = "mod b;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse b::B;\nuse std::fmt;\n\
                // crate::b::B\nconst A: &str = \"crate::b::B\";\n\
                #[cfg(test)]\nmod more {\n    use crate::b::B;\n    fn f() {}\n}\nstruct A;";
    let files = [
        ("lib.rs", root),
        ("b.rs", "pub struct B;"),
        ("tests.rs", "use crate::b::B;"),
        ("tests/deep.rs", "use crate::b::B;"),
    ];
    assert_eq!(imports(&files), [""; 0]);
}

#[test]
fn items_made_by_macros_are_in_their_module() {
    let files = [
        ("main.rs", "mod b;\npub use b::Made;\nmod c;"),
        ("b.rs", "make! { pub struct Made; }"),
        ("c.rs", "use crate::Made;"),
    ];
    assert_eq!(imports(&files), ["c -> b"]);
}

#[test]
fn lines_are_those_of_the_first_use() {
    let files = [
        ("lib.rs", "mod b;\n\nuse b::{\n    A,\n    B,\n};"),
        ("b.rs", "pub struct B;"),
    ];
    let lines: Vec<usize> = modules(&files)
        .imports()
        .iter()
        .map(|one| one.line)
        .collect();
    assert_eq!(lines, [4]);
}

#[test]
fn public_types_are_those_that_other_crates_see() {
    let root = "mod b;\npub mod c;\npub use b::{A, B as C, MOST, make};\npub(crate) use b::D;\n\
                pub use other::E;\npub enum F {}\npub(crate) struct G;\nstruct H;";
    let files = [
        ("lib.rs", root),
        ("b.rs", "pub struct A; pub struct B; pub struct D;"),
        (
            "c/mod.rs",
            "pub mod inner;\nmod hidden;\npub use hidden::I;\npub struct J;",
        ),
        ("c/inner.rs", "pub trait K {}\npub(crate) struct L;"),
        (
            "c/hidden.rs",
            "pub struct I; pub struct M;\npub mod deeper;",
        ),
        ("c/hidden/deeper.rs", "pub struct N;"),
    ];
    let modules = modules(&files);
    let types = modules.public_types();
    let names: Vec<&str> = types.iter().map(|one| one.name).collect();
    assert_eq!(names, ["F", "A", "C", "J", "I", "K"]);
    assert_eq!(types[4].file, Path::new("crates/a/src/c/mod.rs"));
    assert_eq!(types[4].line, 3);
}
