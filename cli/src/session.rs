//! Which session a command is about (contract 1.1): a name, `auto` or `new`.
//!
//! Makes the name of a working tree. Does not know which sessions there are: the daemon does.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use glass_proto::SessionName;

/// What `--session` and `GLASS_SESSION` take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// A session by name.
    Named(SessionName),
    /// The session of the working tree.
    Auto,
    /// A session that ends with the command.
    New,
}

impl Default for SessionChoice {
    fn default() -> Self {
        Self::Named(SessionName::shared_default())
    }
}

/// A choice that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSession {
    /// The option's or argument's text.
    #[error(
        "a session is auto, new, or 1 to 63 of a-z, 0-9, `.`, `_` and `-` that begin with a letter or a digit"
    )]
    Text,
    /// The environment variable's text.
    #[error("GLASS_SESSION holds no session name")]
    Variable,
    /// `new` where a session that exists is meant.
    #[error("a new session has no name that could be meant here")]
    NewHasNoName,
    /// `auto` without a directory to stand in.
    #[error("the working directory cannot be read: {0}")]
    Directory(#[source] io::Error),
}

impl FromStr for SessionChoice {
    type Err = InvalidSession;
    fn from_str(text: &str) -> Result<Self, InvalidSession> {
        match text {
            "auto" => Ok(Self::Auto),
            "new" => Ok(Self::New),
            name => name.parse().map(Self::Named).map_err(|_| InvalidSession::Text),
        }
    }
}

impl SessionChoice {
    /// The text for an execute request: a name, or `new`.
    ///
    /// # Errors
    /// When `auto` stands in a directory that cannot be read.
    pub fn for_execute(&self) -> Result<String, InvalidSession> {
        match self {
            Self::New => Ok("new".to_owned()),
            other => other.name().map(String::from),
        }
    }

    /// The name of a session that exists or may come to exist.
    ///
    /// # Errors
    /// For `new`, and when `auto` stands in a directory that cannot be read.
    pub fn name(&self) -> Result<SessionName, InvalidSession> {
        match self {
            Self::Named(name) => Ok(name.clone()),
            Self::New => Err(InvalidSession::NewHasNoName),
            Self::Auto => {
                let here = std::env::current_dir()
                    .and_then(|dir| dir.canonicalize())
                    .map_err(InvalidSession::Directory)?;
                Ok(tree_name(tree_root(&here)))
            }
        }
    }
}

impl fmt::Display for SessionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Auto => f.write_str("auto"),
            Self::New => f.write_str("new"),
        }
    }
}

/// The nearest directory upward that holds `.git` (a directory, or a file in a worktree), else `here` itself.
fn tree_root(here: &Path) -> &Path {
    here.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()).unwrap_or(here)
}

/// A readable name with a hash of the whole path, so that trees of one name keep apart.
fn tree_name(root: &Path) -> SessionName {
    /// Leaves room for the dash and the hash within the 63 characters of a name.
    const BASE: usize = 40;
    let base = root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut name = String::with_capacity(BASE + 11);
    for c in base.chars() {
        let plain = c.is_ascii_alphanumeric() || (matches!(c, '.' | '_') && !name.is_empty());
        match plain {
            true => name.push(c),
            false if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            false => {}
        }
        if name.len() == BASE {
            break;
        }
    }
    let base = name.trim_end_matches('-');
    let base = if base.is_empty() { "tree" } else { base };
    let text = format!("{base}-{:010x}", fnv1a(root.as_os_str().as_encoded_bytes()) & 0xff_ffff_ffff);
    text.parse().expect("ASCII letters, digits, dots, dashes and underscores after a letter or a digit")
}

/// FNV-1a, 64 bit: the same in every build, which the standard library's hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_printed() {
        for text in ["auto", "new", "default", "a.b-c_9"] {
            assert_eq!(text.parse::<SessionChoice>().unwrap().to_string(), text);
        }
        for text in ["", "A", "../x", "a b", "é", "-a", &"x".repeat(64)] {
            assert!(text.parse::<SessionChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_trees_are_readable_stable_and_apart() {
        let name = |path: &str| tree_name(Path::new(path)).to_string();
        assert!(name("/home/ann/My Shop (v2)").starts_with("my-shop-v2-"));
        assert_eq!(name("/a/shop"), name("/a/shop"));
        assert_ne!(name("/a/shop"), name("/b/shop"));
        assert!(name("/").starts_with("tree-"));
        assert!(name("/x/магазин").starts_with("tree-"));
        assert!(name("/x/.config").starts_with("config-"));
        let long = name(&format!("/x/{}", "é".repeat(10) + &"long".repeat(40)));
        assert!(long.len() <= 63 && long.starts_with("long"), "{long}");
        assert_ne!(name(&format!("/x/{}a", "y".repeat(200))), name(&format!("/x/{}b", "y".repeat(200))));
    }

    #[test]
    fn the_tree_begins_at_the_git_root() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("repo/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(tree_root(&deep), deep);
        // A worktree has a file there.
        std::fs::write(dir.path().join("repo/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(tree_root(&deep), dir.path().join("repo"));
    }
}
