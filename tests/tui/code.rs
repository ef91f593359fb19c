//! Code of functions that are called alike, and of the samples that a zoom leaves.

use crate::common::{FRAME_POINTERS, compile, needs, run, scratch, tool};
use crate::tui::terminal::Terminal;
use std::path::Path;

/// `twin` of the library, and a `both` that two threads run.
const LIBRARY: &str = r#"
    static volatile long sink;
    static __attribute__((noinline)) void twin(void) { WORK(100, sink += i) }
    void both(void) { WORK(100, sink ^= i) }
    void in_library(void) { twin(); both(); }
"#;

/// Another `twin`.
const PROGRAM: &str = r#"
    #include <pthread.h>
    #include <stddef.h>
    static volatile long sink;
    void both(void);
    void in_library(void);
    static __attribute__((noinline)) void twin(void) { WORK(200, sink -= i) }
    static void *alpha(void *none) { pthread_setname_np(pthread_self(), "alpha"); twin(); both(); both(); return none; }
    static void *beta(void *none) { pthread_setname_np(pthread_self(), "beta"); in_library(); return none; }
    int main(void) {
        pthread_t one, other;
        pthread_create(&one, NULL, alpha, NULL); pthread_create(&other, NULL, beta, NULL);
        pthread_join(one, NULL); pthread_join(other, NULL);
        return 0;
    }
"#;

/// Records it, with two events.
fn record(dir: &Path) -> Option<()> {
    needs!(cc);
    needs!(live);
    let library = dir.join("libtwin.so");
    let options = [FRAME_POINTERS, &["-fPIC", "-shared"]].concat();
    compile(&library, LIBRARY, &options);
    let library = library.to_str().unwrap();
    let options = [FRAME_POINTERS, &[library, "-Wl,-rpath,$ORIGIN"]].concat();
    compile(&dir.join("program"), PROGRAM, &options);
    let mut rprof = tool(env!("CARGO_BIN_EXE_rprof"));
    rprof.args([
        "record",
        "-q",
        "-F",
        "1999",
        "-e",
        "cpu-clock:u,task-clock:u",
    ]);
    rprof.args(["-o", "perf.data", "--", "./program"]);
    run(rprof.current_dir(dir)).ok();
    Some(())
}

/// What `rprof annotate` says.
fn annotated(dir: &Path, args: &[&str]) -> String {
    let mut rprof = tool(env!("CARGO_BIN_EXE_rprof"));
    rprof.arg("annotate").args(args).current_dir(dir);
    run(&mut rprof).ok().stdout
}

#[test]
fn code_is_of_the_image_and_the_threads_that_are_selected() {
    let dir = scratch();
    if record(dir.path()).is_none() {
        return;
    }
    let script = format!(
        "cd {}; {} tui --no-children -s comm,dso,sym; echo exit $?",
        dir.path().display(),
        env!("CARGO_BIN_EXE_rprof")
    );
    let Some(terminal) = Terminal::start((120, 40), &script) else {
        return;
    };
    terminal.wait("? keys");
    let code = |keys: &[&str]| {
        terminal.press(keys);
        terminal.wait("next hottest line");
        terminal.press(&["Home"]);
        let page = terminal.wait("% of all");
        terminal.press(&["Escape"]);
        terminal.wait("? keys");
        page
    };
    terminal.press(&["/", "/^twin$/", "Enter"]);
    terminal.wait("/^twin$/: 2 rows");
    // Of threads of one time each, the one in the program has more samples.
    for (keys, image, file) in [
        (&["Home", "a"][..], "program", "program.c"),
        (&["Down", "a"], "libtwin.so", "libtwin.c"),
    ] {
        let page = code(keys);
        let title = page.lines().next().unwrap_or_default().trim();
        assert_eq!(title, format!("twin  {image}"));
        assert!(page.contains(file), "{page}");
    }
    terminal.press(&["/", "C-u", "/^both$/", "Enter"]);
    terminal.wait("/^both$/: 2 rows");
    for (keys, comm) in [
        (&["Home", "t", "a"][..], "alpha"),
        (&["t", "Down", "t", "a"], "beta"),
    ] {
        let page = code(keys);
        // Of both events, where the interface shows one.
        let listing = annotated(dir.path(), &["--comms", comm, "both"]);
        let heading = page.lines().find(|line| line.contains("% of all")).unwrap();
        assert!(
            listing.contains(&format!("(1) {}\n", heading.trim())),
            "{page}\n{listing}"
        );
    }
    // Stacks without a function cannot be asked of code.
    terminal.press(&["t", "f", "!in_library", "Enter"]);
    let has_row = |screen: &str| {
        screen.contains("stacks without function in_library\n") && screen.contains(" both\n")
    };
    terminal.wait_until("the row of alpha", has_row);
    let page = code(&["Home", "a"]);
    let title = page.lines().next().unwrap_or_default().trim();
    assert_eq!(title, "both  libtwin.so  (all samples, ignoring zooms)");
    // Stacks with a function, and most of the time: shares are those of the row.
    let frames = ["f", "in_library", "Enter"];
    let to_the_end = [&["4", "Right", "Space"][..], &["Right"; 120]].concat();
    let times = [&to_the_end[..], &["Left", "Enter", "1"]].concat();
    for (keys, zoom) in [
        (&frames[..], "stacks with function in_library\n"),
        (&times, "stacks with function in_library, "),
    ] {
        terminal.press(keys);
        let has_row = |screen: &str| {
            screen.contains(zoom) && screen.contains(" both\n") && screen.contains("? keys")
        };
        let screen = terminal.wait_until("the row", has_row);
        terminal.press(&["Home"]);
        let row = screen.lines().find(|line| line.contains(" both")).unwrap();
        let share = row
            .split_whitespace()
            .find(|word| word.ends_with('%'))
            .unwrap();
        let page = code(&["a"]);
        assert!(page.starts_with(" both  libtwin.so\n"), "{page}");
        assert!(
            page.contains(&format!(", {share} of all\n")),
            "{screen}\n{page}"
        );
    }
}

#[test]
fn code_is_shown_of_what_is_recorded_while_it_is() {
    needs!(cc, live);
    let dir = scratch();
    let source = "static volatile long sink; \
        static __attribute__((noinline)) void spinning(void) { WORK(600000, sink += i) } \
        int main(void) { spinning(); return 0; }";
    compile(&dir.path().join("program"), source, FRAME_POINTERS);
    let script = format!(
        "cd {}; {} top -e cpu-clock:u -F 999 -d 0.1 --window all --no-children -s sym -- ./program; echo exit $?",
        dir.path().display(),
        env!("CARGO_BIN_EXE_rprof")
    );
    let Some(terminal) = Terminal::start((120, 40), &script) else {
        return;
    };
    let has_most = |screen: &str| {
        screen
            .lines()
            .nth(3)
            .is_some_and(|row| row.contains("spinning"))
    };
    terminal.wait_until("the function", has_most);
    terminal.press(&["Home", "a"]);
    terminal.wait("next hottest line");
    terminal.press(&["Home"]);
    let page = terminal.wait("% of all");
    assert!(page.starts_with(" spinning  program\n"), "{page}");
    assert!(page.contains("program.c:"), "{page}");
    terminal.press(&["Escape"]);
    terminal.wait_until("the function", has_most);
    terminal.press(&["q"]);
    terminal.wait("exit ");
}
