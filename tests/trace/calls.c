// Calls whose numbers are known: argv[1] says what to do.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void outer(int n) {
    for (int i = 0; i < n; i++) syscall(SYS_getppid);
    __asm__ volatile("");
}

static void *thread(void *name) {
    prctl(PR_SET_NAME, name);
    for (int i = 0; i < 300; i++) syscall(SYS_getppid);
    return 0;
}

static void on_signal(int signal) { (void)signal; }

int main(int argc, char **argv) {
    outer(1000);
    for (int i = 0; i < 7; i++) syscall(SYS_openat, AT_FDCWD, "/nonexistent/x", O_RDONLY);
    syscall(999, 1, 2, 3);
    // Two threads, one after the other; one that never returns from its call.
    pthread_t one;
    for (int i = 0; i < 2; i++) {
        pthread_create(&one, 0, thread, i ? "second" : "first");
        pthread_join(one, 0);
    }
    // Returns from a signal handler.
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3; i++) raise(SIGUSR1);
    // A child that is killed as it waits.
    int wait_for[2], ready[2];
    char byte = 0;
    if (pipe(wait_for) || pipe(ready)) return 1;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, "killed");
        if (write(ready[1], &byte, 1) != 1) _exit(1);
        return read(wait_for[0], &byte, 1) != 0;
    }
    if (read(ready[0], &byte, 1) != 1) return 1;
    // It waits, or is about to: as it does, its state is S.
    char path[64] = "/proc/", state[512] = "";
    int len = 6, digits = 0, number = child;
    char text[16];
    do text[digits++] = '0' + number % 10; while (number /= 10);
    while (digits) path[len++] = text[--digits];
    strcpy(path + len, "/syscall");
    do {
        int fd = open(path, O_RDONLY);
        long n = fd < 0 ? 0 : read(fd, state, sizeof state - 1);
        if (n > 0) state[n] = 0;
        close(fd);
        // "running", or the number of its call: read is 0 on x86-64, 63 elsewhere.
    } while (strncmp(state, SYS_read == 0 ? "0 " : "63 ", SYS_read == 0 ? 2 : 3));
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    return argc > 1 && execl(argv[1], argv[1], (char *)0);
}
