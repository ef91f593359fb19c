//! The chores of the project (to come).

fn main() {}
