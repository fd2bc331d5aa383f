//! Enters a cage and does there what must not work, for `tests/cage.rs`. Under a browser's name it is a browser that was
//! taken over, for the end-to-end tests.
//!
//! `cage-misbehave SESSION_DIR UID|- COMMAND [ARG]`. `try PORT` prints a JSON object: each attempt with the
//! kernel's answer by name, or `ok`. `layers` prints the observed layers. `linger` leaves a daemonised
//! grandchild and waits to be killed.

#![expect(clippy::print_stdout, reason = "its output is what the test reads")]

mod attempts;
mod bombs;
mod plants;
mod reach;
mod rogue;

use std::error::Error;
use std::io::Write;
use std::os::unix::process::parent_id;

use glass_sandbox::{CagePlan, Limits, Mode};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("reach") => {
            println!("{}", serde_json::to_string(&reach::all(&rogue::Plan::read()?))?);
            return Ok(());
        }
        Some("pry") => {
            println!("{}", serde_json::to_string(&attempts::pry(args[1].parse()?))?);
            return Ok(());
        }
        Some("pause") => {
            nix::unistd::pause();
            return Ok(());
        }
        Some("eat") => {
            bombs::eat();
            return Ok(());
        }
        Some(option) if option.starts_with("--") => return Ok(rogue::run(&args)?),
        _ => {}
    }
    let [session_dir, uid, command, rest @ ..] = args.as_slice() else {
        return Err("cage-misbehave SESSION_DIR UID|- COMMAND [ARG]".into());
    };
    let plan = CagePlan {
        parent: parent_id(),
        session_dir: session_dir.into(),
        worker_uid: uid.parse().ok(),
        read_only: CagePlan::system_paths(),
        forward_port: 3128,
        limits: Limits::default(),
        mode: Mode::Namespaces,
    };
    let entered = glass_sandbox::enter(&plan, &[])?;
    match command.as_str() {
        "try" => {
            let port = rest.first().ok_or("try PORT")?.parse()?;
            println!("{}", serde_json::to_string(&attempts::all(port))?);
        }
        "layers" => println!("{}", serde_json::to_string(&entered.observer.cage())?),
        "linger" => {
            attempts::daemonise();
            println!("lingering");
            std::io::stdout().flush()?;
            nix::unistd::pause();
        }
        other => return Err(format!("no command {other}").into()),
    }
    Ok(())
}
