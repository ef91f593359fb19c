//! Frames of kernels: of one that does not run here, as another machine would have it, and of the one
//! that does.

mod code;
mod machine;
mod modules;
mod unfinished;
mod vmlinux;
