/* Functions of all shapes, called by each other and by libc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

#ifdef __x86_64__
#define REALIGN __attribute__((force_align_arg_pointer))
#else
#define REALIGN
#endif

volatile long sink;

NOINLINE long leaf(long a, long b) {
    long x = a * 3 + b;
    __asm__ volatile("" : "+r"(x));
    return x;
}

NOINLINE long saves_all(long a, long b, long c, long d, long e, long f, long g, long h) {
    long one = leaf(a, b), two = leaf(c, d), three = leaf(e, f), four = leaf(g, h);
    long five = leaf(a, h), six = leaf(b, g);
    return one + two * three + four * five - six;
}

NOINLINE long has_array(long n) {
    char text[200];
    memset(text, (int)n, sizeof text);
    __asm__ volatile("" : : "r"(text) : "memory");
    return leaf(text[n & 63], n);
}

NOINLINE long has_alloca(long n) {
    char *text = __builtin_alloca((unsigned long)n * 16 + 16);
    memset(text, 1, (unsigned long)n);
    __asm__ volatile("" : : "r"(text) : "memory");
    return leaf(text[0], n);
}

NOINLINE REALIGN long is_realigned(long n) {
    long values[4] __attribute__((aligned(64))) = {n, n, n, n};
    __asm__ volatile("" : : "r"(values) : "memory");
    return leaf(values[0], values[3]) + leaf(values[1], values[2]);
}

NOINLINE long realigned_with_alloca(long n, long a, long b, long c, long d, long e, long f, long g) {
    long values[8] __attribute__((aligned(128)));
    char *text = __builtin_alloca((unsigned long)n * 8 + 8);
    memset(values, 0, sizeof values);
    __asm__ volatile("" : : "r"(values), "r"(text) : "memory");
    return leaf(values[0], g) + saves_all(n, a, b, c, d, e, f, g);
}

NOINLINE long calls_last(long n) { return has_array(n + 1); }

NOINLINE long early_return(long n) {
    if (n < 3)
        return n;
    return saves_all(n, 1, 2, 3, 4, 5, 6, 7) + has_array(n);
}

static int less(const void *a, const void *b) {
    sink += leaf(1, 2);
    return *(const int *)a - *(const int *)b;
}

NOINLINE long by_libc(void) {
    int numbers[3] = {3, 1, 2};
    qsort(numbers, 3, sizeof numbers[0], less);
    return numbers[0];
}

NOINLINE long work(long n) {
    long sum = saves_all(n, 2, 3, 4, 5, 6, 7, 8);
    sum += has_alloca(n) + is_realigned(n) + realigned_with_alloca(n, 1, 2, 3, 4, 5, 6, 7);
    sum += calls_last(n) + early_return(2) + early_return(n) + by_libc();
    return sum;
}

int main(int argc, char **argv) {
    (void)argv;
    sink = work(argc + 4);
    printf("%ld\n", sink);
    return 0;
}
