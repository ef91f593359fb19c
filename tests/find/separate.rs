//! Separate debug files, packed sections, what `dwz` shares, and symbols inside the program.

use crate::common::needs;
use crate::find::program::{
    BUILD_ID, NO_BUILD_ID, OTHER_BUILD_ID, Recorded, compile, of_program, printed, shown, tool,
};

const HEX: (&str, &str) = ("01", "23456789abcdef0123456789abcdef01234567");

#[test]
fn a_debug_file_is_found_by_link_by_build_id_and_by_name() {
    needs!("eu-strip" in "elfutils", "objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    let dir = one.path();
    tool(dir, "eu-strip -f program.debug -o program whole");
    one.is_the_same("eu-strip");
    tool(dir, "objcopy --only-keep-debug whole part");
    tool(
        dir,
        "objcopy --strip-all --add-gnu-debuglink=part whole program",
    );
    one.is_the_same("linked");
    // Below --symfs, as below the root.
    let root = dir.join("root");
    let usual = root.join("usr/lib/debug");
    let by_id = usual.join(".build-id").join(HEX.0);
    let by_name = usual.join(dir.strip_prefix("/").unwrap());
    let here = root.join(dir.strip_prefix("/").unwrap());
    for (debug, stripped) in [
        (by_id.join(format!("{}.debug", HEX.1)), true),
        (by_name.join("program.debug"), true),
        (by_name.join("program.debug"), false),
        (here.join(".debug/program.debug"), false),
    ] {
        std::fs::create_dir_all(debug.parent().unwrap()).unwrap();
        std::fs::create_dir_all(&here).unwrap();
        tool(
            dir,
            &format!("objcopy --only-keep-debug whole {}", debug.display()),
        );
        if stripped {
            let program = here.join("program");
            tool(
                dir,
                &format!("objcopy --strip-all whole {}", program.display()),
            );
        }
        let now = printed(&one.file, &["--symfs", root.to_str().unwrap()]);
        assert_eq!(
            of_program(&now),
            of_program(&one.expected),
            "{}",
            debug.display()
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn a_debug_file_stands_in_for_a_program_that_is_gone() {
    needs!("eu-strip" in "elfutils", "objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    for make in [
        "objcopy --only-keep-debug whole .debug/program.debug",
        "eu-strip -f .debug/program.debug -o rest whole",
    ] {
        one.clear();
        std::fs::create_dir(one.path().join(".debug")).unwrap();
        tool(one.path(), make);
        one.is_the_same(make);
    }
    // Of another program, it is none.
    compile(one.path(), "other", &[OTHER_BUILD_ID]);
    std::fs::create_dir(one.path().join(".debug")).unwrap();
    tool(
        one.path(),
        "objcopy --only-keep-debug other .debug/program.debug",
    );
    let now = printed(&one.file, &[]);
    assert_eq!(of_program(&now), [""; 0]);
}

#[test]
fn without_build_ids_the_checksum_decides() {
    needs!("objcopy" in "binutils");
    let Some(one) = Recorded::new(&[NO_BUILD_ID], &[]) else {
        return;
    };
    // Who says where to look knows: below --symfs no inode is asked for.
    let root = one.path().join("root");
    let here = root.join(one.path().strip_prefix("/").unwrap());
    std::fs::create_dir_all(&here).unwrap();
    let (part, program) = (here.join("part"), here.join("program"));
    tool(
        one.path(),
        &format!("objcopy --only-keep-debug whole {}", part.display()),
    );
    let link = format!("--add-gnu-debuglink={}", part.display());
    let strip = format!("objcopy --strip-all {link} whole {}", program.display());
    tool(one.path(), &strip);
    let symfs = ["--symfs", root.to_str().unwrap()];
    let now = printed(&one.file, &symfs);
    assert_eq!(of_program(&now), of_program(&one.expected));
    let mut bytes = std::fs::read(&part).unwrap();
    bytes.push(0);
    std::fs::write(&part, bytes).unwrap();
    let now = printed(&one.file, &symfs);
    assert_eq!(of_program(&now), [""; 0], "the debug file is another");
}

#[test]
fn packed_sections_are_unpacked() {
    needs!("objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    for how in ["zlib", "zstd", "zlib-gnu"] {
        let line = format!("objcopy --compress-debug-sections={how} whole program");
        tool(one.path(), &line);
        let packed = std::fs::metadata(one.path().join("program")).unwrap().len();
        assert!(
            packed < std::fs::metadata(&one.whole).unwrap().len(),
            "{how}"
        );
        one.is_the_same(how);
    }
}

#[test]
fn what_dwz_moved_to_a_common_file_is_read_there() {
    needs!("dwz" in "dwz");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    for line in [
        "dwz -m common program twin",
        // With the path that the link is to have, from the folder of debug files.
        "dwz -m common -M ../../.dwz/common program twin",
    ] {
        std::fs::copy(&one.whole, one.path().join("program")).unwrap();
        std::fs::copy(&one.whole, one.path().join("twin")).unwrap();
        tool(one.path(), line);
        if line.contains("-M") {
            let root = one.path().join("root");
            let here = root.join(one.path().strip_prefix("/").unwrap());
            let shared = root.join("usr/lib/debug/.dwz");
            std::fs::create_dir_all(&here).unwrap();
            std::fs::create_dir_all(&shared).unwrap();
            std::fs::rename(one.path().join("program"), here.join("program")).unwrap();
            std::fs::rename(one.path().join("common"), shared.join("common")).unwrap();
            let now = printed(&one.file, &["--symfs", root.to_str().unwrap()]);
            assert_eq!(of_program(&now), of_program(&one.expected));
        } else {
            one.is_the_same(line);
        }
    }
}

#[test]
fn symbols_inside_the_program_name_what_others_cannot_call() {
    needs!("xz" in "xz-utils", "objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    let dir = one.path();
    let functions = ["-F", "ip,sym,symoff", "--no-inline"];
    let expected = printed(&one.file, &functions);
    // As rpm does (find-debuginfo): the functions of .symtab, packed, beside .dynsym.
    std::fs::write(dir.join("keep"), "local_work\nwork\nmain\n").unwrap();
    tool(dir, "objcopy --only-keep-debug whole part");
    tool(dir, "objcopy -S --keep-symbols=keep part mini");
    tool(dir, "xz mini");
    tool(dir, "objcopy --strip-all whole program");
    let stripped = printed(&one.file, &functions);
    assert!(!stripped.contains("local_work"), "{stripped}");
    tool(
        dir,
        "objcopy --strip-all --add-section .gnu_debugdata=mini.xz whole program",
    );
    let now = printed(&one.file, &functions);
    assert_eq!(of_program(&now), of_program(&expected));
}

#[test]
fn stacks_are_unwound_with_the_debug_files_frames() {
    needs!(x86_64, "objcopy" in "binutils");
    let args = [
        BUILD_ID,
        "-fno-asynchronous-unwind-tables",
        "-fomit-frame-pointer",
    ];
    let record = ["--call-graph", "dwarf", "--post-unwind"];
    let Some(one) = Recorded::new(&args, &record) else {
        return;
    };
    tool(one.path(), "objcopy --only-keep-debug whole part");
    tool(
        one.path(),
        "objcopy --strip-all --add-gnu-debuglink=part whole program",
    );
    one.is_the_same(".debug_frame");
    let table = shown(&one.file);
    assert!(!table.contains("local_work"), "{table}");
}
