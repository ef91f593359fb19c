//! What binutils answer, to names beside this file and to those of libraries that are here.

use super::super::Demangling;
use super::super::bounded::LONGEST;
use proptest::prelude::*;
use rprof_images::{Elf, SymbolTable};
use rprof_untrusted::Budget;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names, and what `c++filt --no-verbose` and `c++filt --no-verbose --no-params` answer.
const ANSWERS: &str = include_str!("answers.tsv");

fn answers() -> impl Iterator<Item = [&'static str; 3]> {
    ANSWERS.lines().map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        columns.try_into().unwrap()
    })
}

#[test]
fn names_read_as_binutils_have_them() {
    for [mangled, full, short] in answers() {
        assert_eq!(Demangling::Full.of(mangled.as_bytes()), full, "{mangled}");
        assert_eq!(Demangling::Short.of(mangled.as_bytes()), short, "{mangled}");
    }
}

#[test]
fn names_of_clones_are_those_of_functions() {
    for suffix in [
        ".cold",
        ".isra.0",
        ".part.0",
        ".constprop.0",
        ".llvm.123",
        ".isra.0.cold",
        "@VERSION_1",
        "@@VERSION_1",
    ] {
        for (mangled, expected) in [("_Z1fi", "f(int)"), ("_ZZ1fvE1x", "f()::x")] {
            let clone = format!("{mangled}{suffix}");
            assert_eq!(Demangling::Full.of(clone.as_bytes()), expected, "{clone}");
        }
    }
}

#[test]
fn dots_and_letters_of_any_alphabet_can_be_in_names() {
    let frame = "_Z10coro_heavyPZ10coro_heavyvE21_Z10coro_heavyv.Frame";
    for suffix in [".actor", ".destroy", ".actor.cold", ""] {
        let name = format!("{frame}{suffix}");
        let full = "coro_heavy(coro_heavy()::_Z10coro_heavyv.Frame*)";
        assert_eq!(Demangling::Full.of(name.as_bytes()), full);
        assert_eq!(Demangling::Short.of(name.as_bytes()), "coro_heavy");
    }
    let name = "_ZN7größe5größeE3übi".replace("größeE3", "größeE4");
    assert_eq!(Demangling::Full.of(name.as_bytes()), name);
    let name = "_ZN7größe4überEi";
    assert_eq!(Demangling::Full.of(name.as_bytes()), name);
    let name = "_ZN7größe5überEi";
    assert_eq!(Demangling::Full.of(name.as_bytes()), "größe::über(int)");
    // Ends inside a letter.
    assert_eq!(Demangling::Full.of("_Z3grö".as_bytes()), "_Z3grö");
}

#[test]
fn what_is_no_name_stays_as_it_is() {
    for name in [
        "_Z",
        "_Z1",
        "_Z0",
        "_Z9f",
        "_ZN",
        "_ZNE",
        "_ZN1f",
        "_ZS_",
        "_ZSt",
        "_Z1fS_",
        "_Z1fvv",
        "_Z1fiv$",
        "_Z1fDO",
        "_Z99999999999999999999f",
        "_Z1fS99999999999999999_",
        "_ZC1v",
        "_ZTh8N1A1fEv",
        "_ZZ1fvE1x__1",
        "_Z1fILi1",
        "_Z1fIXplLi1EEEvv",
    ] {
        assert_eq!(Demangling::Full.of(name.as_bytes()), name);
        assert_eq!(Demangling::Short.of(name.as_bytes()), name);
    }
}

#[test]
fn packs_are_not_looked_for_without_end() {
    // Each type has the one before it twice, and no pack is in any of them.
    let mut types = String::from("1AIiiE");
    let digits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for digit in digits.chars() {
        types.push_str(&format!("S0_IS{digit}_S{digit}_E"));
    }
    let mangled = format!("_Z1fIiEv{types}DpSZ_");
    let cut = Demangling::Full.of(mangled.as_bytes());
    assert!(cut.len() == LONGEST + 3 && cut.starts_with("void f<int>(A<int, int>, A<A<"));
    // Where nothing is shown before.
    let mangled = format!("_Z1fIiEDTsZ1gI{types}EEv");
    assert_eq!(Demangling::Full.of(mangled.as_bytes()), mangled);
}

/// Names in libraries below `/usr/lib`, of shared objects that begin so.
fn names_here(begins: &[&str]) -> BTreeSet<String> {
    let libraries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut names = BTreeSet::new();
    let folders = libraries(Path::new("/usr/lib"));
    let files = folders
        .iter()
        .filter(|path| path.is_dir())
        .flat_map(|path| libraries(path));
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(".so") || !begins.iter().any(|begin| name.starts_with(begin)) {
            continue;
        }
        let Ok(elf) = Elf::open(&file, &Budget::default()) else {
            continue;
        };
        for table in [SymbolTable::Static, SymbolTable::Dynamic] {
            let _ = elf.for_each_symbol(table, |symbol| {
                let name = String::from_utf8_lossy(symbol.name);
                let is_plain = name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
                if name.starts_with("_Z") && is_plain {
                    names.insert(name.into_owned());
                }
            });
        }
    }
    names
}

/// What binutils answer; `None` where they are not installed.
fn filtered(names: &BTreeSet<String>, options: &[&str]) -> Option<Vec<String>> {
    let mut filter = Command::new("c++filt")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = filter.stdin.take()?;
    let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
    let written = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = filter.wait_with_output().ok()?;
    written.join().ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn names_of_libraries_read_as_binutils_have_them() {
    let names = names_here(&[
        "libstdc++",
        "libicu",
        "libclang-cpp",
        "libboost",
        "libgtest",
        "libabsl",
    ]);
    for (form, options) in [
        (Demangling::Full, &["--no-verbose"][..]),
        (Demangling::Short, &["--no-verbose", "--no-params"][..]),
    ] {
        let Some(answers) = filtered(&names, options) else {
            return;
        };
        assert_eq!(answers.len(), names.len());
        let differ = names.iter().zip(&answers).filter(|(name, answer)| {
            // Clones are not told apart, and what is not read is no answer.
            let answer = answer
                .split_once(" [clone ")
                .map_or(answer.as_str(), |(name, _)| name);
            answer != name.as_str()
                && form.of(name.as_bytes()) != super::super::cut(answer.to_owned())
        });
        let differ: Vec<_> = differ.collect();
        assert!(
            differ.len() <= names.len() / 1000,
            "{} of {}: {differ:#?}",
            differ.len(),
            names.len()
        );
    }
}

proptest! {
    #[test]
    fn damaged_names_are_no_trouble(
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), 0..4, 0x21u8..0x7f), 1..6),
    ) {
        let names: Vec<_> = answers().map(|[name, ..]| name).collect();
        let mut name = which.get(&names).as_bytes().to_vec();
        let other = other.get(&names).as_bytes();
        for (place, what, byte) in places {
            let at = place.index(name.len());
            match what {
                0 => name[at] = byte,
                1 => name.insert(at, byte),
                2 => drop(name.remove(at)),
                _ => drop(name.splice(at..at, other[place.index(other.len())..].iter().copied())),
            }
            if name.is_empty() {
                name.push(byte);
            }
            for form in [Demangling::Full, Demangling::Short] {
                let shown = form.of(&name);
                prop_assert!(!shown.is_empty() && shown.len() <= LONGEST + 3);
            }
        }
    }
}
