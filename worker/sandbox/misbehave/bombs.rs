//! What a browser that was taken over does to the machine: as many processes, as much memory, as many bytes as it gets.

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;

/// More than any session gets; a machine without any limit survives it.
const FORKS: usize = 3000;
const MEBIBYTES: usize = 3000;

/// Starts processes until it gets no more, and says how many.
pub(crate) fn forks() -> io::Result<()> {
    let program = std::env::current_exe()?;
    let started = (0..FORKS).take_while(|_| Command::new(&program).arg("pause").spawn().is_ok()).count();
    fs::write("/session/forks", started.to_string())
}

/// Lets a process of its own eat memory.
pub(crate) fn memory() -> io::Result<()> {
    Command::new(std::env::current_exe()?).arg("eat").spawn().map(drop)
}

/// Touches memory, a mebibyte at a time and not faster than a watchdog can look.
pub(crate) fn eat() {
    let mut eaten = Vec::new();
    for _ in 0..MEBIBYTES {
        eaten.push(vec![1_u8; 1 << 20]);
        std::thread::park_timeout(Duration::from_millis(2));
    }
    nix::unistd::pause();
    drop(eaten);
}

/// Fills the spool in the background.
pub(crate) fn disk() -> io::Result<()> {
    let mut file = File::create("/session/spool/filled")?;
    std::thread::spawn(move || {
        let block = vec![1_u8; 1 << 20];
        // Until it gets no more.
        let _written = (0..MEBIBYTES).take_while(|_| file.write_all(&block).is_ok()).count();
    });
    Ok(())
}
