//! Split DWARF: beside the program, where it was compiled, and in packages.

use crate::common::needs;
use crate::find::program::{BUILD_ID, Recorded, compile, printed, tool};

#[test]
fn units_are_found_where_they_were_compiled_and_beside_the_program() {
    // The compiler calls it.
    needs!("objcopy" in "binutils");
    for dwarf in ["-gdwarf-4", "-gdwarf-5"] {
        let Some(one) = Recorded::new(&[BUILD_ID, dwarf], &[]) else {
            return;
        };
        let there = one.path().join("there");
        let args = [BUILD_ID, dwarf, "-gsplit-dwarf"];
        let built = compile(&there, "program", &args);
        let unit = there.join("program-spin.dwo");
        assert!(unit.is_file(), "no .dwo: another compiler?");
        std::fs::copy(&built, &one.program).unwrap();
        // The file itself knows where it was compiled.
        let now = printed(&one.file, &[]);
        assert!(
            now == one.expected,
            "{dwarf} there:\n{now}\n{}",
            one.expected
        );
        let beside = one.path().join("program-spin.dwo");
        std::fs::rename(&unit, &beside).unwrap();
        let now = printed(&one.file, &[]);
        assert!(
            now == one.expected,
            "{dwarf} beside:\n{now}\n{}",
            one.expected
        );
        // Of another build it says nothing.
        compile(&there, "program", &[&args[..], &["-O1"]].concat());
        let now = printed(&one.file, &[]);
        assert!(now == one.expected, "{dwarf} beside, another there:\n{now}");
        std::fs::remove_file(&beside).unwrap();
        let now = printed(&one.file, &[]);
        assert!(
            !now.contains("folded") && now.contains("local_work+"),
            "{now}"
        );
        // None at all is no trouble either.
        std::fs::remove_dir_all(&there).unwrap();
        assert_eq!(printed(&one.file, &[]), now);
    }
}

#[test]
fn packages_have_all_units() {
    needs!("dwp" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID, "-gdwarf-4"], &[]) else {
        return;
    };
    compile(
        one.path(),
        "program",
        &[BUILD_ID, "-gdwarf-4", "-gsplit-dwarf"],
    );
    tool(one.path(), "dwp -e program -o program.dwp");
    std::fs::remove_file(one.path().join("program-spin.dwo")).unwrap();
    one.is_the_same("dwp");
}

/// binutils' `dwp` does not read what gcc writes for DWARF 5.
#[test]
fn packages_of_dwarf_5_have_all_units() {
    needs!(wide, "clang" in "clang", "llvm-dwp" in "llvm");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    let file = one.path().join("clang.data");
    let clang = "clang -O2 -fno-optimize-sibling-calls -gdwarf-5";
    tool(one.path(), &format!("{clang} {BUILD_ID} -o program spin.c"));
    let record = format!(
        "record -q -e cpu-clock -F 1999 -o {} -- {}",
        file.display(),
        one.program.display()
    );
    crate::common::run(&mut crate::common::rprof(record.split(' '))).ok();
    let expected = printed(&file, &[]);
    tool(
        one.path(),
        &format!("{clang} -gsplit-dwarf {BUILD_ID} -o program spin.c"),
    );
    let without = printed(&file, &[]);
    tool(one.path(), "llvm-dwp -e program -o program.dwp");
    for entry in std::fs::read_dir(one.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "dwo") {
            std::fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(printed(&file, &[]), expected);
    std::fs::remove_file(one.path().join("program.dwp")).unwrap();
    assert_ne!(printed(&file, &[]), expected, "{without}");
}
