//! The seccomp deny list of the cage: data in `policy/worker.json`, compiled here.
//!
//! Owns the form of the file and its translation to a filter for this architecture. Fails closed: a file that
//! does not compile, or names a call that this build does not know, stops the cage.

use std::collections::BTreeMap;

use nix::errno::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use serde::Deserialize;

use crate::error::{AtStep, CageError, Step};
use crate::syscalls;

const POLICY: &str = include_str!("../policy/worker.json");

/// What is denied besides where there is no network namespace.
const HOST_NETWORK: &str = include_str!("../policy/host-network.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    about: String,
    deny: Vec<Rule>,
}

/// Denies one system call, always or under conditions that must all hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    syscall: String,
    #[serde(default)]
    when: Vec<Condition>,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    arg: u8,
    op: Op,
    value: u32,
    mask: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Op {
    Eq,
    Ne,
    MaskedEq,
}

/// Why the embedded list is not usable. A test keeps it from ever happening in a release.
#[derive(Debug, thiserror::Error)]
enum PolicyError {
    #[error("read the list: {0}")]
    Json(#[from] serde_json::Error),
    #[error("`{0}` is no system call that this build knows")]
    Unknown(String),
    #[error("`{0}`: a mask belongs to masked_eq, and only there")]
    Mask(String),
    #[error("`{0}`: no reason given")]
    NoReason(String),
    #[error("compile: {0}")]
    Compile(#[from] seccompiler::BackendError),
}

/// Installs the filter on the calling thread, and so on all that it starts. Sets no-new-privs.
pub(crate) fn apply() -> Result<(), CageError> {
    install(&[POLICY])
}

/// The same for a process in the network of the host: no datagrams, and no transport but TCP.
pub(crate) fn apply_in_host_network() -> Result<(), CageError> {
    install(&[POLICY, HOST_NETWORK])
}

fn install(lists: &[&str]) -> Result<(), CageError> {
    let program =
        program(lists).map_err(|error| CageError::Plan { what: format!("seccomp policy: {error}") })?;
    seccompiler::apply_filter(&program).map_err(refused).at(Step::Seccomp, "install the filter")
}

fn refused(error: seccompiler::Error) -> std::io::Error {
    match error {
        seccompiler::Error::Prctl(io) | seccompiler::Error::Seccomp(io) => io,
        _ => std::io::Error::from(Errno::EINVAL),
    }
}

fn program(lists: &[&str]) -> Result<BpfProgram, PolicyError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut denied = Vec::new();
    for text in lists {
        let policy: Policy = serde_json::from_str(text)?;
        if policy.about.trim().is_empty() {
            return Err(PolicyError::NoReason("about".to_owned()));
        }
        denied.extend(policy.deny);
    }
    for rule in denied {
        if rule.why.trim().is_empty() {
            return Err(PolicyError::NoReason(rule.syscall));
        }
        let Some(number) =
            syscalls::number(&rule.syscall).ok_or(PolicyError::Unknown(rule.syscall.clone()))?
        else {
            continue;
        };
        let conditions =
            rule.when.iter().map(|when| condition(when, &rule.syscall)).collect::<Result<Vec<_>, _>>()?;
        let denied = rules.entry(number).or_default();
        if !conditions.is_empty() {
            denied.push(SeccompRule::new(conditions)?);
        }
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(Errno::EPERM as u32), arch)?;
    let mut program = BpfProgram::try_from(filter)?;
    if arch == TargetArch::x86_64 {
        program.splice(0..0, refuse_x32());
    }
    Ok(program)
}

fn condition(when: &Condition, syscall: &str) -> Result<SeccompCondition, PolicyError> {
    let op = match (when.op, when.mask) {
        (Op::Eq, None) => SeccompCmpOp::Eq,
        (Op::Ne, None) => SeccompCmpOp::Ne,
        (Op::MaskedEq, Some(mask)) => SeccompCmpOp::MaskedEq(mask.into()),
        _ => return Err(PolicyError::Mask(syscall.to_owned())),
    };
    // Every argument compared here is an `int` or `unsigned int` of the kernel's, which ignores the upper
    // half.
    Ok(SeccompCondition::new(when.arg, SeccompCmpArgLen::Dword, op, when.value.into())?)
}

/// Refuses the x32 call numbers, which bear the same architecture mark as the native ones and would each pass
/// a list of native numbers.
fn refuse_x32() -> [sock_filter; 3] {
    const LOAD_NUMBER: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, at offset 0 of seccomp_data
    const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const X32_BIT: u32 = 0x4000_0000;
    const RET_ERRNO: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO
    [
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: RET_ERRNO | Errno::EPERM as u32 },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_list_compiles() {
        for lists in [&[POLICY][..], &[POLICY, HOST_NETWORK]] {
            let length = program(lists).unwrap().len();
            assert!((100..1000).contains(&length), "{length} instructions");
        }
    }

    #[test]
    fn what_chromium_builds_its_sandbox_with_stays_allowed() {
        let policy: Policy = serde_json::from_str(POLICY).unwrap();
        for needed in ["clone", "clone3", "unshare", "chroot", "seccomp", "prctl"] {
            assert!(!policy.deny.iter().any(|rule| rule.syscall == needed), "{needed}");
        }
    }

    #[test]
    fn conditional_and_whole_rules_are_not_mixed_for_a_call() {
        let policy: Policy = serde_json::from_str(POLICY).unwrap();
        for rule in policy.deny.iter().filter(|rule| rule.when.is_empty()) {
            let same = policy.deny.iter().filter(|other| other.syscall == rule.syscall).count();
            assert_eq!(same, 1, "{}", rule.syscall);
        }
    }

    #[test]
    fn a_broken_list_is_refused() {
        let cases = [
            (r#"{"syscall":"mount","why":" "}"#, "no reason"),
            (r#"{"syscall":"mont","why":"x"}"#, "no system call"),
            (r#"{"syscall":"mount","why":"x","extra":1}"#, "unknown field"),
            (r#"{"syscall":"ioctl","why":"x","when":[{"arg":1,"op":"masked_eq","value":1}]}"#, "mask"),
            (r#"{"syscall":"ioctl","why":"x","when":[{"arg":9,"op":"eq","value":1}]}"#, "compile"),
        ];
        for (rule, expected) in cases {
            let error = program(&[&format!(r#"{{"about":"x","deny":[{rule}]}}"#)]).unwrap_err().to_string();
            assert!(error.contains(expected), "{rule}: {error}");
        }
    }
}
