/* Threads that wait, each for one thing, by its name. Others keep the CPUs busy meanwhile, where nobody else wants them:
   some kernels do not record how an idle CPU switches to a thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, MS = 20 };
static int pipe_fds[2], socket_fds[2], epoll_fds[2], poll_fds[2], select_fds[2], event_fd;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void doze(void) {
    struct timespec ms = {.tv_nsec = MS * 1000000L};
    while (nanosleep(&ms, &ms) != 0 && errno == EINTR) {}
}
static void take(int fd) { char c[8]; if (read(fd, c, sizeof c) < 0) abort(); }

static void *in_sleep(void *arg) { for (int i = 0; i < TURNS; i++) doze(); return arg; }
static void *in_pipe(void *arg) { for (int i = 0; i < TURNS; i++) take(pipe_fds[0]); return arg; }
static void *in_socket(void *arg) { for (int i = 0; i < TURNS; i++) take(socket_fds[0]); return arg; }
static void *in_eventfd(void *arg) { for (int i = 0; i < TURNS; i++) take(event_fd); return arg; }
static void *in_futex(void *arg) {
    pthread_mutex_lock(&mutex);
    for (int i = 1; i <= TURNS; i++)
        while (turn < i) pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}
static void *in_epoll(void *arg) {
    int fd = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(fd, EPOLL_CTL_ADD, epoll_fds[0], &event);
    for (int i = 0; i < TURNS; i++) { epoll_wait(fd, &event, 1, -1); take(epoll_fds[0]); }
    return arg;
}
static void *in_poll(void *arg) {
    struct pollfd one = {.fd = poll_fds[0], .events = POLLIN};
    for (int i = 0; i < TURNS; i++) { poll(&one, 1, -1); take(poll_fds[0]); }
    return arg;
}
static void *in_select(void *arg) {
    for (int i = 0; i < TURNS; i++) {
        fd_set set; FD_ZERO(&set); FD_SET(select_fds[0], &set);
        select(select_fds[0] + 1, &set, NULL, NULL, NULL); take(select_fds[0]);
    }
    return arg;
}
static void *in_child(void *arg) {
    for (int i = 0; i < TURNS; i++) {
        pid_t pid = fork();
        if (pid == 0) { doze(); _exit(0); }
        waitpid(pid, NULL, 0);
    }
    return arg;
}
static void *in_timerfd(void *arg) {
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec each = {{0, MS * 1000000L}, {0, MS * 1000000L}};
    timerfd_settime(fd, 0, &each, NULL);
    for (int i = 0; i < TURNS; i++) take(fd);
    return arg;
}
static void put(int fd) { uint64_t one = 1; if (write(fd, &one, sizeof one) < 0) abort(); }

static volatile int is_over;
static void *keep_busy(void *arg) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!is_over) {}
    return arg;
}

struct named { const char *name; void *(*run)(void *); };
/* A thread that names itself is never seen under another name as it waits. */
static void *run_named(void *arg) {
    const struct named *self = arg;
    prctl(PR_SET_NAME, self->name);
    return self->run(NULL);
}

int main(void) {
    if (pipe(pipe_fds) || pipe(epoll_fds) || pipe(poll_fds) || pipe(select_fds)) return 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, socket_fds)) return 1;
    event_fd = eventfd(0, EFD_SEMAPHORE);
    static const struct named all[] = {
        {"in_sleep", in_sleep}, {"in_pipe", in_pipe}, {"in_socket", in_socket},
        {"in_eventfd", in_eventfd}, {"in_futex", in_futex}, {"in_epoll", in_epoll},
        {"in_poll", in_poll}, {"in_select", in_select}, {"in_child", in_child},
        {"in_timerfd", in_timerfd},
    };
    enum { N = sizeof all / sizeof all[0] };
    for (long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0; cpus--) {
        pthread_t busy;
        if (pthread_create(&busy, NULL, keep_busy, NULL)) return 1;
    }
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], NULL, run_named, (void *)&all[i]);
    }
    prctl(PR_SET_NAME, "waker");
    for (int i = 1; i <= TURNS; i++) {
        doze();
        pthread_mutex_lock(&mutex); turn = i; pthread_cond_broadcast(&cond); pthread_mutex_unlock(&mutex);
        put(pipe_fds[1]); put(socket_fds[1]); put(event_fd);
        put(epoll_fds[1]); put(poll_fds[1]); put(select_fds[1]);
    }
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    is_over = 1;
    return 0;
}
