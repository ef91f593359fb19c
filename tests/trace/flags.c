// Calls with flags of many kinds, in the folder that is named. What they return does not matter.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void) {
    int file = open("x", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
    open(".", O_RDONLY | O_DIRECTORY | O_PATH | O_NOFOLLOW);
    open("x", O_WRONLY | O_APPEND);
    open("x", O_EXCL | O_NOCTTY | O_NOATIME | O_DIRECT);
    open(".", O_TMPFILE | O_RDWR, 0600);
    lseek(file, 0, SEEK_END);
    lseek(file, 0, SEEK_CUR);
    fcntl(file, F_GETFL);
    fcntl(file, F_DUPFD_CLOEXEC, 10);
    flock(file, LOCK_EX | LOCK_NB);
    access(".", R_OK | W_OK);
    syscall(SYS_renameat2, AT_FDCWD, "no", AT_FDCWD, "nowhere", 1);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        _exit(1);
    eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
    syscall(SYS_epoll_ctl, -1, EPOLL_CTL_ADD, -1, 0);
}

static void memory(void) {
    char *at = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    mmap(0, 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);
    mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    mprotect(at, 4096, PROT_READ | PROT_GROWSDOWN);
    madvise(at, 4096, MADV_DONTNEED);
    madvise(at, 4096, MADV_FREE);
    mremap(at, 4096, 8192, MREMAP_MAYMOVE);
}

static void others(void) {
    int word = 0;
    struct timespec time = {0, 1000};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, 0, 0);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, 0, &time, 0, -1);
    syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &word, 0);
    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        _exit(1);
    send(ends[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    recv(ends[1], &word, 1, MSG_PEEK | MSG_TRUNC);
    if (getrandom(&word, 4, GRND_NONBLOCK) < 0)
        _exit(1);
    struct rlimit limit;
    syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit);
    int child = fork();
    if (!child)
        _exit(0);
    wait4(child, 0, WUNTRACED, 0);
}

int main(int count, char **words) {
    if (count < 2 || chdir(words[1]))
        return 1;
    files();
    memory();
    others();
    return 0;
}
