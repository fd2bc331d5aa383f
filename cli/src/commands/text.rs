//! Text that a command takes from standard input or a file (contract 12.3).
//!
//! Exact: every byte counts, a line break at the end too. Bounded, and UTF-8 or refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use glass_proto::AnyOperation;
use glass_proto::escape::visible;

use crate::error::Failure;

/// Most bytes that are taken.
const MAX: u64 = 1024 * 1024;

/// Puts the text where the operation wants it: `-` stands for standard input, `--file` for a file.
///
/// # Errors
/// `invalid_argument` when it cannot be read, is too large or is no UTF-8.
pub(super) fn take(operation: &mut AnyOperation) -> Result<(), Failure> {
    let Some(input) = operation.text_input() else { return Ok(()) };
    match input.file.take() {
        Some(path) => *input.text = from_file(&path)?,
        None if input.text == "-" => *input.text = from(io::stdin().lock(), "standard input")?,
        None => {}
    }
    Ok(())
}

fn from_file(path: &Path) -> Result<String, Failure> {
    let name = format!("the file {}", visible(&path.to_string_lossy(), false));
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    from(file, &name)
}

fn from(source: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source.take(MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX {
        return Err(Failure::invalid(
            format!("{name} holds more than {MAX} bytes"),
            "at most 1 MiB of text is taken",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        Failure::invalid(format!("{name} is not UTF-8 text, from byte {valid} on"), "convert it to UTF-8")
    })
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::invalid(format!("{name} cannot be read: {error}"), "give a file that can be read, or `-`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<String, Failure>) -> String {
        result.unwrap_err().error.message.clone()
    }

    #[test]
    fn text_is_exact() {
        assert_eq!(from(&b"a\r\nb\n"[..], "x").unwrap(), "a\r\nb\n");
        assert_eq!(from(&b""[..], "x").unwrap(), "");
    }

    #[test]
    fn too_much_and_no_text_are_refused() {
        assert!(message(from(io::repeat(b'a'), "standard input")).contains("1048576"));
        assert_eq!(from(io::repeat(b'a').take(MAX), "x").unwrap().len() as u64, MAX);
        assert!(message(from(&b"ab\xff"[..], "x")).contains("byte 2"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let missing = message(from_file(&dir.path().join("no\x1bfile")));
        assert!(missing.contains("no\\u{1b}file"), "{missing}");
        assert!(message(from_file(dir.path())).contains("cannot be read"));
    }
}
