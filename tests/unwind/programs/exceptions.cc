// Exceptions on their way up: destructors run while frames below are still there.
#include <cstdio>
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;

struct Noisy {
    long value;
    NOINLINE explicit Noisy(long value) : value(value) { sink += value; }
    NOINLINE ~Noisy() { sink -= value; }
};

NOINLINE long thrower(long n) {
    if (n > 2)
        throw std::runtime_error("a message that is longer than small strings are");
    return n;
}

NOINLINE long middle(long n) {
    Noisy one(n), two(n + 1);
    return thrower(n) + one.value + two.value;
}

NOINLINE void stop() { __asm__ volatile("" ::: "memory"); }

NOINLINE long outer(long n) {
    Noisy three(n);
    try {
        return middle(n);
    } catch (const std::logic_error &) {
        return 0;
    }
}

NOINLINE long catcher(long n) {
    try {
        return outer(n);
    } catch (const std::exception &error) {
        stop();
        return sink;
    }
}

int main(int argc, char **) { return catcher(argc + 4) == 12345; }
