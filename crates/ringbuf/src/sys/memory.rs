//! Memory that the allocator keeps.

/// Gives memory that is free back to the system, as far as the allocator keeps it.
pub fn give_back_free_memory() {
    // SAFETY: it takes a number and changes nothing that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
