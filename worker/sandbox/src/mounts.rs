//! The mount calls that the cage needs, one a function.
//!
//! Host paths are held as detached copies of their mounts (`open_tree`): a copy can be made as root, carried
//! over the change of uid by its descriptor, and attached inside the user namespace, where the path itself
//! may be out of reach. What to mount where is `rootfs`'s business.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{chdir, fchdir, pivot_root};

use crate::error::{AtStep, CageError, Step};

/// What a bound path may be used for; nothing bound ever honours set-id bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Programs, libraries and data: read and run.
    ReadOnly,
    /// The session's own files: read and write, no devices, nothing to run.
    Writable,
    /// One device node.
    Device,
}

impl Access {
    fn attributes(self) -> u64 {
        match self {
            Self::ReadOnly => libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
            Self::Writable => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC,
            Self::Device => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
        }
    }
}

/// A detached, private copy of the mounts at and beneath a host path.
#[derive(Debug)]
pub(crate) struct Tree(OwnedFd);

impl Tree {
    /// Copies the mounts at `path` and gives all of them `access`.
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self, CageError> {
        let what = || format!("bind {}", path.display());
        let tree = Self(open_tree(path).at(Step::MountBind, what())?);
        set_attributes(&tree.0, access.attributes(), true).at(Step::MountBind, what())?;
        Ok(tree)
    }

    /// Whether it is a directory that was copied, and not one file.
    pub(crate) fn is_dir(&self) -> Result<bool, CageError> {
        let kind =
            SFlag::from_bits_truncate(fstat(&self.0).at(Step::MountBind, "look at a bound path")?.st_mode);
        Ok(kind & SFlag::S_IFMT == SFlag::S_IFDIR)
    }

    /// Attaches the copy at `target`, which exists and is of the same kind (directory or file).
    pub(crate) fn attach(self, target: &Path) -> Result<(), CageError> {
        move_mount(&self.0, target).at(Step::MountBind, format!("attach {}", target.display()))
    }
}

/// Keeps every later mount of this namespace out of others, and theirs out of it.
pub(crate) fn cut_propagation() -> Result<(), CageError> {
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .at(Step::MountPrivate, "make all mounts private")
}

/// Mounts an empty memory file system of at most `bytes`, without devices, set-id or programs.
pub(crate) fn tmpfs(target: &Path, bytes: u64, mode: u32) -> Result<(), CageError> {
    let options = format!("size={bytes},mode={mode:o}");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), target, Some("tmpfs"), flags, Some(options.as_str()))
        .at(Step::MountTmpfs, format!("memory file system at {}", target.display()))
}

/// Mounts an empty memory file system for programs of ours; it is sealed once they are in it.
pub(crate) fn programs(target: &Path, bytes: u64) -> Result<(), CageError> {
    let options = format!("size={bytes},mode=755");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), target, Some("tmpfs"), flags, Some(options.as_str()))
        .at(Step::MountTmpfs, format!("memory file system at {}", target.display()))
}

/// Mounts a /proc that knows only the processes of the caller's pid namespace.
pub(crate) fn proc(target: &Path) -> Result<(), CageError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), target, Some("proc"), flags, None::<&str>)
        .at(Step::MountProc, format!("new /proc at {}", target.display()))
}

/// Makes the one mount at `path` read-only; those beneath it stay as they are.
pub(crate) fn seal(path: &Path) -> Result<(), CageError> {
    let what = || format!("make {} read-only", path.display());
    let dir = std::fs::File::open(path).at(Step::Pivot, what())?;
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    set_attributes(&dir.into(), attributes, false).at(Step::Pivot, what())
}

/// Makes `new_root` the root and leaves no way back to the old one.
pub(crate) fn enter_root(new_root: &Path) -> Result<(), CageError> {
    let dir = std::fs::File::open(new_root).at(Step::Pivot, "open the new root")?;
    fchdir(dir.as_fd()).at(Step::Pivot, "enter the new root")?;
    // With "." twice the old root is stacked upon the new one, so it needs no directory of its own to hang
    // on.
    pivot_root(".", ".").at(Step::Pivot, "pivot_root")?;
    umount2(".", MntFlags::MNT_DETACH).at(Step::Pivot, "detach the old root")?;
    chdir("/").at(Step::Pivot, "enter /")
}

fn c_path(path: &Path) -> nix::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)
}

fn open_tree(path: &Path) -> nix::Result<OwnedFd> {
    let path = c_path(path)?;
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE as u32;
    // SAFETY: `path` is a NUL-terminated string that outlives the call; the kernel only reads it.
    let raw = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    let raw = RawFd::try_from(Errno::result(raw)?).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel has just made this descriptor for us, so nothing else owns the number.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

fn set_attributes(tree: &OwnedFd, set: u64, recursive: bool) -> nix::Result<()> {
    let attr = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: if recursive { libc::MS_PRIVATE } else { 0 },
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string literal, `attr` lives through the call and its true size is
    // passed, and the kernel writes to neither. `userns_fd` is ignored without MOUNT_ATTR_IDMAP, which `set`
    // never holds.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    Errno::result(result).map(drop)
}

fn move_mount(tree: &OwnedFd, target: &Path) -> nix::Result<()> {
    let target = c_path(target)?;
    // SAFETY: both paths are NUL-terminated and outlive the call; the kernel only reads them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    Errno::result(result).map(drop)
}
