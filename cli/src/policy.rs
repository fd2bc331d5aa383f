//! The policy options of a command line (contract 10.2): fixed by whoever starts a client, and never by a call.
//!
//! They only narrow what the daemon's own policy allows.

use clap::Args;
use glass_proto::op::Capability;
use glass_proto::policy::host::HostRule;
use glass_proto::policy::layer::{Contradiction, Given, Layer};
use glass_proto::policy::{Preset, egress::Source};
use glass_proto::{ErrorKind, OpError, Phase};

// No doc comment: clap would take it as the text about the program.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Policy options")]
pub struct PolicyOptions {
    /// Begin with a preset: development, ci, hardened or untrusted-mcp; without one the daemon's own policy holds
    #[arg(long, global = true, value_name = "PRESET")]
    pub policy: Option<Preset>,
    /// Give back a capability that the preset denies; never one that the daemon denies
    #[arg(long, global = true, value_name = "CAPABILITY")]
    pub policy_allow: Vec<Capability>,
    /// Deny a capability
    #[arg(long, global = true, value_name = "CAPABILITY")]
    pub policy_deny: Vec<Capability>,
    /// Reach this host and other listed ones alone: example.com, *.example.com, host:port, https://host, 10.0.0.0/8
    #[arg(long, global = true, value_name = "RULE")]
    pub policy_allow_host: Vec<HostRule>,
    /// The same for all but navigation: images, scripts and other parts of pages
    #[arg(long, global = true, value_name = "RULE")]
    pub policy_allow_subresource_host: Vec<HostRule>,
    /// Never reach this host
    #[arg(long, global = true, value_name = "RULE")]
    pub policy_deny_host: Vec<HostRule>,
    /// Have a person agree to each operation that needs it, with glassctl confirm
    #[arg(long, global = true, value_name = "CAPABILITY")]
    pub policy_confirm: Vec<Capability>,
    /// The same, and agree to one operation beforehand; each time that it is given, to one more
    #[arg(long, global = true, value_name = "CAPABILITY")]
    pub policy_confirm_once: Vec<Capability>,
}

impl PolicyOptions {
    /// What is given, checked as one side's policy.
    ///
    /// # Errors
    /// `invalid_configuration` where it contradicts itself or names what this build cannot do.
    pub fn given(&self) -> Result<Given, OpError> {
        let given = Given {
            preset: self.policy,
            allow: self.policy_allow.clone(),
            confirm: self.policy_confirm.clone(),
            confirm_once: self.policy_confirm_once.clone(),
            deny: self.policy_deny.clone(),
            allow_hosts: self.policy_allow_host.clone(),
            allow_subresource_hosts: self.policy_allow_subresource_host.clone(),
            deny_hosts: self.policy_deny_host.clone(),
            ..Given::default()
        };
        compile(given.clone())?;
        Ok(given)
    }

    /// Whether one is given.
    pub fn is_given(&self) -> bool {
        self.policy.is_some() || self.count() > 0
    }

    /// How many list items were read.
    pub fn count(&self) -> usize {
        self.policy_allow.len()
            + self.policy_deny.len()
            + self.policy_allow_host.len()
            + self.policy_allow_subresource_host.len()
            + self.policy_deny_host.len()
            + self.policy_confirm.len()
            + self.policy_confirm_once.len()
    }
}

/// One side's policy.
///
/// # Errors
/// `invalid_configuration`, with all that contradicts itself.
pub fn compile(given: Given) -> Result<Layer, OpError> {
    if given.is_empty() {
        return Ok(Layer::silent_client());
    }
    given.compile(Source::Client).map_err(|wrong| {
        let told = |wrong: &Contradiction| format!("{}: {wrong}", wrong.list.option());
        let message: Vec<_> = wrong.iter().map(told).collect();
        OpError::rejected(
            ErrorKind::InvalidConfiguration,
            Phase::Policy,
            message.join("; "),
            "change the policy options",
        )
        .reason("policy_options")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn what_contradicts_itself_or_cannot_be_done_is_refused() {
        let kind = |words: &[&str]| {
            let cli = Cli::try_parse_from(["glassctl", "observe"].iter().chain(words)).unwrap();
            cli.global.policy.given().map(|_| ()).map_err(|error| error.kind)
        };
        assert_eq!(kind(&["--policy", "hardened", "--policy-allow", "screenshot"]), Ok(()));
        assert_eq!(kind(&["--policy-confirm", "upload", "--policy-confirm-once", "upload"]), Ok(()));
        assert_eq!(kind(&["--policy-confirm", "named_sessions"]), Err(ErrorKind::InvalidConfiguration));
        let denied = ["--policy-deny", "upload", "--policy-confirm-once", "upload"];
        assert_eq!(kind(&denied), Err(ErrorKind::InvalidConfiguration));
        assert_eq!(kind(&["--policy", "polite"]), Err(ErrorKind::InvalidConfiguration));
        let both = ["--policy-allow-host", "A.test", "--policy-deny-host", "a.test."];
        assert_eq!(kind(&both), Err(ErrorKind::InvalidConfiguration));
        for words in [["--policy", "strict"], ["--policy-allow", "fly"], ["--policy-deny-host", "*"]] {
            assert!(Cli::try_parse_from(["glassctl", "observe"].iter().chain(&words)).is_err(), "{words:?}");
        }
    }
}
