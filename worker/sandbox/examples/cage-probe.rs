//! Prints what the probe finds as JSON: `cage-probe [UID]`, with the uid that root would become.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let uid = std::env::args().nth(1).map(|uid| uid.parse()).transpose()?;
    let report = glass_sandbox::probe(uid)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    println!("{:?}", report.mode());
    Ok(())
}
