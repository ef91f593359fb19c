// The end of main waits for in_slow, which works after in_quick has: that one wakes nobody. Others keep the CPUs busy
// meanwhile, where nobody else wants them: some kernels do not record how an idle CPU switches to a thread.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_done;

static void work(long ms) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static void *quick(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "in_quick");
    work(10);
    is_done = 1;
    return 0;
}

static void *slow(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "in_slow");
    while (!is_done)
        ;
    work(60);
    return 0;
}

static void *keep_busy(void *unused) {
    struct sched_param none = {0};
    pthread_setname_np(pthread_self(), "in_busy");
    sched_setscheduler(0, SCHED_IDLE, &none);
    for (;;)
        ;
    return unused;
}

int main(void) {
    pthread_t threads[2], busy;
    for (long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0; cpus--)
        pthread_create(&busy, 0, keep_busy, 0);
    pthread_create(&threads[0], 0, quick, 0);
    pthread_create(&threads[1], 0, slow, 0);
    pthread_join(threads[1], 0);
    usleep(30000);
    work(20);
    return 0;
}
