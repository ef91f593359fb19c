// Two processes that switch to each other as often as they can, while their recorder, which started them, is stopped.
#include <signal.h>
#include <unistd.h>

int main(void) {
    int there[2], back[2];
    char c = 0;
    if (pipe(there) || pipe(back)) return 1;
    if (!fork()) {
        close(there[1]);
        while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
            ;
        _exit(0);
    }
    int bad = 0;
    for (int i = 0; i < 20000 && !bad; i++) {
        if (i == 10000) kill(getppid(), SIGSTOP);
        bad = write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1;
        if (i == 15000) kill(getppid(), SIGCONT);
    }
    kill(getppid(), SIGCONT);
    return bad;
}
