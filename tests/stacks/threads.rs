//! Stacks of signal handlers and of threads.

use crate::common::live;
use crate::recording::{program, record};
use std::collections::BTreeSet;

const SIGNALS: &str = r"
    #include <signal.h>
    #include <stdlib.h>
    static char other[1 << 16];
    NOINLINE void handler(int signal) { spin(300); sink += signal; }
    NOINLINE void work(void) { raise(SIGUSR1); sink++; }
    int main(int argc, char **argv) {
        stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
        struct sigaction action = { .sa_handler = handler };
        if (argc > 1) { sigaltstack(&stack, 0); action.sa_flags = SA_ONSTACK; }
        sigaction(SIGUSR1, &action, 0);
        work();
        return 0;
    }";

#[test]
fn stacks_go_through_signal_handlers_to_main() {
    let Some(_live) = live("stacks_go_through_signal_handlers_to_main") else {
        return;
    };
    let Some(dir) = program("stacks_go_through_signal_handlers_to_main", SIGNALS) else {
        return;
    };
    let recording = record(&dir, &["-F", "999"], &[]);
    for sample in recording.samples_in("spin") {
        if sample.is_excused(&recording) {
            continue;
        }
        assert!(sample.is_whole(), "{sample:#?}");
        let names = sample.names();
        assert_eq!(names[..2], ["spin", "handler"], "{sample:#?}");
        let work = names.iter().position(|&name| name == "work");
        assert_eq!(names[work.unwrap() + 1], "main", "{sample:#?}");
        assert_eq!(names.last(), Some(&"_start"), "{sample:#?}");
    }
}

#[test]
fn stacks_of_handlers_with_a_stack_of_their_own_end_there_and_say_so() {
    let test = "stacks_of_handlers_with_a_stack_of_their_own_end_there_and_say_so";
    let Some(_live) = live(test) else {
        return;
    };
    let Some(dir) = program(test, SIGNALS) else {
        return;
    };
    let recording = record(&dir, &["-F", "999"], &["other"]);
    for sample in recording.samples_in("spin") {
        if sample.is_excused(&recording) {
            continue;
        }
        assert_eq!(sample.names()[..2], ["spin", "handler"], "{sample:#?}");
        assert!(!sample.has("main"), "{sample:#?}");
        assert_eq!(sample.end.as_deref(), Some("off-stack"), "{sample:#?}");
    }
}

#[test]
fn each_of_many_threads_has_its_own_root() {
    let Some(_live) = live("each_of_many_threads_has_its_own_root") else {
        return;
    };
    let source = r"
        #include <pthread.h>
        NOINLINE void work(void) { spin(10); sink++; }
        static void *begin(void *unused) { work(); sink++; return unused; }
        int main(void) {
            pthread_t threads[64];
            for (int i = 0; i < 64; i++) pthread_create(&threads[i], 0, begin, 0);
            for (int i = 0; i < 64; i++) pthread_join(threads[i], 0);
            return 0;
        }";
    let Some(dir) = program("each_of_many_threads_has_its_own_root", source) else {
        return;
    };
    let recording = record(&dir, &["-F", "4000"], &[]);
    let mut threads = BTreeSet::new();
    for sample in recording.samples_in("spin") {
        threads.insert(sample.tid);
        if sample.is_excused(&recording) {
            continue;
        }
        assert!(sample.is_whole(), "{sample:#?}");
        let names = sample.names();
        assert_eq!(names[..3], ["spin", "work", "begin"], "{sample:#?}");
        let root = names.last().unwrap();
        // A C library without debug files has no name for it.
        let roots = ["clone3", "__clone3", "__clone", "[unknown]"];
        let image = sample.user().last().map(|frame| frame.image.as_str());
        assert!(roots.contains(root), "{sample:#?}");
        assert!(
            image.is_some_and(|image| image.contains("libc")),
            "{sample:#?}"
        );
        assert!(names.len() <= 5 && !sample.has("main"), "{sample:#?}");
    }
    assert!(threads.len() > 60, "{}", threads.len());
}
