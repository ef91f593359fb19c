/* Threads that work and sleep by turns. Each says, as it ends, what the kernel has counted of it, and when it asked. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void doze(long ms) {
    struct timespec left = {.tv_nsec = ms * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}
static long now(int clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}
static void work(long ms) {
    for (long end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000L; now(CLOCK_THREAD_CPUTIME_ID) < end;) {}
}

static void *in_turns(void *arg) {
    prctl(PR_SET_NAME, "in_turns");
    for (int i = 0; i < 12; i++) { work(25); doze(3); }
    char status[4096] = "", line[256] = "";
    long run = 0, voluntary = 0, forced = 0;
    /* What it ran up to its last sleep is counted to the end. */
    doze(3);
    long before = now(CLOCK_MONOTONIC);
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file == NULL || fscanf(file, "%ld", &run) != 1) return arg;
    fclose(file);
    file = fopen("/proc/thread-self/status", "r");
    if (file == NULL || fread(status, 1, sizeof status - 1, file) == 0) return arg;
    fclose(file);
    long after = now(CLOCK_MONOTONIC);
    char *counts = strstr(status, "\nvoluntary_ctxt_switches:");
    if (counts) sscanf(counts, "\nvoluntary_ctxt_switches: %ld nonvoluntary_ctxt_switches: %ld", &voluntary, &forced);
    int length = snprintf(line, sizeof line, "%d %ld %ld %ld %ld %ld\n", gettid(), before, after, run, voluntary, forced);
    if (write(1, line, length) != length) return arg;
    return NULL;
}

static volatile int is_over;
static void *keep_busy(void *arg) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!is_over) {}
    return arg;
}

int main(void) {
    enum { N = 3 };
    pthread_t threads[N], busy;
    for (long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0; cpus--) pthread_create(&busy, NULL, keep_busy, NULL);
    for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, in_turns, NULL);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    is_over = 1;
    return 0;
}
