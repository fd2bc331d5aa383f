//! The program `glass`: arguments in, exit code out. Everything else is the library's.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    glass_cli::mcp::run(&std::env::args_os().collect::<Vec<_>>())
}
