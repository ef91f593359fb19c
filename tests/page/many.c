// Two processes, one with threads that wait for each other and for time.
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double sum;
static int ends[2];

__attribute__((noinline)) void parse(int ms) { WORK(ms, sum += i); sum += ms; }
__attribute__((noinline)) void solve(int ms) { WORK(ms, sum -= i); sum += ms; }
__attribute__((noinline)) void print(int ms) { WORK(ms, sum *= 0.5); sum += ms; }
__attribute__((noinline)) void both(int ms) { parse(ms); print(ms); }

static void *worker(void *number) {
    char name[16];
    // Samples of the name that it has at first.
    solve(20);
    snprintf(name, sizeof name, "%s", number ? "writer" : "reader");
    prctl(PR_SET_NAME, name, 0, 0, 0);
    for (int at = 0; at < 5; at++) {
        char byte = 'x';
        solve(30);
        if (number) {
            usleep(10000);
            (void)!write(ends[1], &byte, 1);
        } else {
            (void)!read(ends[0], &byte, 1);
        }
    }
    return 0;
}

int main(int n_words, char **words) {
    pthread_t threads[2];
    (void)!pipe(ends);
    if (fork() == 0) {
        prctl(PR_SET_NAME, "child", 0, 0, 0);
        both(150);
        _exit(0);
    }
    parse(n_words > 1 ? atoi(words[1]) : 100);
    for (long number = 0; number < 2; number++)
        pthread_create(&threads[number], 0, worker, (void *)number);
    both(100);
    for (int number = 0; number < 2; number++)
        pthread_join(threads[number], 0);
    return wait(0) < 0;
}
