//! The frames of standard input (contract 9.3): one JSON text a line, or a `Content-Length` header and its body.
//!
//! Knows bytes and bounds alone: no clock, no JSON. What is too large is skipped as it comes and never held. A header
//! that cannot be read ends everything, since what follows it has no known beginning.

use memchr::memchr;

/// How a frame was written; its answer is written the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One line.
    Line,
    /// A header with `Content-Length`, a blank line, and a body.
    Header,
}

/// The bounds of a frame, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The whole header block.
    pub header: usize,
    /// One line, without its end.
    pub line: usize,
    /// The body behind a header.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { header: 8 * 1024, line: 4 * 1024 * 1024, body: 4 * 1024 * 1024 }
    }
}

/// Why a frame is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// More bytes in a line than its bound.
    #[error("the line is longer than its bound of {0} bytes")]
    LongLine(usize),
    /// A larger body than its bound.
    #[error("the body is larger than its bound of {0} bytes")]
    LargeBody(usize),
    /// A larger header block than its bound.
    #[error("the header is larger than its bound of {0} bytes")]
    LargeHeader(usize),
    /// The header block is not what it must be.
    #[error("the header cannot be read: {0}")]
    Header(&'static str),
    /// It did not end in time.
    #[error("the frame was not complete in time")]
    Slow,
    /// The input ended within it.
    #[error("the input ended within a frame")]
    Cut,
}

/// What the bytes so far come to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing yet: more bytes are needed.
    More,
    /// One whole frame.
    Frame(Framing, Vec<u8>),
    /// A frame that is refused. What follows it is read on.
    Refused(Framing, Refusal),
    /// The stream cannot be trusted any more.
    Broken(Framing, Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between two frames.
    Between,
    /// Within a line, of which so many bytes have no line end.
    Line(usize),
    /// Within a line that was refused.
    SkipLine,
    /// Within a header block.
    Header,
    /// Within a body of that many bytes.
    Body(usize),
    /// Within a refused body of which so many bytes are still to come.
    SkipBody(u64),
    /// After a header that could not be read.
    Dead,
}

/// Turns bytes into frames.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    state: State,
    held: Vec<u8>,
}

impl Decoder {
    /// A decoder with these bounds.
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: State::Between, held: Vec::new() }
    }

    /// Takes more bytes. Call [`Decoder::step`] until it needs more before the next.
    pub fn feed(&mut self, bytes: &[u8]) {
        match self.state {
            State::Dead => {}
            // What is skipped is never held.
            State::SkipBody(left) if self.held.is_empty() => {
                let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let left = left - skipped as u64;
                self.state = if left == 0 { State::Between } else { State::SkipBody(left) };
                self.held.extend_from_slice(&bytes[skipped..]);
            }
            State::SkipLine if self.held.is_empty() => {
                if let Some(end) = memchr(b'\n', bytes) {
                    self.state = State::Between;
                    self.held.extend_from_slice(&bytes[end + 1..]);
                }
            }
            _ => self.held.extend_from_slice(bytes),
        }
    }

    /// Whether a frame has begun and not ended: its time runs.
    pub fn within_frame(&self) -> bool {
        matches!(self.state, State::Line(_) | State::Header | State::Body(_))
    }

    /// The next thing that the bytes come to.
    pub fn step(&mut self) -> Step {
        loop {
            let step = match self.state {
                State::Between => self.begin(),
                State::Line(seen) => self.line(seen),
                State::SkipLine => self.skip_line(),
                State::Header => self.header(),
                State::Body(size) => self.body(size),
                State::SkipBody(left) => self.skip_body(left),
                State::Dead => Some(Step::More),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// The frame that is under way has taken too long.
    pub fn give_up(&mut self) -> Step {
        match self.state {
            State::Line(_) => {
                self.held.clear();
                self.state = State::SkipLine;
                Step::Refused(Framing::Line, Refusal::Slow)
            }
            State::Body(size) => {
                self.state = State::SkipBody((size - self.held.len().min(size)) as u64);
                self.held.clear();
                Step::Refused(Framing::Header, Refusal::Slow)
            }
            State::Header => self.broken(Refusal::Slow),
            _ => Step::More,
        }
    }

    /// The input has ended. A last line without its end is a frame.
    pub fn finish(&mut self) -> Step {
        let state = std::mem::replace(&mut self.state, State::Dead);
        let held = std::mem::take(&mut self.held);
        match state {
            State::Line(_) => Step::Frame(Framing::Line, without_return(held)),
            State::Header | State::Body(_) => Step::Refused(Framing::Header, Refusal::Cut),
            _ => Step::More,
        }
    }

    fn broken(&mut self, why: Refusal) -> Step {
        self.state = State::Dead;
        self.held = Vec::new();
        Step::Broken(Framing::Header, why)
    }

    fn drop_front(&mut self, count: usize) {
        self.held.drain(..count);
        // After a large frame the room is given back.
        if self.held.len() < 64 * 1024 && self.held.capacity() > 1024 * 1024 {
            self.held.shrink_to(64 * 1024);
        }
    }

    fn begin(&mut self) -> Option<Step> {
        let blank = self.held.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.drop_front(blank);
        self.state = match self.held.first() {
            None => return Some(Step::More),
            Some(b'c' | b'C') => State::Header,
            Some(_) => State::Line(0),
        };
        None
    }

    fn line(&mut self, seen: usize) -> Option<Step> {
        let end = memchr(b'\n', &self.held[seen..]).map(|at| seen + at);
        let size = end.unwrap_or(self.held.len());
        if size > self.limits.line {
            self.state = State::SkipLine;
            return Some(Step::Refused(Framing::Line, Refusal::LongLine(self.limits.line)));
        }
        let Some(end) = end else {
            self.state = State::Line(size);
            return Some(Step::More);
        };
        let line = self.held[..end].to_vec();
        self.drop_front(end + 1);
        self.state = State::Between;
        Some(Step::Frame(Framing::Line, without_return(line)))
    }

    fn skip_line(&mut self) -> Option<Step> {
        match memchr(b'\n', &self.held) {
            Some(end) => {
                self.drop_front(end + 1);
                self.state = State::Between;
                None
            }
            None => {
                self.held = Vec::new();
                Some(Step::More)
            }
        }
    }

    fn header(&mut self) -> Option<Step> {
        let Some(end) = header_end(&self.held) else {
            if self.held.len() > self.limits.header {
                return Some(self.broken(Refusal::LargeHeader(self.limits.header)));
            }
            return Some(Step::More);
        };
        if end > self.limits.header {
            return Some(self.broken(Refusal::LargeHeader(self.limits.header)));
        }
        let length = match content_length(&self.held[..end]) {
            Ok(length) => length,
            Err(why) => return Some(self.broken(Refusal::Header(why))),
        };
        self.drop_front(end);
        match usize::try_from(length) {
            Ok(size) if size <= self.limits.body => {
                self.state = State::Body(size);
                None
            }
            _ => {
                self.state = State::SkipBody(length);
                Some(Step::Refused(Framing::Header, Refusal::LargeBody(self.limits.body)))
            }
        }
    }

    fn body(&mut self, size: usize) -> Option<Step> {
        if self.held.len() < size {
            return Some(Step::More);
        }
        let body = self.held[..size].to_vec();
        self.drop_front(size);
        self.state = State::Between;
        Some(Step::Frame(Framing::Header, body))
    }

    fn skip_body(&mut self, left: u64) -> Option<Step> {
        let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(self.held.len());
        self.drop_front(skipped);
        let left = left - skipped as u64;
        self.state = if left == 0 { State::Between } else { State::SkipBody(left) };
        (left > 0).then_some(Step::More)
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

/// Where the body begins: after the first blank line.
fn header_end(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while let Some(at) = memchr(b'\n', &bytes[start..]) {
        let line = &bytes[start..start + at];
        start += at + 1;
        if line.is_empty() || line == b"\r" {
            return Some(start);
        }
    }
    None
}

/// The one length that the block gives.
fn content_length(block: &[u8]) -> Result<u64, &'static str> {
    let text = std::str::from_utf8(block).map_err(|_| "it is not UTF-8")?;
    let mut length = None;
    for line in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        if line.is_empty() {
            continue;
        }
        let (name, value) = line.split_once(':').ok_or("a line has no colon")?;
        let value = value.trim_matches([' ', '\t']);
        if name.eq_ignore_ascii_case("content-length") {
            if length.is_some() {
                return Err("it has two lengths");
            }
            length = Some(decimal(value).ok_or("the length is no decimal number")?);
        } else if name.eq_ignore_ascii_case("content-type") {
            let charset = value.to_ascii_lowercase();
            if charset.contains("charset") && !charset.contains("utf-8") && !charset.contains("utf8") {
                return Err("another character set than UTF-8");
            }
        } else {
            return Err("an unknown field");
        }
    }
    length.ok_or("it has no length")
}

fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests;
