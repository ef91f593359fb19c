/* Threads in all places that they wait in, and the vdso. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE void stop(void) { __asm__ volatile("" ::: "memory"); }

NOINLINE long clocks(long n) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return n + now.tv_nsec + time(0);
}

static void *waits(void *argument) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return argument;
}

static void *stops(void *argument) {
    stop();
    return argument;
}

int main(void) {
    pthread_t one, two;
    sink += clocks(1);
    pthread_mutex_lock(&lock);
    pthread_create(&one, 0, waits, 0);
    pthread_create(&two, 0, stops, 0);
    pthread_join(two, 0);
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    return 0;
}
