// Two processes that switch to each other as often as they can.
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
    for (int i = 0; i < 20000; i++)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) return 1;
    return 0;
}
