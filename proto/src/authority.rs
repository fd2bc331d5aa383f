//! What a policy says, told to whoever asks: `glassctl policy`, and `glass --mcp` for its list of tools.
//!
//! Owns the shape of the answer, and how an item that is asked about is read. Decides nothing: `glass_policy` does.

use glass_policy::decide::{Denial, Policy, Ruling};
use glass_policy::egress::Purpose;
use glass_policy::layer::Given;
use glass_policy::{Capability, Stance, navigation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Facts, OPERATIONS};

/// The most items of one question.
pub const MAX_ITEMS: usize = 64;

/// What glassd's program is asked on its standard input, without a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The policy options of the command line.
    pub flags: Given,
    /// Operations, capabilities or URLs.
    pub items: Vec<String>,
}

/// What holds for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// The daemon's policy file.
    pub path: String,
    /// Whether it is there; without it the daemon goes by the preset `development`.
    pub exists: bool,
    /// Everything that is wrong with the file, each with its place; the policy before it holds on, where there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<String>,
    /// Both sides: the daemon's ceiling and what the client's command line says within it.
    pub layers: Vec<LayerTold>,
    /// What holds for each capability.
    pub capabilities: Vec<Answer>,
    /// Operations that are denied whatever their parameters are.
    pub denied_operations: Vec<String>,
    /// Answers to what was asked, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayerTold {
    /// `daemon` or `client`
    pub source: String,
    /// Its preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Whether hosts that no rule names are allowed.
    pub any_host: bool,
    /// Hosts allowed for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    /// Hosts allowed for all but navigation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_subresource_hosts: Vec<String>,
    /// Hosts denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_hosts: Vec<String>,
    /// Whether addresses that are not public are denied unless a rule names them.
    pub public_addresses_only: bool,
    /// Whether sessions whose network rules nobody enforces are refused.
    pub requires_egress: bool,
}

/// What is decided about one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The item: a capability, an operation by its name on the wire, or a URL's scheme, host and port.
    pub item: String,
    /// `allow`, `confirm` or `deny`
    pub says: String,
    /// The rule that decided.
    pub rule_id: String,
    /// Why, where it is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a person could do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What each side says on the way to the decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub considered: Vec<String>,
}

/// An item that is nothing that a policy knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no operation, no capability and no URL")]
pub struct UnknownItem(String);

/// Tells what `policy` says in general, and about `items`.
///
/// # Errors
/// The first item that is none.
pub fn tell(policy: &Policy, items: &[String]) -> Result<Told, UnknownItem> {
    let texts = |rules: &[glass_policy::host::HostRule]| rules.iter().map(ToString::to_string).collect();
    let layers = policy.layers().map(|layer| LayerTold {
        source: layer.source.name().to_owned(),
        preset: layer.preset.map(|preset| preset.to_string()),
        any_host: layer.hosts.any,
        allow_hosts: texts(&layer.hosts.allow),
        allow_subresource_hosts: texts(&layer.hosts.subresource),
        deny_hosts: texts(&layer.hosts.deny),
        public_addresses_only: layer.hosts.public_only,
        requires_egress: layer.requires_egress,
    });
    let capability = |capability: &Capability| {
        about(policy, capability.name(), &[*capability], &policy.capability(*capability))
    };
    Ok(Told {
        layers: layers.into(),
        capabilities: Capability::ALL.iter().map(capability).collect(),
        denied_operations: denied(policy).map(|facts| facts.name.to_owned()).collect(),
        answers: items.iter().map(|item| answer(policy, item)).collect::<Result<_, _>>()?,
        ..Told::default()
    })
}

/// The operations that `policy` denies whatever their parameters are.
pub fn denied(policy: &Policy) -> impl Iterator<Item = &'static Facts> {
    OPERATIONS
        .iter()
        .filter(|facts| policy.all(&facts.needed()).is_some_and(|ruling| ruling.says.stance == Stance::Deny))
}

fn answer(policy: &Policy, item: &str) -> Result<Answer, UnknownItem> {
    let operation = Facts::of(item);
    // Some have the name of an operation; that needs them.
    if let (None, Ok(capability)) = (operation, item.parse::<Capability>()) {
        return Ok(about(policy, item, &[capability], &policy.capability(capability)));
    }
    if let Some(facts) = operation {
        let needs = facts.needed();
        if let Some(ruling) = policy.all(&needs) {
            return Ok(about(policy, facts.name, &needs, &ruling));
        }
    }
    let unknown = || UnknownItem(crate::escape::cut(&crate::escape::visible(item, false), 64).into_owned());
    let looks_like_one = item.contains(['.', ':', '/']) || item == "localhost";
    let url = navigation::normalise(item).ok().filter(|_| looks_like_one).ok_or_else(unknown)?;
    // Never the path or the query: they may hold what nobody should read over a shoulder.
    let shown = match url.host_str() {
        Some(_) => url.origin().ascii_serialization(),
        None => format!("{}:", url.scheme()),
    };
    let denial = match navigation::admit(&url) {
        Ok(()) => policy.navigation(&url).err(),
        Err(refusal) => Some(Denial {
            rule: "schemes".to_owned(),
            reason: refusal.reason,
            remedy: refusal.remedy.to_owned(),
            override_possible: false,
            unconfigured: false,
        }),
    };
    let mut considered: Vec<String> = policy
        .layers()
        .map(|layer| {
            let hosts = match (layer.hosts.any, layer.hosts.allow.len() + layer.hosts.subresource.len()) {
                (true, _) => "any host".to_owned(),
                (false, listed) => format!("{listed} listed hosts alone"),
            };
            format!(
                "the {}'s policy allows {hosts} and denies {} hosts",
                layer.source.name(),
                layer.hosts.deny.len()
            )
        })
        .into();
    if let Some(connection) = denial.is_some().then(|| connection(&url)).flatten() {
        let any = policy.rules().decide(&connection.as_connection(), Purpose::Any);
        if any == glass_policy::egress::Decision::Allow {
            considered.push("pages may load parts of themselves from there".to_owned());
        }
    }
    if policy.layers().iter().any(|layer| layer.hosts.public_only) {
        considered.push("what its name turns out to be is judged again when it is connected to".to_owned());
    }
    Ok(match denial {
        None => Answer {
            item: shown,
            says: Stance::Allow.name().to_owned(),
            rule_id: "hosts".to_owned(),
            reason: None,
            remedy: None,
            considered,
        },
        Some(denial) => Answer { considered, ..denied_answer(shown, denial) },
    })
}

struct Owned {
    host: glass_policy::host::Host,
    port: u16,
    transport: glass_policy::host::Transport,
}

impl Owned {
    fn as_connection(&self) -> glass_policy::egress::Connection<'_> {
        let Self { host, port, transport } = self;
        glass_policy::egress::Connection {
            host,
            port: *port,
            transport: *transport,
            address: None,
            own: false,
        }
    }
}

fn connection(url: &url::Url) -> Option<Owned> {
    Some(Owned {
        host: glass_policy::host::Host::of(url)?,
        port: url.port_or_known_default()?,
        transport: glass_policy::host::Transport::of(url.scheme())?,
    })
}

fn denied_answer(item: String, denial: Denial) -> Answer {
    Answer {
        item,
        says: Stance::Deny.name().to_owned(),
        rule_id: denial.rule,
        reason: Some(denial.reason),
        remedy: Some(denial.remedy),
        considered: Vec::new(),
    }
}

fn about(policy: &Policy, item: &str, needs: &[Capability], ruling: &Ruling) -> Answer {
    let considered = needs.iter().flat_map(|capability| {
        policy.layers().map(|layer| format!("{capability}: {}", layer.says(*capability)))
    });
    let considered = considered.collect();
    match ruling.denial() {
        Some(denial) => Answer { considered, ..denied_answer(item.to_owned(), denial) },
        None => {
            let asks = ruling.says.stance == Stance::Confirm;
            Answer {
                item: item.to_owned(),
                says: ruling.says.stance.name().to_owned(),
                rule_id: ruling.rule(),
                reason: asks.then(|| format!("a person agrees to each: {}", ruling.says)),
                remedy: asks.then(|| "make the call, and have a person run `glassctl confirm ID`".to_owned()),
                considered,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glass_policy::Preset;
    use glass_policy::egress::Source;
    use glass_policy::layer::Layer;

    use super::*;

    fn policy(client: Given) -> Policy {
        let daemon = Given::default().compile(Source::Daemon).unwrap();
        Policy::new(Arc::new(daemon), Arc::new(client.compile(Source::Client).unwrap()))
    }

    // contract: 10.2
    #[test]
    fn operations_capabilities_and_urls_are_told_apart() {
        let hardened = Given {
            preset: Some(Preset::Hardened),
            allow_hosts: vec!["example.com".parse().unwrap()],
            ..Given::default()
        };
        let items = [
            "evaluate",
            "click-at",
            "get-dom",
            "fillForm",
            "raw_cdp",
            "example.com",
            "https://evil.test/secret?q",
            "file:///etc",
        ];
        let items: Vec<_> = items.iter().map(ToString::to_string).collect();
        let told = tell(&policy(hardened), &items).unwrap();
        let rows: Vec<_> =
            told.answers.iter().map(|answer| (&*answer.item, &*answer.says, &*answer.rule_id)).collect();
        assert_eq!(
            rows,
            [
                ("evaluate", "deny", "client/preset/hardened/evaluate"),
                ("clickAt", "deny", "client/preset/hardened/coordinate_input"),
                ("getDOM", "allow", "daemon/preset/development/read"),
                ("fillForm", "allow", "daemon/preset/development/input"),
                ("raw_cdp", "deny", "client/preset/hardened/raw_cdp"),
                ("https://example.com", "allow", "hosts"),
                ("https://evil.test", "deny", "client/default"),
                ("file:", "deny", "schemes"),
            ]
        );
        for name in ["evaluate", "screenshot", "inspect", "clickAt", "moveMouse", "upload"] {
            assert!(told.denied_operations.iter().any(|denied| denied == name), "{name}");
        }
        assert!(!told.denied_operations.iter().any(|denied| denied == "click" || denied == "observe"));
        assert!(tell(&policy(Given::default()), &["fly".to_owned()]).is_err());
    }

    #[test]
    fn nothing_is_denied_to_a_client_of_the_default_policy_but_secrets() {
        let told = tell(
            &Policy::new(
                Arc::new(Given::default().compile(Source::Daemon).unwrap()),
                Arc::new(Layer::silent_client()),
            ),
            &[],
        )
        .unwrap();
        assert_eq!(told.denied_operations, ["captureSecrets", "deleteSecrets"]);
        let denied: Vec<_> = told
            .capabilities
            .iter()
            .filter(|answer| answer.says == "deny")
            .map(|answer| &*answer.item)
            .collect();
        assert_eq!(denied, ["read_sensitive_values", "capture_secrets"]);
    }
}
