//! Memory that the allocator keeps.

/// Gives memory that is free back to the system, as far as the allocator keeps it.
pub fn give_back_free_memory() {
    // SAFETY: it takes a number and changes nothing that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Lets the allocator reuse memory that is free, also large blocks, and that of threads which are gone, instead of giving
/// it back and asking for more: memory of the system's is cleared and mapped page by page. `n_arenas` is how many heaps
/// threads share. To be called before there are any.
pub fn reuse_free_memory(n_arenas: usize) {
    /// Larger blocks are given back, bytes: older glibcs take no more.
    const LARGE: libc::c_int = 32 << 20;
    /// So much is kept at the end of a heap, bytes.
    const KEPT: libc::c_int = 1 << 30;
    let n_arenas = libc::c_int::try_from(n_arenas.max(1)).unwrap_or(libc::c_int::MAX);
    #[cfg(target_env = "gnu")]
    for (parameter, value) in [
        (libc::M_MMAP_THRESHOLD, LARGE),
        (libc::M_TRIM_THRESHOLD, KEPT),
        (libc::M_ARENA_MAX, n_arenas),
    ] {
        // SAFETY: it takes two numbers and changes nothing that is in use; what it does not know it refuses.
        unsafe {
            libc::mallopt(parameter, value);
        }
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = (LARGE, KEPT, n_arenas);
}
