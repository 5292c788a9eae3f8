//! The `systole` program.

fn main() {}
