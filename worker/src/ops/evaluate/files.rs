//! Files that a script keeps by `glassArtifact`: made in the script's own scope, so that the page sees nothing of it, and
//! brought home beside its value (contract 5.3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::Evaluate;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::ArtifactKept;
use serde_json::Value;

use super::{Remote, read_error, value};
use crate::context::Context;

/// A function round the script's own one, on one line so that places in errors stay true.
const BEFORE: &str = "(async function (...given) { \
    const kept = [], waits = []; let size = 0; \
    const glassArtifact = (name, content, mime) => { \
    if (kept.length >= 3 * MOST) throw new RangeError('glassArtifact keeps at most MOST files'); \
    const at = kept.push(String(name), mime === undefined ? '' : String(mime), '') - 1; \
    const take = (bytes) => { size += bytes.length; \
    if (size > BYTES) throw new RangeError('glassArtifact keeps at most BYTES bytes'); \
    let text = ''; for (let from = 0; from < bytes.length; from += 32768) \
    text += String.fromCharCode(...bytes.subarray(from, from + 32768)); kept[at] = btoa(text); }; \
    if (typeof content === 'string') take(new TextEncoder().encode(content)); \
    else if (content instanceof ArrayBuffer) take(new Uint8Array(content)); \
    else if (ArrayBuffer.isView(content)) take(new Uint8Array(content.buffer, content.byteOffset, content.byteLength)); \
    else if (content instanceof Blob) { if (mime === undefined) kept[at - 1] = content.type; \
    const wait = content.arrayBuffer().then((buffer) => take(new Uint8Array(buffer))); wait.catch(() => {}); waits.push(wait); } \
    else throw new TypeError('glassArtifact keeps text, bytes or a Blob'); }; \
    const run = ";
const AFTER: &str =
    "\n; const value = await run(...given); await Promise.all(waits); return [value, kept]; })";

/// Whether a script keeps files.
pub(super) fn keeps(params: &Evaluate) -> bool {
    params.expression.contains(Evaluate::KEEP)
}

/// The function that runs `function` and answers its value and the files.
pub(super) fn around(function: &str) -> String {
    let before = BEFORE.replace("MOST", &Evaluate::MAX_ARTIFACTS.to_string());
    let before = before.replace("BYTES", &Evaluate::MAX_ARTIFACT_BYTES.to_string());
    format!("{before}{function}{AFTER}")
}

/// What a script gave back, and its files with what is in them.
type Given = (Value, Vec<(ArtifactKept, Vec<u8>)>);

/// The value and the files of a script that ran in [`around`].
///
/// # Errors
/// `evaluation_failed` when the value is no JSON, `result_too_large`; the script has run.
pub(super) fn read(remote: &Remote) -> Result<Given, OpError> {
    let raw = remote.deep_serialized_value.as_deref().ok_or_else(spoilt)?;
    let (value, texts) = value::decode_with_files(raw).map_err(|error| read_error(&error))?;
    let mut files = Vec::new();
    let mut size = 0;
    for file in texts.chunks(3) {
        let [name, media_type, data] = file else { return Err(spoilt()) };
        let data = STANDARD.decode(data).map_err(|_| spoilt())?;
        size += data.len();
        // The page could have changed what the script counts by.
        if files.len() >= Evaluate::MAX_ARTIFACTS || size > Evaluate::MAX_ARTIFACT_BYTES {
            return Err(super::too_large());
        }
        let kept = ArtifactKept {
            page_name: cut(name, 255).into_owned(),
            media_type: plain(media_type),
            bytes: data.len() as u64,
            path: None,
        };
        files.push((kept, data));
    }
    Ok((value, files))
}

/// Sends them after each other, by their numbers.
pub(super) async fn send(context: &Context, files: Vec<(ArtifactKept, Vec<u8>)>) -> Vec<ArtifactKept> {
    let mut told = Vec::new();
    for (number, (kept, data)) in files.into_iter().enumerate() {
        context.send_file(&format!("artifact-{number}"), kept.media_type.clone(), data).await;
        told.push(kept);
    }
    told
}

/// A media type that is one; anything else is bytes.
fn plain(text: &str) -> String {
    let of_type = |c: char| c.is_ascii_alphanumeric() || "/.+-;=_ ".contains(c);
    let fits = text.len() <= 128 && text.matches('/').count() == 1 && text.chars().all(of_type);
    if fits { text.to_owned() } else { "application/octet-stream".to_owned() }
}

fn spoilt() -> OpError {
    OpError::failed(
        ErrorKind::EvaluationFailed,
        Phase::Verification,
        "the script ran, and its files cannot be read: the page changed what they are made by",
        "return the content as a value, or take it another way",
    )
    .reason("not_kept")
    .ended(Outcome::Completed, Dispatched::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_of_pages_are_plain_or_bytes() {
        assert_eq!(plain("text/csv; charset=utf-8"), "text/csv; charset=utf-8");
        for odd in ["", "text", "a/b/c", "text/\u{202e}", "text/\n", &"a/".repeat(200)] {
            assert_eq!(plain(odd), "application/octet-stream", "{odd}");
        }
    }

    #[test]
    fn the_bounds_stand_in_the_script() {
        let script = around("f");
        assert!(script.contains("3 * 32") && script.contains("20971520") && !script.contains("MOST"));
        assert_eq!(script.lines().count(), 2);
    }
}
