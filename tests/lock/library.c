// A library with a mutex of its own.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

pthread_mutex_t *mutex_of_library(void) { return &mutex; }
