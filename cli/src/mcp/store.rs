//! What results leave behind for `resources/read` (contract 9.7): the last observation, pictures, texts that were too
//! long. Bounded; the oldest goes first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents};

/// Most resources.
const MOST: usize = 64;
/// Most bytes of all of them.
const BYTES: usize = 32 * 1024 * 1024;

#[derive(Debug)]
enum Data {
    Text(String),
    Bytes(Vec<u8>),
}

impl Data {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

#[derive(Debug)]
struct Kept {
    uri: String,
    name: String,
    media: String,
    data: Data,
}

/// The resources of this process's session.
#[derive(Debug)]
pub struct Store {
    session: String,
    kept: Mutex<(u64, VecDeque<Kept>)>,
}

impl Store {
    /// An empty store.
    pub fn new(session: &str) -> Self {
        Self { session: session.to_owned(), kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, (u64, VecDeque<Kept>)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: String, media: &str, data: Data) -> Resource {
        let uri = format!("glass://session/{}/{name}", self.session);
        let mut kept = self.kept();
        kept.1.retain(|old| old.uri != uri);
        kept.1.push_back(Kept { uri, name, media: media.to_owned(), data });
        while kept.1.len() > 1
            && (kept.1.len() > MOST || kept.1.iter().map(|kept| kept.data.size()).sum::<usize>() > BYTES)
        {
            kept.1.pop_front();
        }
        describe(kept.1.back().expect("one was just added"))
    }

    fn number(&self) -> u64 {
        let mut kept = self.kept();
        kept.0 += 1;
        kept.0
    }

    /// Keeps the last observation.
    pub fn observation(&self, text: String) {
        self.add("observation".to_owned(), "text/plain", Data::Text(text));
    }

    /// Keeps a file of a script or of a step of a batch.
    pub fn file(&self, of: &str, bytes: Vec<u8>, media: String) -> Resource {
        self.add(format!("file/{of}-{}", self.number()), &media, Data::Bytes(bytes))
    }

    /// Keeps a picture.
    pub fn picture(&self, bytes: Vec<u8>, media: &'static str) -> Resource {
        self.add(format!("screenshot/{}", self.number()), media, Data::Bytes(bytes))
    }

    /// Keeps a text that was too long for its result.
    pub fn text(&self, tool: &str, text: String) -> Resource {
        self.add(format!("result/{tool}-{}", self.number()), "text/plain", Data::Text(text))
    }

    /// All of them, the newest last.
    pub fn list(&self) -> Vec<Resource> {
        self.kept().1.iter().map(describe).collect()
    }

    /// One of them.
    pub fn read(&self, uri: &str) -> Option<ResourceContents> {
        let kept = self.kept();
        let found = kept.1.iter().find(|kept| kept.uri == uri)?;
        let contents = match &found.data {
            Data::Text(text) => ResourceContents::text(text.clone(), uri),
            Data::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
        };
        Some(contents.with_mime_type(found.media.clone()))
    }
}

fn describe(kept: &Kept) -> Resource {
    Resource::new(kept.uri.clone(), kept.name.clone())
        .with_mime_type(kept.media.clone())
        .with_size(kept.data.size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_the_last_observation_replaces_the_one_before() {
        let store = Store::new("s");
        store.observation("one".into());
        store.observation("two".into());
        assert_eq!(store.list().len(), 1);
        assert!(matches!(
            store.read("glass://session/s/observation"),
            Some(ResourceContents::TextResourceContents { text, .. }) if text == "two"
        ));
        for _ in 0..2 * MOST {
            store.picture(vec![0; 1024], "image/png");
        }
        assert_eq!(store.list().len(), MOST);
        assert!(store.read("glass://session/s/observation").is_none());
        store.picture(vec![0; BYTES], "image/png");
        assert_eq!(store.list().len(), 1);
    }
}
