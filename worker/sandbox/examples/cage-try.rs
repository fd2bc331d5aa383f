//! Enters a cage and runs one program in it, to look at by hand.
//!
//! `cage-try SESSION_DIR UID|- PROGRAM ARGS…`: UID is what root becomes, `-` for an ordinary user.
//! Descriptors 3 and 4 are handed to the program (Chromium's `--remote-debugging-pipe`). Each line on
//! standard input is answered with the observed layers as one line of JSON; at its end everything ends.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use glass_sandbox::{CagePlan, Limits, Mode};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let usage = "cage-try SESSION_DIR UID|- PROGRAM ARGS...";
    let session_dir = args.next().ok_or(usage)?.into();
    let worker_uid = args.next().ok_or(usage)?.to_str().and_then(|uid| uid.parse().ok());
    let program = args.next().ok_or(usage)?;
    let (commands, replies) = (glass_sandbox::take_inherited(3)?, glass_sandbox::take_inherited(4)?);

    let plan = CagePlan {
        parent: std::os::unix::process::parent_id(),
        session_dir,
        worker_uid,
        read_only: CagePlan::system_paths(),
        forward_port: 3128,
        limits: Limits::default(),
        mode: Mode::Namespaces,
    };
    let started = std::time::Instant::now();
    let entered = match glass_sandbox::enter(&plan, &[commands.as_fd(), replies.as_fd()]) {
        Ok(entered) => entered,
        Err(error) => return Err(format!("{error}; hint: {:?}", error.hint()).into()),
    };
    println!("{{\"entered_us\":{}}}", started.elapsed().as_micros());

    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(glass_sandbox::environment())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.fd_mappings(vec![
        FdMapping { parent_fd: commands, child_fd: 3 },
        FdMapping { parent_fd: replies, child_fd: 4 },
    ])?;
    let mut child = command.spawn()?;
    drop(command);
    for line in std::io::stdin().lines() {
        line?;
        let mut layers = entered.observer.cage();
        layers.extend(entered.observer.browser(child.id()));
        println!("{}", serde_json::to_string(&layers)?);
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}
