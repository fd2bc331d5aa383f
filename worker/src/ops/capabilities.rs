//! `capabilities`: from what is known of a target; the page is not asked (contract 7.7).

use glass_proto::error::OpError;
use glass_proto::escape::cut;
use glass_proto::op::{ExportFormat, OPERATIONS};
use glass_proto::result::Capabilities;

use crate::context::{Context, halted};
use crate::page::Halt;

/// What look at the page itself, and are confined to no frame.
const OF_THE_PAGE: [&str; 5] = ["screenshot", "clickAt", "moveMouse", "keyUp", "exportPage"];

pub(super) fn run(context: &Context) -> Result<Capabilities, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let shown = target.main_frame().map_or(target.url.as_str(), |frame| frame.url.as_str());
    let media_type = target.document.exchange(&target.document.loader).map(|known| known.media_type.as_str());
    let media_type = media_type.filter(|kind| !kind.is_empty());
    let kind = if target.crashed { "error" } else { kind(shown, media_type) };
    let readable = matches!(kind, "page" | "image" | "viewer");
    let elsewhere = context.pages.is_elsewhere();
    let works = |looks: bool| (!looks || readable).then_some(true);
    let operations = OPERATIONS.iter().map(|facts| {
        let looks = facts.framed || facts.guarded || OF_THE_PAGE.contains(&facts.name);
        let goes = matches!(facts.name, "navigate" | "back" | "forward" | "reload");
        let never = elsewhere && super::elsewhere::NEVER.contains(&facts.name);
        (facts.name.to_owned(), if never { Some(false) } else { works(looks && !goes) })
    });
    let exports = ExportFormat::ALL.iter().map(|format| {
        let known = matches!(format, ExportFormat::Har);
        (format.name().to_owned(), if known || kind == "page" { Some(true) } else { None })
    });
    Ok(Capabilities {
        target_id: context.target.clone(),
        kind: kind.to_owned(),
        page_media_type: media_type.map(|kind| cut(kind, 128).into_owned()),
        operations: operations.collect(),
        exports: exports.collect(),
    })
}

fn kind(url: &str, media_type: Option<&str>) -> &'static str {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match (scheme, media_type.unwrap_or("text/html")) {
        ("chrome-error", _) => "error",
        ("chrome" | "chrome-extension" | "chrome-untrusted" | "devtools", _) => "internal",
        (_, "application/pdf") => "pdf",
        (_, kind) if kind.starts_with("image/") => "image",
        (_, "text/html" | "application/xhtml+xml") => "page",
        _ => "viewer",
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn kinds_follow_from_address_and_media_type() {
        for (url, media_type, expected) in [
            ("https://x.test/", Some("text/html"), "page"),
            ("about:blank", None, "page"),
            ("https://x.test/a.pdf", Some("application/pdf"), "pdf"),
            ("https://x.test/a", Some("image/svg+xml"), "image"),
            ("https://x.test/a", Some("application/json"), "viewer"),
            ("chrome-error://chromewebdata/", Some("text/html"), "error"),
            ("chrome://version/", None, "internal"),
        ] {
            assert_eq!(kind(url, media_type), expected, "{url}");
        }
    }
}
