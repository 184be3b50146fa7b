//! Watchkeeper: the command line.
fn main() {}
