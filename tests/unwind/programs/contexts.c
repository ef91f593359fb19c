/* Stacks that programs make and leave by themselves. */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

volatile long sink;
static ucontext_t outside, inside;
static jmp_buf back;

NOINLINE void stop(void) { __asm__ volatile("" ::: "memory"); }

static void coroutine(void) {
    stop();
    swapcontext(&inside, &outside);
    stop();
}

NOINLINE void jumps(long n) {
    if (n == 0)
        longjmp(back, 1);
    jumps(n - 1);
    sink++;
}

NOINLINE long forks(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    waitpid(child, 0, 0);
    return system("true");
}

int main(void) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = malloc(1 << 16);
    inside.uc_stack.ss_size = 1 << 16;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    stop();
    swapcontext(&outside, &inside);
    if (!setjmp(back))
        jumps(3);
    return (int)forks();
}
