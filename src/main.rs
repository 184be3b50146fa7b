//! Watchkeeper's binary: everything is in the library.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// After a restart with a million services, the allocator of the C library held 4.1 GB for what takes 2.9 GB here
/// (docs/performance.md). C code in the binary, such as SQLite, uses this allocator as well.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    watchkeeper::cli::run()
}
