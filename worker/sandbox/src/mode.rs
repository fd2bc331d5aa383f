//! How strong a cage is, from strongest to weakest.

use serde::{Deserialize, Serialize};

/// The kinds of cage. `Ord` follows strength: a weaker mode is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// C: nothing but the browser's own sandbox.
    #[serde(rename = "browser")]
    BrowserOnly,
    /// B: Landlock and seccomp, without namespaces of ours.
    #[serde(rename = "landlock")]
    LandlockOnly,
    /// A: own namespaces, an own root, Landlock and seccomp.
    #[serde(rename = "namespaces")]
    Namespaces,
}

impl Mode {
    /// The name in configuration, JSON and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::BrowserOnly => "browser",
            Self::LandlockOnly => "landlock",
            Self::Namespaces => "namespaces",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_serde_names_and_order_is_strength() {
        for mode in [Mode::BrowserOnly, Mode::LandlockOnly, Mode::Namespaces] {
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
        assert!(Mode::BrowserOnly < Mode::LandlockOnly && Mode::LandlockOnly < Mode::Namespaces);
    }
}
