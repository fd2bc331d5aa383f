//! `Page`'s screenshots and layout.

use serde::{Deserialize, Serialize};

use crate::cdp::command::command;

/// Format of a screenshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CaptureFormat {
    /// Lossless.
    Png,
    /// Lossy.
    Jpeg,
    /// Either.
    Webp,
}

/// Takes a screenshot.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureScreenshot<'a> {
    /// Format.
    pub format: CaptureFormat,
    /// 0 to 100, for the lossy formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<u8>,
    /// Which part; the viewport when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<&'a Viewport>,
    /// Whether the clip may lie outside of the viewport.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub capture_beyond_viewport: bool,
    /// From the compositor's surface; true when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_surface: Option<bool>,
    /// Faster, larger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optimize_for_speed: bool,
}
command!(CaptureScreenshot<'a> = "Page.captureScreenshot" -> Screenshot);

/// A part of the page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Viewport {
    /// Left, in CSS pixels of the document.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Factor of the result.
    pub scale: f64,
}

/// A screenshot.
#[derive(Clone, Debug, Deserialize)]
pub struct Screenshot {
    /// Base64.
    pub data: String,
}

/// Asks for sizes and scroll positions.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetLayoutMetrics {}
command!(GetLayoutMetrics = "Page.getLayoutMetrics" -> LayoutMetrics);

/// Sizes and scroll positions in CSS pixels.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayoutMetrics {
    /// What position fixed refers to.
    pub css_layout_viewport: LayoutViewport,
    /// What is seen.
    pub css_visual_viewport: VisualViewport,
    /// The whole document.
    pub css_content_size: ContentSize,
}

/// The layout viewport.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayoutViewport {
    /// Scrolled to the right by.
    pub page_x: f64,
    /// Scrolled down by.
    pub page_y: f64,
    /// Width without the scroll bar.
    pub client_width: f64,
    /// Height without the scroll bar.
    pub client_height: f64,
}

/// The visual viewport.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VisualViewport {
    /// From the left of the layout viewport.
    pub offset_x: f64,
    /// From its top.
    pub offset_y: f64,
    /// From the left of the document.
    pub page_x: f64,
    /// From its top.
    pub page_y: f64,
    /// Width.
    pub client_width: f64,
    /// Height.
    pub client_height: f64,
    /// Pinch zoom.
    pub scale: f64,
    /// Page zoom.
    pub zoom: Option<f64>,
}

/// The document's size.
#[derive(Clone, Debug, Deserialize)]
pub struct ContentSize {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}
