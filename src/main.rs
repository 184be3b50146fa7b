//! Watchkeeper's binary: everything is in the library.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// After a restart with a million services, the allocator of the C library held 4.2 GB, with this one the process held 3.4 GB
/// (docs/performance.md). C code in the binary, such as SQLite, keeps the C library's:
/// a library loaded before it, such as libfaketime, may allocate while this one is being set up, and waits for ever then.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    watchkeeper::cli::run()
}
