//! What a browser that was taken over leaves for those who read or remove its files.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::rogue::Plan;

const SESSION: &str = "/session";
/// Longer than any path may be.
const DEPTH: usize = 1500;

/// Links, pipes and directories in the places of what was there, and beside it.
pub(crate) fn plant(plan: &Plan) -> io::Result<()> {
    let session = Path::new(SESSION);
    let (spool, profile) = (session.join("spool"), session.join("profile"));
    symlink("/etc/passwd", spool.join("planted"))?;
    fs::write(spool.join("one"), "planted")?;
    fs::hard_link(spool.join("one"), spool.join("planted-twice"))?;
    mkfifo(&spool.join("planted-pipe"), Mode::S_IRWXU)?;
    for place in [&spool, &profile, &session.to_path_buf()] {
        symlink(&plan.victim, place.join("victim"))?;
        symlink("/", place.join("root"))?;
        symlink("..", place.join("up"))?;
    }
    // Whoever looks whether the session lives must not wait for a writer.
    fs::remove_file(session.join("lock"))?;
    mkfifo(&session.join("lock"), Mode::S_IRWXU)?;
    Ok(())
}

/// Directories in which nobody may look, and within each other as deep as no path leads.
pub(crate) fn hide() -> io::Result<()> {
    let profile = Path::new(SESSION).join("profile");
    let locked = profile.join("locked");
    fs::create_dir_all(locked.join("in"))?;
    for number in 0..2000 {
        fs::write(locked.join(format!("in/{number}\n\u{1b}[2J")), "")?;
    }
    std::env::set_current_dir(&profile)?;
    for _ in 0..DEPTH {
        fs::create_dir("depth")?;
        std::env::set_current_dir("depth")?;
    }
    std::env::set_current_dir("/")?;
    fs::set_permissions(locked.join("in"), Permissions::from_mode(0o000))?;
    fs::set_permissions(&locked, Permissions::from_mode(0o000))
}
