//! What a person can do when the kernel refuses a step, read from the settings of this machine.

use std::fs;

use nix::errno::Errno;

use crate::error::Step;
use crate::uids::FIRST_UID;

/// The advice for `step` that failed with `errno`, if there is any.
pub(crate) fn hint(step: Step, errno: Errno) -> Option<String> {
    match step {
        Step::Unshare | Step::Setgroups | Step::UidMap | Step::GidMap => {
            namespace_hint(&Settings::read(), errno)
        }
        Step::MountPrivate | Step::MountTmpfs => namespace_hint(&Settings::read(), errno),
        Step::MountProc if errno == Errno::EPERM => Some(
            "parts of /proc are covered by other mounts, as in most containers, so the kernel allows no new \
             one; run glassd outside the container or start it with an unmasked /proc"
                .to_owned(),
        ),
        Step::MountBind if errno == Errno::ENOSYS || errno == Errno::EINVAL => {
            Some("the cage needs Linux 5.12 or later".to_owned())
        }
        Step::Landlock => {
            Some("start the kernel with `landlock` in its `lsm=` list (Linux 5.13 or later)".to_owned())
        }
        Step::Seccomp => Some("the kernel needs CONFIG_SECCOMP_FILTER".to_owned()),
        Step::Uid | Step::Own if errno == Errno::EINVAL => Some(format!(
            "this container maps no uid at {FIRST_UID}, which sessions of root need; run Glass as an ordinary user, or \
             map that range"
        )),
        Step::Own if matches!(errno, Errno::EMLINK | Errno::ELOOP | Errno::ENOTDIR) => {
            Some("a session's directory may hold only what glassd and the session's browser made".to_owned())
        }
        _ => None,
    }
}

/// The settings that can refuse a user namespace; absent where the kernel does not have them.
#[derive(Debug, Default)]
struct Settings {
    max_user_namespaces: Option<String>,
    unprivileged_userns_clone: Option<String>,
    apparmor_restrict: Option<String>,
    apparmor_profile: Option<String>,
}

impl Settings {
    fn read() -> Self {
        let value = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        Self {
            max_user_namespaces: value("/proc/sys/user/max_user_namespaces"),
            unprivileged_userns_clone: value("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restrict: value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            apparmor_profile: value("/proc/self/attr/current"),
        }
    }
}

/// Whether the machine's settings give a user namespace to nobody who is not root.
pub(crate) fn no_user_namespaces() -> bool {
    Settings::read().off()
}

impl Settings {
    fn off(&self) -> bool {
        [&self.max_user_namespaces, &self.unprivileged_userns_clone]
            .into_iter()
            .any(|setting| setting.as_deref() == Some("0"))
    }
}

fn namespace_hint(settings: &Settings, errno: Errno) -> Option<String> {
    let is = |setting: &Option<String>, value: &str| setting.as_deref() == Some(value);
    if is(&settings.max_user_namespaces, "0") || errno == Errno::ENOSPC {
        return Some("user namespaces are used up or off: raise user.max_user_namespaces".to_owned());
    }
    if is(&settings.unprivileged_userns_clone, "0") {
        return Some("set kernel.unprivileged_userns_clone=1".to_owned());
    }
    if is(&settings.apparmor_restrict, "1") {
        let profile = settings.apparmor_profile.as_deref().unwrap_or("unconfined");
        return Some(format!(
            "AppArmor restricts user namespaces (this process: {profile}); install a profile that allows \
             `userns` for glassd and glass-worker in /etc/apparmor.d and load it with apparmor_parser -r"
        ));
    }
    (errno == Errno::EPERM).then(|| {
        "user namespaces are refused here, as in a chroot or a container's seccomp profile".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn a_container_without_the_uids_is_named() {
        for step in [Step::Uid, Step::Own] {
            assert!(hint(step, Errno::EINVAL).unwrap().contains("1900000000"));
        }
    }

    #[test]
    fn each_setting_has_its_own_advice() {
        let off = Settings { max_user_namespaces: setting("0"), ..Settings::default() };
        assert!(namespace_hint(&off, Errno::ENOSPC).unwrap().contains("max_user_namespaces"));
        let debian = Settings { unprivileged_userns_clone: setting("0"), ..Settings::default() };
        assert!(namespace_hint(&debian, Errno::EPERM).unwrap().contains("unprivileged_userns_clone"));
        assert!(off.off() && debian.off() && !Settings::default().off());
        let ubuntu = Settings { apparmor_restrict: setting("1"), ..Settings::default() };
        assert!(namespace_hint(&ubuntu, Errno::EACCES).unwrap().contains("AppArmor"));
        assert!(namespace_hint(&Settings::default(), Errno::EPERM).is_some());
        assert!(namespace_hint(&Settings::default(), Errno::EIO).is_none());
    }
}
