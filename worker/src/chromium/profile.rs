//! Makes a profile directory fit for a new browser.
//!
//! Only the locks that a killed browser leaves are touched: their pid is of another pid namespace, where it may well
//! be a living process here, and then Chromium would refuse to start. Who calls owns the profile alone (the
//! daemon's flock), so no other browser can hold them.

use std::{
    io,
    path::{Path, PathBuf},
};

/// What Chromium makes to keep a second browser out.
const LOCKS: [&str; 3] = ["SingletonLock", "SingletonCookie", "SingletonSocket"];

/// Devices are refused at once: the choice among them would wait for ever in a window that nobody sees. 2 is Chromium's
/// word for blocked.
const PREFERENCES: &str = r#"{"profile":{"default_content_setting_values":{"usb_guard":2,"hid_guard":2,"serial_guard":2,"bluetooth_guard":2}}}"#;

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}", path.display())]
pub struct ProfileError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// The browser's own settings.
const LOCAL_STATE: &str = "Local State";

/// Ways of HTTP authentication that need what the session was given, and nothing of the machine's.
const SCHEMES: &str = "basic,digest";

/// Says by which ways the browser may tell servers who it is. By none, an answer with 401 is a page like others; by some,
/// the browser waits for somebody to be asked, at pages and at everything that they load.
pub(super) fn set_authentication(profile: &Path, some: bool) -> Result<(), ProfileError> {
    let path = profile.join(LOCAL_STATE);
    let failed = |source| ProfileError { what: "write", path: profile.join(LOCAL_STATE), source };
    let old = match std::fs::read(&path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(error)),
    };
    // Settings that cannot be read are begun anew, as the browser does with them.
    let mut settings: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&old).unwrap_or_default();
    let auth = settings.entry("auth").or_insert_with(|| serde_json::json!({}));
    if !auth.is_object() {
        *auth = serde_json::json!({});
    }
    auth["schemes"] = if some { SCHEMES } else { "" }.into();
    let text = serde_json::to_vec(&settings).map_err(|error| failed(error.into()))?;
    std::fs::create_dir_all(profile).and_then(|()| std::fs::write(&path, text)).map_err(failed)
}

/// Gives a new profile its settings; one that has some keeps them.
///
/// # Errors
/// The operating system's.
pub(super) fn settle(profile: &Path) -> io::Result<()> {
    let directory = profile.join("Default");
    std::fs::create_dir_all(&directory)?;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(directory.join("Preferences"));
    match made {
        Ok(mut file) => io::Write::write_all(&mut file, PREFERENCES.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes the locks of a browser that is gone.
pub(super) fn remove_stale_locks(profile: &Path) -> Result<(), ProfileError> {
    for name in LOCKS {
        let path = profile.join(name);
        match std::fs::remove_file(&path) {
            Ok(()) => tracing::debug!(name, "removed the lock of an earlier browser"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(ProfileError { what: "remove the stale lock", path, source }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authentication_is_set_beside_what_the_profile_has() {
        let profile = tempfile::tempdir().expect("a directory");
        let inside = profile.path().join("new");
        let read = || -> serde_json::Value {
            let text = std::fs::read(inside.join(LOCAL_STATE)).expect("the settings");
            serde_json::from_slice(&text).expect("JSON")
        };
        set_authentication(&inside, false).expect("set");
        assert_eq!(read(), serde_json::json!({ "auth": { "schemes": "" } }));
        std::fs::write(inside.join(LOCAL_STATE), r#"{"a":1,"auth":{"b":2}}"#).expect("a file");
        set_authentication(&inside, true).expect("set");
        assert_eq!(read(), serde_json::json!({ "a": 1, "auth": { "b": 2, "schemes": "basic,digest" } }));
    }

    #[test]
    fn a_profile_that_has_settings_keeps_them() {
        let profile = tempfile::tempdir().expect("a directory");
        settle(profile.path()).expect("settled");
        let file = profile.path().join("Default/Preferences");
        assert!(std::fs::read_to_string(&file).expect("a file").contains("usb_guard"));
        std::fs::write(&file, "{}").expect("written");
        settle(profile.path()).expect("left alone");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{}");
    }

    #[test]
    fn dangling_locks_go_and_the_rest_stays() {
        let profile = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("glass-7", profile.path().join("SingletonLock")).expect("a symlink");
        std::fs::write(profile.path().join("Local State"), "{}").expect("a file");
        remove_stale_locks(profile.path()).expect("removed");
        remove_stale_locks(profile.path()).expect("nothing to remove");
        let left: Vec<_> = std::fs::read_dir(profile.path()).expect("a directory").collect();
        assert_eq!(left.len(), 1);
    }
}
