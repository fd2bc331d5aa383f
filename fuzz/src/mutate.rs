//! Small random changes to examples.

/// Values at which things break.
const BYTES: &[u8] =
    &[0, 1, b'\n', b' ', b'"', b'\'', b'\\', b'/', b'{', b'[', b';', b'=', 0x7f, 0x80, 0xc0, 0xff];
const TEXTS: &[&str] = &[
    "\u{0}",
    "é",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "😀",
    "\\ud800",
    "\\u0000",
    "-1",
    "0",
    "65536",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    ">>",
    " >> ",
    "~",
    "%",
    "%%30",
    "::",
    "..",
];

/// Makes new inputs of old ones. The same seed makes the same ones.
pub(crate) struct Mutator<'a> {
    state: u64,
    words: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seed: u64, words: &'a [&'a str]) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, words }
    }

    /// A new input, at most `most` bytes long, from one or two of the pool.
    pub(crate) fn mutate(&mut self, pool: &[Vec<u8>], most: usize) -> Vec<u8> {
        let mut input = pool[self.below(pool.len())].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut input, pool);
        }
        input.truncate(most);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = BYTES[self.below(BYTES.len())],
            2 => input.insert(at, BYTES[self.below(BYTES.len())]),
            3 => self.remove(input, at),
            4 => self.repeat(input, at),
            5 => {
                let other = self.below(pool.len());
                self.splice(input, at, &pool[other]);
            }
            6 if !self.words.is_empty() => {
                let word = self.below(self.words.len());
                put(input, at, self.words[word]);
            }
            7 => input.truncate(at),
            _ => put(input, at, TEXTS[self.below(TEXTS.len())]),
        }
    }

    fn remove(&mut self, input: &mut Vec<u8>, at: usize) {
        let most = (input.len() - at).min(16);
        let end = at + self.below(most + 1);
        input.drain(at..end);
    }

    /// Once, or so often that depth and length show.
    fn repeat(&mut self, input: &mut Vec<u8>, at: usize) {
        let most = (input.len() - at).min(32);
        let piece = input[at..at + self.below(most + 1)].to_vec();
        let times = if self.below(8) == 0 { 500 } else { 1 + self.below(3) };
        let tail = input.split_off(at);
        input.extend(std::iter::repeat_n(piece, times).flatten());
        input.extend(tail);
    }

    fn splice(&mut self, input: &mut Vec<u8>, at: usize, other: &[u8]) {
        let from = self.below(other.len() + 1);
        let end = from + self.below(other.len() - from + 1);
        let tail = input.split_off(at);
        input.extend(&other[from..end]);
        if self.below(2) == 0 {
            input.extend(tail);
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let value = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(value).unwrap_or_default() % bound.max(1)
    }
}

fn put(input: &mut Vec<u8>, at: usize, text: &str) {
    let tail = input.split_off(at);
    input.extend(text.as_bytes());
    input.extend(tail);
}
