/* Threads that wait for each other as scripted: each is called by what it waits in, and by its number there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5 };

static void doze(long ms) {
    struct timespec left = {.tv_nsec = ms * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}
static void work(long ms) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* The last of three lets the others go. */
static pthread_barrier_t barrier;
static void *in_barrier(void *late) {
    for (int i = 0; i < TURNS; i++) {
        if (late) doze(20);
        pthread_barrier_wait(&barrier);
    }
    return late;
}

/* A lock that goes round: who has it keeps it for a while, and gives it to the next one. */
static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_conds[3] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int turn;
static void *in_convoy(void *arg) {
    int own = (int)(long)arg;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&turn_mutex);
        while (turn != own) pthread_cond_wait(&turn_conds[own], &turn_mutex);
        pthread_mutex_unlock(&turn_mutex);
        doze(8);
        pthread_mutex_lock(&turn_mutex);
        turn = (own + 1) % 3;
        pthread_mutex_unlock(&turn_mutex);
        pthread_cond_signal(&turn_conds[turn]);
    }
    return arg;
}

/* The second stage waits for the first one, which waits for a timer. */
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
static int n_items;
static void *in_stage1(void *arg) {
    for (int i = 0; i < TURNS; i++) {
        doze(20);
        pthread_mutex_lock(&queue_mutex);
        n_items++;
        pthread_mutex_unlock(&queue_mutex);
        pthread_cond_signal(&queue_cond);
    }
    return arg;
}
static void *in_stage2(void *arg) {
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&queue_mutex);
        while (n_items == 0) pthread_cond_wait(&queue_cond, &queue_mutex);
        n_items--;
        pthread_mutex_unlock(&queue_mutex);
    }
    return arg;
}

/* A page that another thread brings. */
static int fault_fd;
static char *pages;
static long page;
static void *in_fault(void *arg) {
    for (int i = 0; i < TURNS; i++) pages[i * page]++;
    return arg;
}
static void *bring_pages(void *arg) {
    char *from = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(from, 1, page);
    for (int i = 0; i < TURNS; i++) {
        struct uffd_msg message;
        struct pollfd one = {.fd = fault_fd, .events = POLLIN};
        poll(&one, 1, -1);
        if (read(fault_fd, &message, sizeof message) != sizeof message) abort();
        doze(20);
        struct uffdio_copy copy = {
            .dst = message.arg.pagefault.address & ~(unsigned long)(page - 1), .src = (unsigned long)from, .len = page};
        if (ioctl(fault_fd, UFFDIO_COPY, &copy)) abort();
    }
    return arg;
}
static int has_faults(void) {
    page = sysconf(_SC_PAGESIZE);
    fault_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api)) return 0;
    pages = mmap(NULL, TURNS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {
        .range = {.start = (unsigned long)pages, .len = TURNS * page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    return ioctl(fault_fd, UFFDIO_REGISTER, &range) == 0;
}

/* Two that want the same CPU at the same time. */
static pthread_barrier_t start;
static void *in_preempt(void *arg) {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET((int)(long)arg, &first);
    sched_setaffinity(0, sizeof first, &first);
    pthread_barrier_wait(&start);
    work(60);
    return NULL;
}

struct named { const char *name; void *(*run)(void *); void *arg; };
static void *run_named(void *arg) {
    const struct named *self = arg;
    prctl(PR_SET_NAME, self->name);
    return self->run(self->arg);
}

static volatile int is_over;
static void *keep_busy(void *arg) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!is_over) {}
    return arg;
}

int main(void) {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    long cpu = 0;
    while (!CPU_ISSET(cpu, &allowed)) cpu++;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_barrier_init(&start, NULL, 2);
    struct named all[] = {
        {"in_barrier1", in_barrier, NULL}, {"in_barrier2", in_barrier, NULL}, {"in_barrier3", in_barrier, &barrier},
        {"in_convoy1", in_convoy, (void *)0}, {"in_convoy2", in_convoy, (void *)1}, {"in_convoy3", in_convoy, (void *)2},
        {"in_stage1", in_stage1, NULL}, {"in_stage2", in_stage2, NULL},
        {"in_preempt1", in_preempt, (void *)cpu}, {"in_preempt2", in_preempt, (void *)cpu},
        {"in_fault", in_fault, NULL}, {"brings_pages", bring_pages, NULL},
    };
    int n_threads = sizeof all / sizeof *all;
    if (!has_faults()) n_threads -= 2;
    pthread_t threads[sizeof all / sizeof *all], busy;
    for (long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0; cpus--) pthread_create(&busy, NULL, keep_busy, NULL);
    for (int i = 0; i < n_threads; i++) pthread_create(&threads[i], NULL, run_named, &all[i]);
    for (int i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
    is_over = 1;
    return 0;
}
