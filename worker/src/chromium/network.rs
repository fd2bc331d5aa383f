//! What a page is told about the network.

use crate::cdp::types::network::OverrideNetworkState;

/// Sent to every page and frame session when it is attached, before its scripts run.
///
/// The cage's network namespace has a loopback device only, from which Chromium concludes that there is no network:
/// `navigator.onLine` is false, and pages show their offline banners although every request works through the
/// proxy. A throughput has to be named for the override to take effect (checked on 156); nothing is throttled.
pub const ONLINE: OverrideNetworkState<'static> = OverrideNetworkState {
    offline: false,
    latency: 0.0,
    download_throughput: 1e9,
    upload_throughput: 1e9,
    connection_type: None,
};
