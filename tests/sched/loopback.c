// Main asks a thread over TCP or UDP, and works on each answer; it has ended when main has asked often enough. With "ends",
// main ends before a thread of its.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int listening, type = SOCK_STREAM;

__attribute__((noinline)) static void work(long ms) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static void *serve(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "in_server");
    int one = type == SOCK_STREAM ? accept(listening, 0, 0) : listening;
    for (char byte;;) {
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        if (recvfrom(one, &byte, 1, 0, (struct sockaddr *)&from, &len) != 1)
            return 0;
        work(10);
        if (sendto(one, &byte, 1, 0, type == SOCK_STREAM ? 0 : (struct sockaddr *)&from, sizeof from) != 1)
            abort();
    }
}

static void *outlive(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "in_rest");
    usleep(20000);
    work(60);
    return 0;
}

int main(int count, char **words) {
    pthread_t thread;
    if (count > 1 && !strcmp(words[1], "ends")) {
        pthread_create(&thread, 0, outlive, 0);
        work(5);
        pthread_exit(0);
    }
    type = count > 1 && !strcmp(words[1], "udp") ? SOCK_DGRAM : SOCK_STREAM;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    listening = socket(AF_INET, type, 0);
    if (bind(listening, (struct sockaddr *)&address, len) || (type == SOCK_STREAM && listen(listening, 1)))
        abort();
    getsockname(listening, (struct sockaddr *)&address, &len);
    pthread_create(&thread, 0, serve, 0);
    int to = socket(AF_INET, type, 0);
    if (connect(to, (struct sockaddr *)&address, len))
        abort();
    for (int n = 0; n < 10; n++) {
        char byte = 0;
        work(2);
        if (send(to, &byte, 1, 0) != 1 || recv(to, &byte, 1, 0) != 1)
            abort();
    }
    return 0;
}
