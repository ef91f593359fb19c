// Two threads that wait for each other, more often than a page has single waits, even if many of them are lost.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile double sum;
static int there[2], back[2];

static void *answer(void *_) {
    char byte;
    prctl(PR_SET_NAME, "pong", 0, 0, 0);
    while (read(there[0], &byte, 1) == 1 && byte == 'x')
        if (write(back[1], &byte, 1) != 1) break;
    return _;
}

int main(void) {
    pthread_t thread;
    char byte = 'x';
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    // Until there are samples.
    WORK(100, sum += i);
    pthread_create(&thread, 0, answer, 0);
    for (int at = 0; at < 60000; at++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
    byte = 'q';
    return write(there[1], &byte, 1) != 1 || pthread_join(thread, 0) != 0;
}
