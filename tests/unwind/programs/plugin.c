/* The function is as long in both libraries, its frame is not. */
long plugin(void (*call)(void)) {
    volatile char bytes[SIZE];
    bytes[0] = 1;
    call();
    return bytes[0];
}
