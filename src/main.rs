//! Watchkeeper's binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    watchkeeper::cli::run()
}
