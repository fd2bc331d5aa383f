//! The units that let the system start glassd.

use std::process::Stdio;
use std::time::Duration;

use glass_proto::diagnosis::Finding;
use tokio::process::Command;
use tokio::time::timeout;

/// How long systemd may take to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// What `glassctl doctor` says about the units. None where there is no systemd to ask.
pub(super) async fn finding() -> Option<Finding> {
    let mut command = Command::new("systemctl");
    command.args(["--user", "is-enabled", "glassd.socket"]);
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let asked = timeout(LIMIT, command.output()).await;
    let said = match asked {
        Ok(Ok(output)) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        // No systemd, or none that speaks: clients start the daemon then.
        Ok(Err(_)) | Err(_) => return None,
    };
    Some(match said.as_str() {
        "enabled" => Finding::good("service", "glassd.socket is enabled"),
        "masked" | "disabled" => {
            Finding::good("service", format!("glassd.socket is {said}; clients start glassd"))
        }
        _ => Finding::good("service", "not installed; clients start glassd"),
    })
}
