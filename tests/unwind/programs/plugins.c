/* Two libraries, one after the other at the same addresses. */
#include <dlfcn.h>

__attribute__((noinline)) void stop(void) { __asm__ volatile("" ::: "memory"); }

static void one(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    ((long (*)(void (*)(void)))dlsym(library, "plugin"))(stop);
    dlclose(library);
}

int main(void) {
    one("./one.so");
    one("./two.so");
    return 0;
}
