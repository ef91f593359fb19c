//! Code that changes while it is recorded: libraries that take each other's place, code made at
//! run time, files that are replaced or damaged.

use crate::common::{NO_FRAME_POINTERS, Recording, am_root, compile, needs, rprof, run, scratch};
use crate::stacks::samples::{Frame, SPIN, library, program};

#[test]
fn libraries_at_the_same_address_are_told_apart() {
    let source = r#"
        #include <dlfcn.h>
        #include <stdlib.h>
        static void *place;
        static void call(const char *path, const char *name) {
            void *library = dlopen(path, RTLD_NOW);
            void (*enter)(void) = (void (*)(void))dlsym(library, name);
            Dl_info info;
            if (!enter || !dladdr((void *)enter, &info)) exit(3);
            if (place && place != info.dli_fbase) exit(4);
            place = info.dli_fbase;
            enter();
            dlclose(library);
        }
        NOINLINE void phase_one(const char *path) { call(path, "enter_one"); sink++; }
        NOINLINE void phase_two(const char *path) { call(path, "enter_two"); sink++; }
        int main(int argc, char **argv) {
            for (int i = 0; i < 6; i++) { phase_one(argv[1]); phase_two(argv[2]); }
            return argc > 99;
        }"#;
    let Some(program) = program(source) else {
        return;
    };
    // Alike but for the frames' sizes: the rules of one are of no use to the other.
    let made = |which: &str, pad: u32| {
        let path = program.file(&format!("lib{which}.so"));
        let source = format!(
            "static volatile unsigned long sink;
            __attribute__((noinline)) static void spin_{which}(void) {{ volatile char room[{pad}]; room[0] = 1; WORK(50, sink += room[0]) }}
            void enter_{which}(void) {{ volatile char room[{pad}]; room[0] = 1; spin_{which}(); sink += room[0]; }}"
        );
        library(&path, &source);
        path.to_str().unwrap().to_owned()
    };
    let paths = [made("one", 700), made("two", 3000)];
    let recording = program.record(&["-F", "999"], &[&paths[0], &paths[1]]);
    let mut counts = [0; 2];
    for sample in recording.samples() {
        let both = ["one", "two"].into_iter().zip(&paths);
        for ((which, path), count) in both.zip(&mut counts) {
            if !sample.has(&format!("phase_{which}")) {
                continue;
            }
            let names = sample.names();
            if sample.is_excused(&recording) {
                continue;
            }
            assert!(sample.is_whole() && sample.has("main"), "{sample:#?}");
            if names[0].starts_with("spin_") {
                let expected = [format!("spin_{which}"), format!("enter_{which}")];
                assert_eq!(names[..2], expected, "{sample:#?}");
                assert_eq!(
                    sample.frames[sample.frames.len() - names.len()].image,
                    *path
                );
                *count += 1;
            }
        }
        let is_known = sample.has("phase_one") || sample.has("phase_two");
        assert!(
            is_known
                || sample.is_excused(&recording)
                || !sample.names().join(" ").contains("spin_"),
            "{sample:#?}"
        );
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn code_made_at_run_time_without_frame_pointers_is_left_by_its_own_instructions() {
    needs!(x86_64);
    let source = r"
        #include <string.h>
        #include <sys/mman.h>
        typedef void any(void);
        static any *page[2];
        NOINLINE void leaf(void) { spin(300); sink++; }
        NOINLINE void middle(void) { ((void (*)(any *))page[1])(leaf); sink++; }
        int main(void) {
            /* As Python's: sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
            static const unsigned char first[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
            /* push %rbx; push %rbp; sub $24, %rsp; xor %ebp, %ebp; call *%rdi; add $24, %rsp; pop %rbp; pop %rbx; ret */
            static const unsigned char second[] = {0x53, 0x55, 0x48, 0x83, 0xec, 24, 0x31, 0xed, 0xff, 0xd7,
                                                   0x48, 0x83, 0xc4, 24, 0x5d, 0x5b, 0xc3};
            char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            page[0] = (any *)memcpy(code, first, sizeof first);
            page[1] = (any *)memcpy(code + 64, second, sizeof second);
            ((void (*)(any *))page[0])(middle);
            sink++;
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
    for sample in recording.samples_in("spin") {
        if sample.is_excused(&recording) {
            continue;
        }
        assert!(sample.is_whole(), "{sample:#?}");
        let names = sample.names();
        let expected = ["spin", "leaf", "[unknown]", "middle", "[unknown]", "main"];
        assert_eq!(names[..6], expected, "{sample:#?}");
    }
}

#[test]
fn code_made_at_run_time_has_its_caller_before_it_has_a_frame_pointer() {
    needs!(x86_64);
    let source = r"
        #include <string.h>
        #include <sys/mman.h>
        static char *page;
        NOINLINE void middle(void) {
            for (long end = CPU_US() + 300000; CPU_US() < end;)
                for (int i = 0; i < 50000; i++) ((void (*)(volatile unsigned long *))page)(&sink);
        }
        int main(void) {
            /* push %rbp; mov %rsp, %rbp; pop %rbp; ret */
            static const unsigned char frame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3};
            page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            /* mov (%rdi), %rax */
            for (int i = 0; i < 15; i++) memcpy(page + 3 * i, (char[]){0x48, (char)0x8b, 7}, 3);
            memcpy(page + 45, frame, sizeof frame);
            middle();
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "1999"], &[]);
    let mut n_inside = 0;
    for sample in recording.samples() {
        let names = sample.names();
        let is_inside = sample
            .user()
            .next()
            .is_some_and(|frame| frame.image.contains("/perf-"));
        if is_inside && !sample.is_excused(&recording) {
            assert!(sample.is_whole(), "{sample:#?}");
            assert_eq!(names[1..3], ["middle", "main"], "{sample:#?}");
            n_inside += 1;
        }
    }
    assert!(n_inside > 20, "{n_inside}");
}

#[test]
fn code_made_at_run_time_is_followed_to_main() {
    needs!(x86_64);
    let source = r"
        #include <string.h>
        #include <sys/mman.h>
        NOINLINE void leaf(void) { spin(300); sink++; }
        int main(void) {
            /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
            static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
            void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(page, code, sizeof code);
            ((void (*)(void (*)(void)))page)(leaf);
            sink++;
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
    for sample in recording.samples_in("spin") {
        if sample.is_excused(&recording) {
            continue;
        }
        assert!(sample.is_whole(), "{sample:#?}");
        let names = sample.names();
        assert_eq!(
            (names[1], names[2], names[3]),
            ("leaf", "[unknown]", "main")
        );
        assert!(
            sample.user().nth(2).unwrap().image.contains("/perf-"),
            "{sample:#?}"
        );
    }
}

#[test]
fn javascript_is_followed_through_code_that_nothing_describes() {
    needs!(live, "node" in "nodejs");
    let dir = scratch();
    let script =
        "function busy(n) { let s = 0; for (let i = 0; i < n; i++) s += (i * 31) % 7; return s; }
        let t = 0; while (process.cpuUsage().user < 700000) t += busy(1e5); console.log(t);";
    let file = dir.path().join("perf.data");
    let mut rprof = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    let ran = run(rprof.arg(&file).args(["node", "-e", script])).ok();
    let recording = Recording::new(file, ran);
    let mut n_through = 0;
    for sample in recording.samples() {
        let frames: Vec<_> = sample.user().collect();
        if !sample.is_whole() || frames.is_empty() {
            continue;
        }
        let unmapped = frames.iter().find(|frame| frame.image == "[unknown]");
        assert!(unmapped.is_none() || frames.len() == 1, "{sample:#?}");
        if frames.iter().any(|frame| frame.image.contains("/perf-")) {
            assert!(sample.has("_start"), "{sample:#?}");
            n_through += 1;
        }
    }
    let ends = recording.ends();
    assert!(
        n_through > 20 && ends.complete > ends.others,
        "{n_through} {ends:?}"
    );
}

/// A program that spins in a function of a library which, by then, it has done something to.
fn spinning_in_a_library(what: &str) -> String {
    format!(
        r#"
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <unistd.h>
        NOINLINE void outer(void (*enter)(void)) {{ enter(); sink++; }}
        int main(int argc, char **argv) {{
            void *library = dlopen(argv[1], RTLD_NOW);
            void (*enter)(void) = (void (*)(void))dlsym(library, "enter");
            if (!enter) return 3;
            if ({what}) return 4;
            outer(enter);
            return argc > 99;
        }}"#
    )
}

/// Such a library.
fn spinning(function: &str, pad: u32) -> String {
    format!(
        "static volatile unsigned long sink;
        __attribute__((noinline)) static void {function}(void) {{ WORK(300, sink += i) }}
        void enter(void) {{ volatile char room[{pad}]; room[0] = 1; {function}(); sink += room[0]; }}"
    )
}

#[test]
fn files_that_are_replaced_removed_or_cut_give_no_wrong_names() {
    // Behind its first pages, which are mapped, a library has its names.
    let cases = [
        ("replaced", "rename(argv[2], argv[1])"),
        ("removed", "unlink(argv[1])"),
        ("cut", "truncate(argv[1], 0x3100)"),
    ];
    for (case, what) in cases {
        let Some(program) = program(&spinning_in_a_library(what)) else {
            return;
        };
        let (here, other) = (program.file("here.so"), program.file("other.so"));
        library(&here, &spinning("spin_here", 100));
        library(&other, &spinning("spin_other", 5000));
        let paths = [here.to_str().unwrap(), other.to_str().unwrap()];
        let recording = program.record(&["-F", "999"], &paths);
        let mut n_inside = 0;
        for sample in recording.samples() {
            let frames: Vec<_> = sample.user().collect();
            let is_inside = |frame: &&&Frame| frame.image.ends_with("here.so");
            let n_frames = frames.iter().take_while(is_inside).count();
            if n_frames == 0 {
                continue;
            }
            n_inside += 1;
            let names = sample.names();
            let mut expected = ["spin_here", "enter"].iter();
            for name in &names[..n_frames] {
                let is_right = *name == "[unknown]" || expected.any(|right| right == name);
                assert!(is_right, "{case}: {sample:#?}");
            }
            // A stack that is said to be whole has all callers.
            if sample.is_whole() {
                assert_eq!(
                    names[n_frames..n_frames + 2],
                    ["outer", "main"],
                    "{case}: {sample:#?}"
                );
            }
        }
        let ends = recording.ends();
        if case != "cut" && am_root() {
            // Root gets at them for as long as they are mapped.
            assert!(ends.complete > ends.others, "{case}: {ends:?}");
        }
        assert!(n_inside > 20, "{case}: {n_inside}");
    }
}

#[test]
fn a_program_that_was_replaced_is_unwound_and_not_named() {
    let source = r"
        #include <stdio.h>
        NOINLINE void outer(void) { spin(300); sink++; }
        int main(int argc, char **argv) { if (rename(argv[1], argv[0])) return 3; outer(); return argc > 99; }";
    let Some(program) = program(source) else {
        return;
    };
    let other = program.file("other");
    let source = SPIN.replace("spin", "wrong") + "int main(void) { wrong(5); return 0; }";
    compile(&other, &source, NO_FRAME_POINTERS);
    let recording = program.record(&["-F", "999"], &[other.to_str().unwrap()]);
    let samples = recording.samples();
    assert!(samples.len() > 20);
    for sample in samples {
        assert!(!sample.has("wrong"), "{sample:#?}");
        let in_program = sample
            .user()
            .filter(|frame| frame.image.ends_with("/program"));
        let mut names = in_program.map(|frame| frame.name.as_str());
        let right = ["spin", "outer", "main", "_start", "[unknown]"];
        assert!(names.all(|name| right.contains(&name)), "{sample:#?}");
    }
    // What is executed is there as long as it runs, and there alone.
    let ends = recording.ends();
    assert!(ends.complete > ends.others, "{ends:?}");
}
