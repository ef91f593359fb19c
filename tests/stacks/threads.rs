//! Stacks of signal handlers and of threads.

use crate::stacks::samples::program;
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
    let Some(program) = program(SIGNALS) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
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
fn stacks_of_handlers_with_a_stack_of_their_own_go_on_where_the_signal_came() {
    let Some(program) = program(SIGNALS) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &["other"]);
    let mut n_whole = 0;
    for sample in recording.samples_in("spin") {
        assert_eq!(sample.names()[..2], ["spin", "handler"], "{sample:#?}");
        if !sample.is_whole() {
            // Until the handler's stack is known not to change, the other one is not known.
            assert!(sample.is_shortened(), "{sample:#?}");
            assert!(!sample.innermost().contains(&"main"), "{sample:#?}");
            continue;
        }
        n_whole += 1;
        assert!(sample.has("work") && sample.has("main"), "{sample:#?}");
        assert_eq!(sample.names().last(), Some(&"_start"), "{sample:#?}");
    }
    assert!(n_whole > 0, "{recording:?}");
}

#[test]
fn handlers_that_come_to_two_callers_by_turns_never_have_the_others() {
    // The kernel puts each signal's frame where the last one was. Nothing is called in the leaf.
    let source = r"
        #include <signal.h>
        static char other[1 << 16];
        static volatile int which;
        NOINLINE void handler_a(int signal) { WORK(3, sink += i) }
        NOINLINE void handler_b(int signal) { WORK(3, sink += i) }
        NOINLINE void outer_a(void) { raise(SIGUSR1); sink++; }
        NOINLINE void outer_b(void) { raise(SIGUSR2); sink++; }
        int main(void) {
            stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
            struct sigaction action = { .sa_handler = handler_a, .sa_flags = SA_ONSTACK };
            sigaltstack(&stack, 0);
            sigaction(SIGUSR1, &action, 0);
            action.sa_handler = handler_b;
            sigaction(SIGUSR2, &action, 0);
            for (int i = 0; i < 100; i++) { outer_a(); outer_b(); }
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "4000"], &[]);
    let mut n_seen = 0;
    for sample in recording.samples() {
        let names = sample.names();
        let Some(leaf) = names.first().and_then(|name| name.strip_prefix("handler_")) else {
            continue;
        };
        n_seen += 1;
        let mut outer = names.iter().filter_map(|name| name.strip_prefix("outer_"));
        assert!(outer.all(|outer| outer == leaf), "{sample:#?}");
    }
    assert!(n_seen > 20, "{recording:?}");
}

#[test]
fn stacks_of_handlers_after_an_overflow_go_on_on_the_one_that_overflowed() {
    let source = r"
        #include <signal.h>
        #include <string.h>
        #include <unistd.h>
        static char other[1 << 16];
        NOINLINE void handler(int signal) { spin(300); _exit(signal - SIGSEGV); }
        NOINLINE void down(int left) {
            volatile char room[16 << 10];
            memset((void *)room, left, sizeof room);
            down(left + 1);
            sink += room[left & 1023];
        }
        int main(void) {
            stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
            struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
            sigaltstack(&stack, 0);
            sigaction(SIGSEGV, &action, 0);
            down(0);
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "999"], &[]);
    let mut n_whole = 0;
    for sample in recording.samples_in("spin") {
        if sample.is_whole() {
            n_whole += 1;
            assert!(sample.has("down") && sample.has("main"), "{sample:#?}");
        } else {
            assert!(sample.is_shortened(), "{sample:#?}");
        }
    }
    assert!(n_whole > 0, "{recording:?}");
}

#[test]
fn the_first_instructions_of_a_thread_have_no_caller() {
    let source = r"
        #define _GNU_SOURCE
        #include <sched.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        static int body(void *argument) { return argument != 0; }
        NOINLINE void make(char *stack) {
            int pid = clone(body, stack + (64 << 10), CLONE_VM | SIGCHLD, stack);
            waitpid(pid, 0, 0);
            sink++;
        }
        int main(void) {
            char *stack = malloc(64 << 10);
            for (int i = 0; i < 4000; i++) make(stack);
            return 0;
        }";
    let Some(program) = program(source) else {
        return;
    };
    // A child is in the kernel when it is first sampled, on its way to these instructions.
    let recording = program.record(&["-e", "page-faults,cpu-clock", "-F", "9999"], &[]);
    let mut n_first = 0;
    for sample in recording.samples() {
        let names = sample.names();
        let Some(at) = names.iter().position(|name| name.contains("clone")) else {
            continue;
        };
        assert!(
            at + 1 == names.len() || names[at + 1] != "body",
            "{sample:#?}"
        );
        if at == 0 && names.len() == 1 {
            assert!(sample.is_whole(), "{sample:#?}");
            n_first += 1;
        }
    }
    println!("{n_first} at the first instructions");
}

#[test]
fn each_of_many_threads_has_its_own_root() {
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
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "4000"], &[]);
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
