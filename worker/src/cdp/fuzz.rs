//! Fuzz targets: whatever the browser's pipe brings is cut and sorted, or refused.

use super::{Decoder, Frame, envelope};

const WORDS: &[&str] = &[
    "\0",
    "{\"id\":",
    "\"method\":",
    "\"params\":{",
    "\"result\":{",
    "\"error\":{\"code\":-32000}",
    "\"sessionId\":\"S\"",
];

/// The bytes that are cut are the bytes that came, whatever the reads were.
#[test]
fn fuzz_frames() {
    glass_fuzz::run("cdp_frames", WORDS, |input| {
        const LIMIT: usize = 300;
        let mut decoder = Decoder::new(LIMIT);
        let mut found = Vec::new();
        // The first byte says how much is read at a time.
        let step = usize::from(input.first().copied().unwrap_or(1)).max(1);
        for piece in input.chunks(step) {
            decoder.feed(piece);
            while let Some(frame) = decoder.next_frame() {
                found.push(frame);
            }
        }
        let mut parts: Vec<_> = input.split(|byte| *byte == 0).collect();
        // What follows the last terminator is no message yet.
        parts.pop();
        assert_eq!(found.len(), parts.len());
        for (frame, part) in found.iter().zip(&parts) {
            match frame {
                Frame::Message(bytes) => assert_eq!(&bytes[..], *part),
                Frame::TooLarge { head, bytes } => {
                    assert!(part.len() > LIMIT && part.starts_with(head));
                    assert_eq!(*bytes, part.len() as u64);
                }
            }
        }
        let large = found.iter().filter(|frame| matches!(frame, Frame::TooLarge { .. })).count();
        format!("{} {large}", found.len().min(20))
    });
}

#[test]
fn fuzz_envelopes() {
    glass_fuzz::run("cdp_envelope", WORDS, |input| {
        let _ = (envelope::id_in_head(input), envelope::method_in_head(input));
        match envelope::parse(input) {
            Ok(incoming) => {
                format!("{incoming:?}").chars().take_while(|letter| letter.is_alphabetic()).collect()
            }
            Err(error) => format!("{:?}", error.classify()),
        }
    });
}
