//! `Browser`: version, end, downloads.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Asks who the browser is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetVersion {}
command!(GetVersion = "Browser.getVersion" -> Version);

/// Who the browser is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Version of the protocol, such as `1.3`.
    pub protocol_version: String,
    /// Name and version, such as `Chrome/156.0.8078.114` or `HeadlessChrome/…`.
    pub product: String,
    /// Source revision.
    #[serde(default)]
    pub revision: String,
    /// The default user agent.
    pub user_agent: String,
    /// Version of V8.
    #[serde(default)]
    pub js_version: String,
}

/// Ends the browser in an orderly way.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Close {}
command!(Close = "Browser.close" -> Empty);

/// What happens to downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadBehavior {
    /// No download starts.
    Deny,
    /// Stored under the suggested name.
    Allow,
    /// Stored under the download's guid.
    AllowAndName,
    /// The browser's own setting.
    Default,
}

/// Sets where downloads go.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDownloadBehavior<'a> {
    /// What to do with them.
    pub behavior: DownloadBehavior,
    /// The context; the default one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<&'a str>,
    /// The directory, required unless denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_path: Option<&'a str>,
    /// Whether [`DownloadWillBegin`] and [`DownloadProgress`] are sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub events_enabled: bool,
}
command!(SetDownloadBehavior<'a> = "Browser.setDownloadBehavior" -> Empty);

/// Cancels a download.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelDownload<'a> {
    /// The download.
    pub guid: &'a str,
    /// Its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<&'a str>,
}
command!(CancelDownload<'a> = "Browser.cancelDownload" -> Empty);

/// A download is about to start.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownloadWillBegin {
    /// The frame that caused it.
    #[serde(default)]
    pub frame_id: String,
    /// The download.
    pub guid: String,
    /// Its address.
    pub url: String,
    /// A name from the page or server; not to be trusted.
    #[serde(default)]
    pub suggested_filename: String,
}

impl DownloadWillBegin {
    /// The name of the event.
    pub const METHOD: &'static str = "Browser.downloadWillBegin";
}

/// A download went on or ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownloadProgress {
    /// The download.
    pub guid: String,
    /// Expected size in bytes, 0 when unknown.
    #[serde(default)]
    pub total_bytes: f64,
    /// Bytes so far.
    #[serde(default)]
    pub received_bytes: f64,
    /// How it stands.
    pub state: DownloadState,
    /// Where it is stored, when it is complete.
    pub file_path: Option<String>,
}

impl DownloadProgress {
    /// The name of the event.
    pub const METHOD: &'static str = "Browser.downloadProgress";
}

/// How a download stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadState {
    /// Under way.
    InProgress,
    /// All bytes are on disk.
    Completed,
    /// Given up.
    Canceled,
    /// A value that this version does not know.
    #[serde(other)]
    Other,
}

/// Decides a permission without a prompt.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetPermission<'a> {
    /// Which one.
    pub permission: PermissionDescriptor<'a>,
    /// The decision.
    pub setting: PermissionSetting,
    /// For which origin; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'a str>,
    /// The context; the default one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<&'a str>,
}
command!(SetPermission<'a> = "Browser.setPermission" -> Empty);

/// A permission by the name that `navigator.permissions` uses.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PermissionDescriptor<'a> {
    /// Its name, such as `local-network-access`.
    pub name: &'a str,
}

/// A decision on a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionSetting {
    /// Allowed.
    Granted,
    /// Refused.
    Denied,
    /// Asked.
    Prompt,
}
