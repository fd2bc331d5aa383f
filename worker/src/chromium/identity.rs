//! Who the browser says it is in its client hints.
//!
//! With `--user-agent` Chromium keeps its brands but empties the detailed hints (architecture, full versions), which
//! no real browser does. The same command that could change the user agent fills them again. The brand list
//! follows Chromium's own rule, so that headers and `navigator.userAgentData` stay what they are without us.

use super::version::Version;
use crate::cdp::types::emulation::{BrandVersion, UserAgentMetadata};

/// Characters that Chromium draws its meaningless brand's punctuation from.
const PUNCTUATION: [char; 11] = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_'];

/// Versions of the meaningless brand.
const MEANINGLESS: [&str; 3] = ["8", "99", "24"];

/// Where the three brands of Google Chrome stand, by version.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The client hints of this browser on this system, for `Emulation.setUserAgentOverride` together with
/// [`Version::user_agent`].
pub fn user_agent_metadata(version: &Version) -> UserAgentMetadata {
    let major = version.major().to_string();
    UserAgentMetadata {
        brands: brands(version, |meaningless| meaningless.to_owned(), &major),
        full_version_list: brands(version, |meaningless| format!("{meaningless}.0.0.0"), version.full()),
        platform: if cfg!(target_os = "macos") { "macOS" } else { "Linux" }.to_owned(),
        // Chromium tells none on Linux.
        platform_version: String::new(),
        architecture: if cfg!(target_arch = "aarch64") { "arm" } else { "x86" }.to_owned(),
        model: String::new(),
        mobile: false,
        bitness: Some("64".to_owned()),
        wow64: false,
    }
}

fn brands(version: &Version, meaningless: impl Fn(&str) -> String, own: &str) -> Vec<BrandVersion> {
    let seed = version.major() as usize;
    let mark = |offset: usize| PUNCTUATION[(seed + offset) % PUNCTUATION.len()];
    let nonsense = BrandVersion {
        brand: format!("Not{}A{}Brand", mark(0), mark(1)),
        version: meaningless(MEANINGLESS[seed % MEANINGLESS.len()]),
    };
    let named = |brand: &str| BrandVersion { brand: brand.to_owned(), version: own.to_owned() };
    let order: &[usize] = match (version.is_google(), seed % 2) {
        (true, _) => &ORDERS[seed % ORDERS.len()],
        (false, 0) => &[0, 1],
        (false, _) => &[1, 0],
    };
    let mut placed: Vec<(usize, BrandVersion)> =
        order.iter().copied().zip([nonsense, named("Chromium"), named("Google Chrome")]).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, brand)| brand).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<(String, String)> {
        let version = Version::parse(text).expect("a version");
        let metadata = user_agent_metadata(&version);
        metadata.brands.into_iter().map(|brand| (brand.brand, brand.version)).collect()
    }

    #[test]
    fn brands_are_those_that_the_browsers_send() {
        let pairs = |brands: &[(&str, &str)]| -> Vec<(String, String)> {
            brands.iter().map(|(brand, version)| ((*brand).to_owned(), (*version).to_owned())).collect()
        };
        assert_eq!(list("Chromium 156.0.8078.114"), pairs(&[("Not:A-Brand", "8"), ("Chromium", "156")]));
        assert_eq!(
            list("Google Chrome 131.0.6778.85"),
            pairs(&[("Google Chrome", "131"), ("Chromium", "131"), ("Not_A Brand", "24")])
        );
    }

    #[test]
    fn full_versions_stand_in_the_same_order() {
        let version = Version::parse("Chromium 156.0.8078.114").expect("a version");
        let full = user_agent_metadata(&version).full_version_list;
        let versions: Vec<&str> = full.iter().map(|brand| brand.version.as_str()).collect();
        assert_eq!(versions, ["8.0.0.0", "156.0.8078.114"]);
    }
}
