/* Code made at run time, with and without frame pointers, that calls back into C. */
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;

NOINLINE void stop(void) { __asm__ volatile("" ::: "memory"); }

NOINLINE void callback(void) {
    stop();
    sink++;
}

typedef void code(void (*)(void));

/* push %rbp; mov %rsp,%rbp; sub $32,%rsp; call *%rdi; leave; ret */
static const unsigned char WITH[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20,
                                     0xff, 0xd7, 0xc9, 0xc3};
/* push %rbp; mov $5,%ebp; call *%rdi; pop %rbp; ret */
static const unsigned char WITHOUT[] = {0x55, 0xbd, 0x05, 0x00, 0x00, 0x00, 0xff, 0xd7, 0x5d, 0xc3};
/* push %rbp; mov %rsp,%rbp; add $-24,%rbp; sub $32,%rsp; movq $1,8(%rbp); call *%rdi;
   add $32,%rsp; pop %rbp; ret: the register points into this stack, but not to a frame. */
static const unsigned char ASTRAY[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc5, 0xe8, 0x48, 0x83, 0xec, 0x20, 0x48, 0xc7, 0x45,
    0x08, 0x01, 0x00, 0x00, 0x00, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};

NOINLINE long work(char *page) {
    ((code *)page)(callback);
    ((code *)(page + 256))(callback);
    ((code *)(page + 512))(callback);
    return sink;
}

int main(void) {
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, WITH, sizeof WITH);
    memcpy(page + 256, WITHOUT, sizeof WITHOUT);
    memcpy(page + 512, ASTRAY, sizeof ASTRAY);
    return (int)work(page);
}
