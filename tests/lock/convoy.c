// A mutex that "holder" holds while "waiter" waits for it, ten times; and threads that write to one file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined INITIALIZED
static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
#define MUTEX mutex
#elif defined MEMBER
// Far behind what of the last page is in the file.
static struct {
    char before[1 << 16];
    pthread_mutex_t mutex;
} object;
#define MUTEX object.mutex
#elif defined LIBRARY
pthread_mutex_t *mutex_of_library(void);
#define MUTEX (*mutex_of_library())
#elif defined THREAD_LOCAL
static __thread pthread_mutex_t of_thread;
static pthread_mutex_t *of_first_thread;
__attribute__((constructor)) static void find_it(void) { of_first_thread = &of_thread; }
#define MUTEX (*of_first_thread)
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define MUTEX mutex
#endif
static pthread_barrier_t barrier;
static atomic_int waiter_tid;

// Returns once a thread of this process waits for the mutex, and not, say, still for the barrier.
static void until_it_waits(int tid) {
    char path[64], state[64], futex[48];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    int len = snprintf(futex, sizeof futex, "%d %#lx ", (int)SYS_futex, (unsigned long)&MUTEX);
    do {
        int fd = open(path, O_RDONLY);
        long n = fd < 0 ? 0 : read(fd, state, sizeof state - 1);
        state[n > 0 ? n : 0] = 0;
        close(fd);
    } while (strncmp(state, futex, len));
}

__attribute__((noinline)) static void release_it(void) {
    pthread_mutex_unlock(&MUTEX);
    __asm__ volatile("");
}

__attribute__((noinline)) static void take_it(void) {
    pthread_mutex_lock(&MUTEX);
    __asm__ volatile("");
}

static void *waiter(void *unused) {
    prctl(PR_SET_NAME, "waiter");
    waiter_tid = gettid();
    for (int i = 0; i < 10; i++) {
        pthread_barrier_wait(&barrier);
        take_it();
        pthread_mutex_unlock(&MUTEX);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void *writer(void *path) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    static char bytes[65536];
    for (int i = 0; i < 400; i++)
        if (pwrite(fd, bytes, sizeof bytes, 0) < 0) exit(1);
    close(fd);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    prctl(PR_SET_NAME, "holder");
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&threads[0], 0, waiter, 0);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&MUTEX);
        pthread_barrier_wait(&barrier);
        until_it_waits(waiter_tid);
        release_it();
        pthread_barrier_wait(&barrier);
    }
    pthread_join(threads[0], 0);
    printf("%#lx\n", (unsigned long)&MUTEX);
    if (argc > 1) {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, writer, argv[1]);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    return 0;
}
