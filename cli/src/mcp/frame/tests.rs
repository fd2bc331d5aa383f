use super::*;

const SMALL: Limits = Limits { header: 64, line: 32, body: 40 };

/// Everything that the bytes come to, fed in pieces of this size.
fn all(bytes: &[u8], piece: usize, limits: Limits) -> Vec<Step> {
    let mut decoder = Decoder::new(limits);
    let mut steps = Vec::new();
    for part in bytes.chunks(piece.max(1)) {
        decoder.feed(part);
        loop {
            match decoder.step() {
                Step::More => break,
                step => steps.push(step),
            }
        }
        let bound = limits.header.max(limits.line).max(limits.body) + piece;
        assert!(decoder.held.len() <= bound, "{} bytes are held", decoder.held.len());
    }
    match decoder.finish() {
        Step::More => {}
        step => steps.push(step),
    }
    steps
}

fn line(text: &str) -> Step {
    Step::Frame(Framing::Line, text.as_bytes().to_vec())
}

fn body(text: &str) -> Step {
    Step::Frame(Framing::Header, text.as_bytes().to_vec())
}

// contract: 9.3
#[test]
fn both_framings_are_told_apart_by_the_first_byte_of_each_frame() {
    let bytes = b"{\"a\":1}\nContent-Length: 3\r\n\r\n{b}{c}\r\n\n\ncontent-length:2\ncontent-type: x; charset=utf-8\n\n{}[]";
    let want = [line("{\"a\":1}"), body("{b}"), line("{c}"), body("{}"), line("[]")];
    for piece in [1, 2, 3, 7, 1000] {
        assert_eq!(all(bytes, piece, Limits::default()), want, "in pieces of {piece}");
    }
}

// contract: 9.3
#[test]
fn what_is_too_large_is_refused_once_and_what_follows_is_read() {
    let long = "x".repeat(200);
    let bytes = format!("{long}\n[1]\nContent-Length: 200\r\n\r\n{long}[2]\n{}\n", "y".repeat(32));
    let want = [
        Step::Refused(Framing::Line, Refusal::LongLine(32)),
        line("[1]"),
        Step::Refused(Framing::Header, Refusal::LargeBody(40)),
        line("[2]"),
        line(&"y".repeat(32)),
    ];
    for piece in [1, 2, 31, 33, 64, 5000] {
        assert_eq!(all(bytes.as_bytes(), piece, SMALL), want, "in pieces of {piece}");
    }
}

#[test]
fn a_declared_length_is_never_allocated() {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(b"Content-Length: 18446744073709551615\r\n\r\n");
    assert!(matches!(decoder.step(), Step::Refused(Framing::Header, Refusal::LargeBody(_))));
    for _ in 0..100 {
        decoder.feed(&[b'x'; 1000]);
        assert_eq!(decoder.step(), Step::More);
        assert_eq!(decoder.held.len(), 0);
    }
}

// contract: 9.3
#[test]
fn a_header_that_cannot_be_read_ends_everything() {
    for header in [
        "Content-Length: +5",
        "Content-Length: 0x5",
        "Content-Length: 05",
        "Content-Length: 5 5",
        "Content-Length: 5.0",
        "Content-Length: -1",
        "Content-Length:",
        "Content-Length: 18446744073709551616",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Type: x",
        "Content-Type: x; charset=latin1\r\nContent-Length: 5",
        "Content-Length: 5\r\nCookie: 1",
        "Content-Length 5",
    ] {
        let bytes = format!("{header}\r\n\r\n[1]\n");
        let steps = all(bytes.as_bytes(), 3, Limits::default());
        assert!(
            matches!(steps[..], [Step::Broken(Framing::Header, Refusal::Header(_))]),
            "{header}: {steps:?}"
        );
    }
    let endless = format!("Content-Type: {}", "x".repeat(9000));
    let steps = all(endless.as_bytes(), 100, Limits::default());
    assert_eq!(steps, [Step::Broken(Framing::Header, Refusal::LargeHeader(8192))]);
}

#[test]
fn a_frame_without_an_end_is_given_up_and_the_next_is_read() {
    let mut decoder = Decoder::new(SMALL);
    decoder.feed(b"[1,");
    assert_eq!(decoder.step(), Step::More);
    assert!(decoder.within_frame());
    assert_eq!(decoder.give_up(), Step::Refused(Framing::Line, Refusal::Slow));
    assert!(!decoder.within_frame());
    decoder.feed(b"2]\nContent-Length: 6\n\n12");
    assert_eq!(decoder.step(), Step::More);
    assert_eq!(decoder.give_up(), Step::Refused(Framing::Header, Refusal::Slow));
    decoder.feed(b"3456[3]\nCont");
    assert_eq!(decoder.step(), line("[3]"));
    assert_eq!(decoder.step(), Step::More);
    assert_eq!(decoder.give_up(), Step::Broken(Framing::Header, Refusal::Slow));
}

#[test]
fn an_end_within_a_frame_is_told_and_a_last_line_needs_no_end() {
    assert_eq!(all(b"[1]\n[2]\r", 4, SMALL), [line("[1]"), line("[2]")]);
    assert_eq!(all(b"Content-Length: 5\r\n\r\n12", 4, SMALL), [Step::Refused(Framing::Header, Refusal::Cut)]);
    assert_eq!(all(b"Content-", 4, SMALL), [Step::Refused(Framing::Header, Refusal::Cut)]);
    assert_eq!(all(b" \r\n\n", 1, SMALL), []);
}

/// A decoder's promises over any bytes: it ends, it holds no more than its bounds, and it does not matter how the bytes
/// are cut into pieces.
fn promises(bytes: &[u8]) -> Vec<Step> {
    let whole = all(bytes, bytes.len(), SMALL);
    for piece in [1, 5] {
        assert_eq!(all(bytes, piece, SMALL), whole, "{bytes:?} in pieces of {piece}");
    }
    whole
}

#[test]
fn fuzz_mcp_frames() {
    let words = ["Content-Length: ", "Content-Type: ", "\r\n\r\n", "\n", "charset=utf-8", "{}"];
    glass_fuzz::run("mcp_frames", &words, |input| {
        let steps = promises(input);
        let word = |step: &Step| match step {
            Step::More => "m".to_owned(),
            Step::Frame(framing, _) => format!("f{framing:?}"),
            Step::Refused(framing, why) | Step::Broken(framing, why) => format!("r{framing:?}{why:?}"),
        };
        steps.iter().take(4).map(word).collect()
    });
}

mod made_up {
    use proptest::prelude::*;

    use super::promises;

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(b"Content-Length: ".to_vec()),
            Just(b"Content-Type: ".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"{\"jsonrpc\":\"2.0\"}".to_vec()),
            "[0-9]{1,21}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..48),
        ]
    }

    proptest! {
        #[test]
        fn any_bytes_keep_the_promises(pieces in proptest::collection::vec(piece(), 0..24)) {
            promises(&pieces.concat());
        }
    }
}
