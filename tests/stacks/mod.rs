//! Stacks as `rprof record` finds them, held against what programs are known to do.
//!
//! Each test compiles a program whose calls are known, without frame pointers, records it
//! ([`recording`]) and asks of every sample: are its frames those of the program, and if not all
//! of them are there, is that said?

mod changing;
mod code;
mod deep;
mod events;
mod go;
mod logged;
mod modes;
mod processes;
mod registers;
mod samples;
mod threads;
mod turns;
