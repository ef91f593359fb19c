/* Functions of a perf map, called one after the other, and a recursive one that the compiler made. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* for (n = rdi; n; n--) */
static const unsigned char code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
static const char *const names[] = {"long shop.Orders.total(shop.Orders$Order[])", "Lshop/Orders$Item;::price(Z)D"};
static volatile long sum;
__attribute__((noinline)) void compiled(int deeper)
{
    if (deeper)
        compiled(deeper - 1);
    else
        WORK(80, sum += i);
    sum += 1;
}
int main(int n_args, char **args)
{
    char path[64];
    unsigned char *at = mmap(0, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    for (int n = 0; n < 2; n++) {
        memcpy(at + n * 0x1000, code, sizeof code);
        fprintf(map, "%lx %lx %s\n", (long)at + n * 0x1000, (long)sizeof code, names[n]);
    }
    fclose(map);
    mprotect(at, 0x2000, PROT_READ | PROT_EXEC);
    for (int n = 0; n < 2; n++) {
        void (*call)(unsigned long) = (void (*)(unsigned long))(at + n * 0x1000);
        for (long end = CPU_US() + (n ? 150000 : 300000); CPU_US() < end;) call(1000000);
    }
    compiled(2);
    FILE *said = fopen(args[n_args - 1], "w");
    fputs(path, said);
    return fclose(said);
}
