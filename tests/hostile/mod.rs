//! Hostile users, files and programs: what they get out of a profiler that root runs.

mod bounds;
mod child;
mod crafted;
mod doors;
mod elf;
mod folders;
mod keys;
mod memory;
mod nested;
mod pasted;
mod rights;
mod sections;
mod seeds;
mod sources;
mod swapped;
mod text;
mod written;
