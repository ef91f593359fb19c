//! Names come from wherever the recorded program's symbols and DWARF are: separate debug files,
//! inside the program, packed, split, shared with others, or a process that still has it.
//!
//! One recording is read again and again, while what is at the program's path changes: everything
//! that is printed of the whole program has to be printed of its parts.

mod damage;
mod living;
mod nameless;
mod program;
mod rewritten;
mod separate;
mod split;
