/* Stacks of uncommon shapes. Each function ends in `stop`, where the debugger waits. */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;

NOINLINE void stop(void) { __asm__ volatile("" ::: "memory"); }

NOINLINE long recursion(long n) {
    if (n == 0)
        stop();
    else
        sink += recursion(n - 1);
    return n + sink;
}

#define FRAME_OF(name, kib, next)                                                                  \
    NOINLINE long name(long n) {                                                                   \
        char bytes[kib * 1024];                                                                    \
        memset(bytes, (int)n, sizeof bytes);                                                       \
        __asm__ volatile("" : : "r"(bytes) : "memory");                                            \
        next;                                                                                      \
        return bytes[n] + sink;                                                                    \
    }

FRAME_OF(frame_9, 9, stop())
FRAME_OF(frame_30, 30, frame_9(n))
FRAME_OF(frame_60, 60, stop())
FRAME_OF(frame_122, 122, stop())

/* Its last instruction is a call. */
NOINLINE __attribute__((noreturn)) void ends(int status) {
    stop();
    exit(status);
}
NOINLINE __attribute__((noreturn)) void ends_by_call(void) { ends(0); }
NOINLINE long behind_it(long n) { return n; }

NOINLINE long tail_callee(long n) {
    stop();
    return n * 2 + sink;
}
NOINLINE long tail_caller(long n) { return tail_callee(n + sink); }

int main(void) {
    recursion(3000);
    recursion(12000);
    sink += frame_9(1) + frame_30(1) + frame_60(1) + frame_122(1);
    sink += tail_caller(4) + behind_it(1);
    ends_by_call();
}
