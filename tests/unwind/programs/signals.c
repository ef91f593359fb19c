/* Signal handlers: on the same stack, in each other, on a stack of their own. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;

NOINLINE long leaf(long n) { return n + sink; }

NOINLINE void inner(int number) { sink += leaf(number); }

/* Steps over the instruction that the signal came of. */
static void skip(void *context, int length) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += length;
}

NOINLINE void handler(int number, siginfo_t *about, void *context) {
    (void)about;
    sink += leaf(number);
    raise(SIGUSR2);
    skip(context, 2);
}

NOINLINE void on_own_stack(int number, siginfo_t *about, void *context) {
    (void)about;
    sink += leaf(number);
    skip(context, 1);
}

/* Their first instructions are not allowed: what was interrupted there did not call. */
NOINLINE __attribute__((naked)) void traps(void) { __asm__("ud2; ret"); }
NOINLINE __attribute__((naked)) void traps_too(void) { __asm__("hlt; ret"); }

NOINLINE long work(long n) {
    traps();
    traps_too();
    return leaf(n);
}

static void catch(int number, void (*function)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = function, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, 0);
}

int main(int argc, char **argv) {
    (void)argv;
    /* Holes on both sides: the stack's mapping holds nothing else. */
    char *map = mmap(0, 0x30000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map + 0x10000, 0x10000, PROT_READ | PROT_WRITE);
    stack_t own = {.ss_sp = map + 0x10000, .ss_size = 0x10000};
    sigaltstack(&own, 0);
    signal(SIGUSR2, inner);
    catch(SIGILL, handler, 0);
    catch(SIGSEGV, on_own_stack, SA_ONSTACK);
    sink += work(argc);
    return 0;
}
