// Requests whose spans are known. What a request does takes CPU time of its thread, whatever else runs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACE __attribute__((noinline, noipa))

PLACE void begin_request(void) { __asm__ volatile(""); }
PLACE void end_request(void) { __asm__ volatile(""); }
// Queries have markers, too: what sys/sdt.h makes of them is written out.
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
        "_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection");
#define MARK(name) \
    __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
                     ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
                     "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n" \
                     ".asciz \"server\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n.popsection")
PLACE void begin_query(void) { MARK("query_begins"); }
PLACE void end_query(void) { MARK("query_ends"); }

static long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void nap(long us) {
    struct timespec time = {0, us * 1000};
    nanosleep(&time, 0);
}

// The clock is a system call: it is asked now and then.
#define WORK(us) \
    for (long end = now(CLOCK_THREAD_CPUTIME_ID) + (us) * 1000L; now(CLOCK_THREAD_CPUTIME_ID) < end;) \
        for (volatile int i = 0; i < 30000; i++)

PLACE void usual_path(void) { WORK(300) {} }
PLACE void planted_path(void) { WORK(20000) {} }

// One of a hundred takes another path, too.
static void serve(int requests) {
    for (int i = 0; i < requests; i++) {
        begin_request();
        usual_path();
        if (i % 100 == 7)
            planted_path();
        end_request();
    }
}

// Each has a query inside that waits.
static void serve_queries(int requests) {
    for (int i = 0; i < requests; i++) {
        begin_request();
        usual_path();
        begin_query();
        nap(5000);
        end_query();
        nap(1000);
        end_request();
        nap(2000);
    }
}

static void *end_elsewhere(void *unused) {
    end_request();
    return unused;
}

// What does not match: an end without a beginning, one that ends on another thread, one that overlaps, two that never end.
static void confuse(void) {
    pthread_t other;
    end_query();
    begin_request();
    pthread_create(&other, 0, end_elsewhere, 0);
    pthread_join(other, 0);
    begin_request();
    begin_query();
    end_request();
    end_query();
    begin_query();
    begin_query();
}

// Writes spans itself: a whole one, and one that ends in the middle of a wait.
static void mark(const char *dir, int other) {
    char path[4096];
    if (other)
        snprintf(path, sizeof path, "%s/marker-%d-%d.txt", dir, getpid(), other);
    else
        snprintf(path, sizeof path, "%s/marker-%d.txt", dir, getpid());
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, 4096) || mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
        exit(3);
    if (ftruncate(file, 0))
        exit(3);
    long begin = now(CLOCK_MONOTONIC);
    WORK(50000) {}
    long before = now(CLOCK_MONOTONIC);
    nap(40000);
    long after = now(CLOCK_MONOTONIC);
    dprintf(file, "%ld %ld load page\n", begin, before);
    dprintf(file, "%ld %ld half a nap\nnonsense\n", before, before + (after - before) / 2);
    printf("%ld\n", (after - before) / 2);
}

// Its spans are those of a thread of another process, if its word counts.
static void mark_other(const char *dir) {
    int other = fork();
    if (!other)
        for (;;)
            pause();
    mark(dir, other);
    kill(other, SIGKILL);
    waitpid(other, 0, 0);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "serve";
    if (!strcmp(what, "serve"))
        serve(1000);
    if (!strcmp(what, "queries"))
        serve_queries(20);
    if (!strcmp(what, "confuse"))
        confuse();
    if (!strcmp(what, "mark"))
        mark(argv[2], 0);
    if (!strcmp(what, "mark-other"))
        mark_other(argv[2]);
    if (!strcmp(what, "exec")) {
        begin_request();
        usual_path();
        execl("/proc/self/exe", argv[0], "executed", (char *)0);
    }
    if (!strcmp(what, "executed")) {
        planted_path();
        end_request();
    }
    return 0;
}
