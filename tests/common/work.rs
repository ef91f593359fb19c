//! Work is measured by the CPU time that it takes, whatever the CPU: 300 ms of it are about 300
//! samples at 999 Hz of cpu-clock.

/// In front of C and C++ sources: `CPU_US()`, microseconds of CPU time that this thread has had, and
/// `WORK(ms, step)`, which repeats a step (`i` counts) for that many milliseconds of it.
///
/// The system call is made in place: what is sampled is in the function that works. Lines are counted
/// from behind this.
pub const C: &str = r#"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef __x86_64__
#define CLOCK_(time) __extension__({ long r_; \
    __asm__ volatile("syscall" : "=a"(r_) : "0"(228L), "D"(3L), "S"(time) : "rcx", "r11", "memory"); })
#else
#include <time.h>
#define CLOCK_(time) clock_gettime(CLOCK_THREAD_CPUTIME_ID, (struct timespec *)(time))
#endif
#define CPU_US() __extension__({ long t_[2]; CLOCK_(t_); t_[0] * 1000000 + t_[1] / 1000; })
#define WORK(ms, ...) \
    for (long end_ = CPU_US() + (ms) * 1000L; CPU_US() < end_;) \
        for (unsigned long i = 0; i < 50000; i++) { __VA_ARGS__; }
#line 1
"#;

/// Shell text that computes until the shell that runs it, which may be a subshell, has had so many
/// hundredths of a second of CPU time more. Nothing is started for it.
pub fn burn(hundredths: u32) -> String {
    // Fields 14 and 15 of its own stat: user and system time, in hundredths (USER_HZ).
    let look = "read -r x x x x x x x x x x x x x user system x < /proc/self/stat";
    format!(
        "{look}; end=$((user + system + {hundredths})); \
         while [ $((user + system)) -lt $end ]; do \
         n=0; while [ $n -lt 500 ]; do n=$((n + 1)); done; {look}; done"
    )
}

/// Shell text that works when it is told to ([`super::Running::work`]), until its input ends.
pub fn worker(hundredths: u32) -> String {
    format!(
        "while read -r line; do {}; echo done; done",
        burn(hundredths)
    )
}
