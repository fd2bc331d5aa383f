//! Cuts the browser's byte stream into messages that end in a NUL byte.
//!
//! Pure: bytes go in, [`Frame`]s come out, nothing is parsed and nothing is awaited, so the fuzz target and the
//! property tests drive exactly the code that runs.
//!
//! Invariant: at most the size limit plus one read is held in memory, whatever the browser sends; a longer message
//! is counted and dropped as it streams by, and the stream stays in step.

use bytes::{Bytes, BytesMut};

/// Free room offered to each read; what a pipe holds by default.
const READ_ROOM: usize = 64 * 1024;

/// A buffer that grew past this is given back once it is empty, so that one big result does not stay resident.
const KEEP_CAPACITY: usize = 1024 * 1024;

/// How much of a message that is too large is kept: enough for its id or method, which come first.
const HEAD: usize = 256;

/// One message of the browser, without its terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A whole message.
    Message(Bytes),
    /// A message above the limit, dropped.
    TooLarge {
        /// Its first bytes (at most 256).
        head: Vec<u8>,
        /// Its length in bytes, without the terminator.
        bytes: u64,
    },
}

/// Splits a stream at NUL bytes.
///
/// Write into [`Decoder::room`] (or call [`Decoder::feed`]), then take frames until there is none.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// `buffer[..scanned]` holds no terminator.
    scanned: usize,
    limit: usize,
    skipping: Option<Skipped>,
}

#[derive(Debug)]
struct Skipped {
    head: Vec<u8>,
    bytes: u64,
}

impl Decoder {
    /// A decoder that takes messages of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), scanned: 0, limit, skipping: None }
    }

    /// The buffer to append the next read to; it has free room.
    pub fn room(&mut self) -> &mut BytesMut {
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(READ_ROOM);
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete message, or `None` until more bytes come.
    pub fn next_frame(&mut self) -> Option<Frame> {
        match memchr::memchr(0, &self.buffer[self.scanned..]) {
            Some(offset) => {
                let length = self.scanned + offset;
                let mut bytes = self.buffer.split_to(length + 1);
                bytes.truncate(length);
                self.scanned = 0;
                Some(self.finish(bytes))
            }
            None => {
                self.scanned = self.buffer.len();
                if self.skipping.is_some() || self.buffer.len() > self.limit {
                    self.skip();
                }
                None
            }
        }
    }

    fn finish(&mut self, last: BytesMut) -> Frame {
        if let Some(mut skipped) = self.skipping.take() {
            skipped.add(&last);
            return Frame::TooLarge { head: skipped.head, bytes: skipped.bytes };
        }
        if last.len() > self.limit {
            let mut skipped = Skipped::default();
            skipped.add(&last);
            return Frame::TooLarge { head: skipped.head, bytes: skipped.bytes };
        }
        Frame::Message(last.freeze())
    }

    fn skip(&mut self) {
        let skipped = self.skipping.get_or_insert_default();
        skipped.add(&self.buffer);
        self.buffer.clear();
        self.scanned = 0;
    }
}

impl Default for Skipped {
    fn default() -> Self {
        Self { head: Vec::with_capacity(HEAD), bytes: 0 }
    }
}

impl Skipped {
    fn add(&mut self, bytes: &[u8]) {
        let missing = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        self.bytes += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(limit: usize, chunks: &[&[u8]]) -> Vec<Frame> {
        let mut decoder = Decoder::new(limit);
        let mut frames = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk);
            while let Some(frame) = decoder.next_frame() {
                frames.push(frame);
            }
            assert!(decoder.buffer.len() <= limit, "no more than the limit stays buffered");
        }
        frames
    }

    fn message(text: &str) -> Frame {
        Frame::Message(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn a_stream_cut_at_any_byte_gives_the_same_messages() {
        let stream = b"{\"id\":1}\0\0{\"method\":\"a\"}\0{\"id\":2}\0";
        let whole =
            vec![message("{\"id\":1}"), message(""), message("{\"method\":\"a\"}"), message("{\"id\":2}")];
        for cut in 0..=stream.len() {
            assert_eq!(decode(64, &[&stream[..cut], &stream[cut..]]), whole, "cut at {cut}");
        }
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(decode(64, &single), whole);
    }

    #[test]
    fn an_oversized_message_is_counted_and_the_next_one_arrives() {
        let mut stream = b"{\"id\":7,\"result\":\"".to_vec();
        stream.extend(std::iter::repeat_n(b'x', 5000));
        let length = stream.len() as u64;
        stream.extend_from_slice(b"\0{\"id\":8}\0");
        for size in [1, 7, 100, 999, stream.len()] {
            let chunks: Vec<&[u8]> = stream.chunks(size).collect();
            let frames = decode(1000, &chunks);
            let Frame::TooLarge { head, bytes } = &frames[0] else {
                panic!("too large expected: {frames:?}")
            };
            assert_eq!(*bytes, length);
            assert_eq!(head.len(), HEAD);
            assert!(head.starts_with(b"{\"id\":7,"));
            assert_eq!(frames[1..], [message("{\"id\":8}")]);
        }
    }

    #[test]
    fn a_message_of_exactly_the_limit_is_taken() {
        assert_eq!(decode(4, &[b"abcd\0"]), vec![message("abcd")]);
        assert_eq!(decode(4, &[b"abc", b"d", b"\0"]), vec![message("abcd")]);
        assert!(matches!(decode(4, &[b"abcde\0"])[..], [Frame::TooLarge { bytes: 5, .. }]));
    }

    #[test]
    fn room_after_a_big_message_is_given_back() {
        let mut decoder = Decoder::new(16 * KEEP_CAPACITY);
        decoder.feed(&vec![b'x'; 4 * KEEP_CAPACITY]);
        decoder.feed(b"\0");
        assert!(decoder.next_frame().is_some());
        assert!(decoder.room().capacity() <= KEEP_CAPACITY);
    }

    proptest! {
        #[test]
        fn any_split_of_any_stream_decodes_like_a_plain_split(
            parts in prop::collection::vec(prop::collection::vec(1u8.., 0..40), 0..12),
            sizes in prop::collection::vec(1usize..17, 1..8),
            limit in 1usize..30,
        ) {
            let mut stream = Vec::new();
            for part in &parts {
                stream.extend_from_slice(part);
                stream.push(0);
            }
            let mut rest = &stream[..];
            let mut chunks = Vec::new();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            let frames = decode(limit, &chunks);
            prop_assert_eq!(frames.len(), parts.len());
            for (frame, part) in frames.iter().zip(&parts) {
                match frame {
                    Frame::Message(bytes) => {
                        prop_assert!(part.len() <= limit);
                        prop_assert_eq!(&bytes[..], &part[..]);
                    }
                    Frame::TooLarge { head, bytes } => {
                        prop_assert!(part.len() > limit);
                        prop_assert_eq!(*bytes, part.len() as u64);
                        prop_assert_eq!(&head[..], &part[..]);
                    }
                }
            }
        }
    }
}
