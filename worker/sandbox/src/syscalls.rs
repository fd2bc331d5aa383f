//! The numbers of the system calls that the deny list may name.
//!
//! Only those: a name outside this table is a mistake in the list, and is refused.

use nix::libc;

/// `Some(Some(number))` of a known call, `Some(None)` where this architecture has no such call, `None` for a
/// name that is not known at all.
pub(crate) fn number(name: &str) -> Option<Option<i64>> {
    match common(name) {
        Some(number) => Some(Some(number)),
        None => only_x86(name),
    }
}

macro_rules! table {
    ($name:expr, { $($call:ident = $number:expr,)* }) => {
        match $name { $(stringify!($call) => Some($number),)* _ => None }
    };
}

fn common(name: &str) -> Option<i64> {
    table!(name, {
        acct = libc::SYS_acct,
        add_key = libc::SYS_add_key,
        adjtimex = libc::SYS_adjtimex,
        bpf = libc::SYS_bpf,
        clock_adjtime = libc::SYS_clock_adjtime,
        clock_settime = libc::SYS_clock_settime,
        delete_module = libc::SYS_delete_module,
        fanotify_init = libc::SYS_fanotify_init,
        fanotify_mark = libc::SYS_fanotify_mark,
        finit_module = libc::SYS_finit_module,
        fsconfig = libc::SYS_fsconfig,
        fsmount = libc::SYS_fsmount,
        fsopen = libc::SYS_fsopen,
        fspick = libc::SYS_fspick,
        init_module = libc::SYS_init_module,
        io_uring_enter = libc::SYS_io_uring_enter,
        io_uring_register = libc::SYS_io_uring_register,
        io_uring_setup = libc::SYS_io_uring_setup,
        ioctl = libc::SYS_ioctl,
        kcmp = libc::SYS_kcmp,
        kexec_file_load = libc::SYS_kexec_file_load,
        kexec_load = libc::SYS_kexec_load,
        keyctl = libc::SYS_keyctl,
        lookup_dcookie = libc::SYS_lookup_dcookie,
        migrate_pages = libc::SYS_migrate_pages,
        mount = libc::SYS_mount,
        mount_setattr = libc::SYS_mount_setattr,
        move_mount = libc::SYS_move_mount,
        move_pages = libc::SYS_move_pages,
        name_to_handle_at = libc::SYS_name_to_handle_at,
        open_by_handle_at = libc::SYS_open_by_handle_at,
        open_tree = libc::SYS_open_tree,
        // Newer than the libc crate; the same number on every architecture.
        open_tree_attr = 467,
        perf_event_open = libc::SYS_perf_event_open,
        pidfd_getfd = libc::SYS_pidfd_getfd,
        pivot_root = libc::SYS_pivot_root,
        process_vm_readv = libc::SYS_process_vm_readv,
        process_vm_writev = libc::SYS_process_vm_writev,
        ptrace = libc::SYS_ptrace,
        quotactl = libc::SYS_quotactl,
        quotactl_fd = libc::SYS_quotactl_fd,
        reboot = libc::SYS_reboot,
        request_key = libc::SYS_request_key,
        setdomainname = libc::SYS_setdomainname,
        sethostname = libc::SYS_sethostname,
        setns = libc::SYS_setns,
        settimeofday = libc::SYS_settimeofday,
        socket = libc::SYS_socket,
        swapoff = libc::SYS_swapoff,
        swapon = libc::SYS_swapon,
        syslog = libc::SYS_syslog,
        umount2 = libc::SYS_umount2,
        userfaultfd = libc::SYS_userfaultfd,
        vhangup = libc::SYS_vhangup,
    })
}

#[cfg(target_arch = "x86_64")]
fn only_x86(name: &str) -> Option<Option<i64>> {
    table!(name, {
        ioperm = Some(libc::SYS_ioperm),
        iopl = Some(libc::SYS_iopl),
        modify_ldt = Some(libc::SYS_modify_ldt),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn only_x86(name: &str) -> Option<Option<i64>> {
    table!(name, { ioperm = None, iopl = None, modify_ldt = None, })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_absent_and_unknown_names_differ() {
        assert_eq!(number("mount"), Some(Some(libc::SYS_mount)));
        assert_eq!(number("ioperm").map(|found| found.is_some()), Some(cfg!(target_arch = "x86_64")));
        assert_eq!(number("clone"), None);
    }
}
