//! Which origins the session has shown: those whose storage can be saved.

use std::collections::VecDeque;

use url::Url;

/// Origins of documents that were shown, the newest last. Bounded; the rest is counted.
#[derive(Debug, Default)]
pub struct Visited {
    origins: VecDeque<String>,
    /// How many were forgotten.
    pub forgotten: u64,
}

impl Visited {
    /// Most origins that are remembered.
    const MOST: usize = 256;

    /// Notes the origin of a document.
    pub fn note(&mut self, url: &str) {
        let Some(origin) = origin(url) else { return };
        if let Some(at) = self.origins.iter().position(|known| *known == origin) {
            self.origins.remove(at);
        } else if self.origins.len() >= Self::MOST {
            self.origins.pop_front();
            self.forgotten += 1;
        }
        self.origins.push_back(origin);
    }

    /// The origins, sorted.
    pub fn origins(&self) -> Vec<String> {
        let mut origins: Vec<_> = self.origins.iter().cloned().collect();
        origins.sort_unstable();
        origins
    }
}

/// The origin of a page on the web, such as `https://example.com:8443`.
pub fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_the_web_are_kept_once_and_bounded() {
        let mut visited = Visited::default();
        for url in [
            "http://a.example/x",
            "http://a.example/y#z",
            "data:text/html,x",
            "about:blank",
            "blob:http://c.example/1",
        ] {
            visited.note(url);
        }
        assert_eq!(visited.origins(), ["http://a.example"]);
        for number in 0..Visited::MOST {
            visited.note(&format!("http://{number}.example:8080/"));
        }
        assert_eq!((visited.origins().len(), visited.forgotten), (Visited::MOST, 1));
        assert!(visited.origins().contains(&"http://0.example:8080".to_owned()));
    }
}
