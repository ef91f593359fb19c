//! Walks along stacks, held against gdb's.
//!
//! Each test makes a program, lets gdb stop in it at many places (at each instruction of a function
//! and of all that it calls, mostly), and walks along exactly the bytes that gdb saw there
//! ([`gdb`], [`space`], [`compare`]). Addresses have to be equal, and where the walk ends earlier it
//! has to say why.

mod arm;
mod calls;
mod compare;
mod compile;
mod foreign;
mod gdb;
mod interrupts;
mod layouts;
mod riscv;
mod space;
