//! The file system that a caged process sees.
//!
//! Owns the layout: what of the host is read-only where, what is writable, and the few files that are made
//! up. The mount calls are in `mounts`.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::{AtStep, CageError, Step};
use crate::mounts::{self, Access, Tree};
use crate::plan::{CagePlan, HOME, INSIDE_ID, SESSION};

/// Where the new root is put together; only the cage's own mount namespace sees it there.
const NEW_ROOT: &str = "/tmp";

/// Device nodes that programs expect.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Links in /dev that programs expect.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// The directories that caged processes may write to, apart from what /proc allows them.
pub(crate) const WRITABLE: [&str; 5] = [SESSION, HOME, "/tmp", "/run", "/dev/shm"];

/// XDG_RUNTIME_DIR inside the cage.
pub(crate) const RUNTIME_DIR: &str = "/run/user";

/// Programs of ours inside the cage; before those of the host in `PATH`.
pub(crate) const PROGRAMS: &str = "/programs";

/// What Chromium asks who opens addresses of a scheme that is not its own. It is told that itself does, so that it opens
/// nothing, instead of a question in a window that nobody sees and that takes the page's input.
const XDG_SETTINGS: &str = "#!/bin/sh\nif [ \"$1\" = check ]; then echo yes; fi\n";

const HOME_BYTES: u64 = 64 << 20;
const RUN_BYTES: u64 = 8 << 20;
/// The root itself and /dev hold only directories, links and small files.
const SKELETON_BYTES: u64 = 1 << 20;

/// What a path of the host becomes.
#[derive(Debug)]
enum Source {
    Mount(Tree),
    Link(PathBuf),
}

/// The host's share of the new root, opened but not attached.
#[derive(Debug)]
pub(crate) struct Sources(Vec<(PathBuf, Source)>);

impl Sources {
    /// Opens everything that `plan` binds. As root this comes before the change of uid, otherwise after the
    /// namespaces: it needs the right to mount.
    pub(crate) fn open(plan: &CagePlan) -> Result<Self, CageError> {
        let mut sources = Vec::new();
        for path in plan.outermost_read_only() {
            let source = match fs::read_link(path) {
                Ok(target) => Source::Link(target),
                Err(_) => Source::Mount(Tree::open(path, Access::ReadOnly)?),
            };
            sources.push((path.to_owned(), source));
        }
        for device in DEVICES.map(Path::new) {
            sources.push((device.to_owned(), Source::Mount(Tree::open(device, Access::Device)?)));
        }
        let session = Tree::open(&plan.session_dir, Access::Writable)?;
        sources.push((SESSION.into(), Source::Mount(session)));
        Ok(Self(sources))
    }
}

/// Puts the new root together and enters it. Runs as pid 1, so that /proc is the cage's own.
pub(crate) fn build(plan: &CagePlan, sources: Sources) -> Result<(), CageError> {
    let root = Path::new(NEW_ROOT);
    mounts::cut_propagation()?;
    mounts::tmpfs(root, SKELETON_BYTES, 0o755)?;
    let dev = make_dir(root, "/dev")?;
    mounts::tmpfs(&dev, SKELETON_BYTES, 0o755)?;
    mounts::proc(&make_dir(root, "/proc")?)?;
    mounts::tmpfs(&make_dir(root, HOME)?, HOME_BYTES, 0o700)?;
    mounts::tmpfs(&make_dir(root, "/tmp")?, plan.limits.scratch, 0o700)?;
    mounts::tmpfs(&make_dir(root, "/run")?, RUN_BYTES, 0o700)?;
    mounts::tmpfs(&make_dir(root, "/dev/shm")?, plan.limits.shared_memory, 0o700)?;
    make_dir(root, RUNTIME_DIR)?;
    for (path, source) in sources.0 {
        place(root, &path, source)?;
    }
    for (link, target) in DEVICE_LINKS {
        make_link(&beneath(root, Path::new(link)), Path::new(target))?;
    }
    for (file, text) in made_up_files()? {
        make_file(&beneath(root, Path::new(file)), &text)?;
    }
    let programs = make_dir(root, PROGRAMS)?;
    mounts::programs(&programs, SKELETON_BYTES)?;
    make_program(&programs.join("xdg-settings"), XDG_SETTINGS)?;
    mounts::enter_root(root)?;
    mounts::seal(Path::new(PROGRAMS))?;
    mounts::seal(Path::new("/dev"))?;
    mounts::seal(Path::new("/"))
}

fn place(root: &Path, path: &Path, source: Source) -> Result<(), CageError> {
    let target = beneath(root, path);
    match source {
        Source::Link(to) => make_link(&target, &to),
        Source::Mount(tree) => {
            if tree.is_dir()? {
                fs::create_dir_all(&target).at(Step::Root, format!("make {}", path.display()))?;
            } else {
                make_file(&target, "")?;
            }
            tree.attach(&target)
        }
    }
}

/// Files without which programs complain, with nothing of the machine in them.
fn made_up_files() -> Result<[(&'static str, String); 6], CageError> {
    Ok([
        ("/etc/passwd", format!("glass:x:{INSIDE_ID}:{INSIDE_ID}:Glass:{HOME}:/bin/false\n")),
        ("/etc/group", format!("glass:x:{INSIDE_ID}:\n")),
        ("/etc/hosts", "127.0.0.1 localhost glass\n::1 localhost\n".to_owned()),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
        ("/etc/resolv.conf", String::new()),
        ("/etc/machine-id", machine_id()?),
    ])
}

/// A new random id for each cage: the machine's own would identify it, a constant would mark it as Glass.
fn machine_id() -> Result<String, CageError> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut bytes))
        .at(Step::Root, "read /dev/urandom")?;
    Ok(format!("{:032x}\n", u128::from_ne_bytes(bytes)))
}

fn make_dir(root: &Path, path: &str) -> Result<PathBuf, CageError> {
    let target = beneath(root, Path::new(path));
    fs::create_dir_all(&target).at(Step::Root, format!("make {path}"))?;
    Ok(target)
}

fn make_file(target: &Path, text: &str) -> Result<(), CageError> {
    make_parent(target)?;
    fs::write(target, text).at(Step::Root, format!("write {}", target.display()))
}

fn make_program(target: &Path, text: &str) -> Result<(), CageError> {
    use std::os::unix::fs::PermissionsExt;
    make_file(target, text)?;
    fs::set_permissions(target, fs::Permissions::from_mode(0o755))
        .at(Step::Root, format!("make {}", target.display()))
}

fn make_link(link: &Path, target: &Path) -> Result<(), CageError> {
    make_parent(link)?;
    symlink(target, link).at(Step::Root, format!("link {}", link.display()))
}

fn make_parent(target: &Path) -> Result<(), CageError> {
    match target.parent() {
        Some(parent) => fs::create_dir_all(parent).at(Step::Root, format!("make {}", parent.display())),
        None => Ok(()),
    }
}

/// `path` of the cage while its root still lies at `root`.
fn beneath(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_beneath_the_new_root() {
        assert_eq!(beneath(Path::new("/tmp"), Path::new("/usr/lib")), Path::new("/tmp/usr/lib"));
    }

    #[test]
    fn machine_ids_are_well_formed_and_differ() {
        let (a, b) = (machine_id().unwrap(), machine_id().unwrap());
        assert_eq!(a.trim().len(), 32);
        assert_ne!(a, b);
    }
}
