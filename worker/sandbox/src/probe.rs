//! Finds out whether this machine allows a cage, one step after another, in a process that is thrown away.
//!
//! Owns trying and reporting. Uses the same functions as the cage, so that a step passes here if and only if
//! it passes there. A failed attempt leaves a process in a state that nothing should run in (under AppArmor,
//! in a restricted profile), which is why everything happens in children of the caller.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, pipe2};
use serde::{Deserialize, Serialize};

use crate::error::{AtStep, CageError, Step};
use crate::mode::Mode;
use crate::mounts::{self, Access, Tree};
use crate::stage::Identity;
use crate::{caps, hints, identity, landlock, namespaces, process, seccomp};

/// What the probe found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Every step that was tried, in order; those after a fatal failure are absent.
    pub steps: Vec<ProbeStep>,
    /// The kernel's version of Landlock, 0 where it has none.
    pub landlock_abi: i32,
    /// The steps of a cage without namespaces, where the others did not all go through.
    #[serde(default)]
    pub without: Vec<ProbeStep>,
    /// Whether a cage would change its uid first, as root's must.
    #[serde(default)]
    pub becomes: bool,
    /// Whether no program of this machine can have a user namespace: the browser's own sandbox stands on one, unless
    /// it has the old one with a set-user-id program, which the weaker cage shuts out.
    #[serde(default)]
    pub none_for_anyone: bool,
}

/// One step of the probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeStep {
    /// The step, named as in errors of the cage.
    pub step: Step,
    /// Whether it went through.
    pub ok: bool,
    /// What was tried and the kernel's answer, where it failed.
    pub error: Option<String>,
    /// The answer's name, such as `EPERM`.
    pub errno: Option<String>,
    /// What a person can do about it.
    pub hint: Option<String>,
}

/// The steps without which there is no cage of mode A.
const NEEDED: [Step; 9] = [
    Step::Unshare,
    Step::Setgroups,
    Step::UidMap,
    Step::GidMap,
    Step::MountPrivate,
    Step::MountTmpfs,
    Step::MountBind,
    Step::MountProc,
    Step::Loopback,
];

impl ProbeReport {
    /// The strongest mode that this machine allows, or why there is none.
    ///
    /// Whether the browser's own sandbox works, on which all stand, only its start can tell.
    pub fn mode(&self) -> Result<Mode, String> {
        let Some(why) = self.why_weaker() else { return Ok(Mode::Namespaces) };
        if self.becomes {
            return Err(format!("{why}; the weaker cages are not for root: run glassd as an ordinary user"));
        }
        let passed = |step: Step| self.without.iter().any(|tried| tried.step == step && tried.ok);
        if self.none_for_anyone {
            return Ok(Mode::BrowserOnly);
        }
        match [Step::NoNewPrivs, Step::Landlock, Step::Seccomp].into_iter().all(passed) {
            true => Ok(Mode::LandlockOnly),
            false => Ok(Mode::BrowserOnly),
        }
    }

    /// What stands in the way of the strongest mode; `None` where nothing does.
    pub fn why_weaker(&self) -> Option<String> {
        let passed = |step: Step| self.steps.iter().any(|tried| tried.step == step && tried.ok);
        if NEEDED.into_iter().chain([Step::Seccomp]).all(passed) {
            return None;
        }
        let Some(failed) = self.steps.iter().find(|tried| !tried.ok && tried.step != Step::Landlock) else {
            return Some("the probe ended early, without an answer".to_owned());
        };
        let mut why = failed.error.clone().unwrap_or_else(|| "failed".to_owned());
        if let Some(hint) = &failed.hint {
            why = format!("{why}; {hint}");
        }
        if self.none_for_anyone {
            why.push_str("; the browser's own sandbox needs them too");
        }
        Some(why)
    }
}

/// Tries every step for the uid that a cage would get: `worker_uid` for root, absent for an ordinary user.
///
/// Call it before any thread is started, in a program that does nothing else. Waits for its children, which
/// take a few milliseconds. An error means that the probe itself could not run.
pub fn probe(worker_uid: Option<u32>) -> Result<ProbeReport, CageError> {
    let identity = Identity::decide(worker_uid)?;
    let steps = in_child(|tried| try_outside(tried, identity).unwrap_or_default())?;
    let mut report = ProbeReport {
        steps,
        landlock_abi: landlock::kernel_abi().unwrap_or(0),
        without: Vec::new(),
        becomes: matches!(identity, Identity::Become(_)),
        none_for_anyone: hints::no_user_namespaces(),
    };
    if report.why_weaker().is_some() && !report.becomes {
        report.without = in_child(|tried| try_without_namespaces(tried).unwrap_or_default())?;
    }
    Ok(report)
}

/// Has a child try, and collects what it found.
fn in_child(attempt: impl FnOnce(&mut Tried)) -> Result<Vec<ProbeStep>, CageError> {
    let (answers, write) = pipe2(OFlag::O_CLOEXEC).at(Step::Fork, "make a pipe")?;
    match process::fork_single()? {
        ForkResult::Child => {
            drop(answers);
            attempt(&mut Tried(write.into()));
            std::process::exit(0)
        }
        ForkResult::Parent { child } => {
            drop(write);
            let steps = collect(answers);
            waitpid(child, None).at(Step::Fork, "wait for the probe")?;
            Ok(steps)
        }
    }
}

/// The steps of the cage that has no namespaces, in its order.
fn try_without_namespaces(tried: &mut Tried) -> Option<()> {
    tried.note(Step::NoNewPrivs, prctl::set_no_new_privs().at(Step::NoNewPrivs, "refuse new privileges"))?;
    // The temporary directory stands for the session's.
    let system = [Path::new("/usr")];
    tried.note(Step::Landlock, landlock::apply_to_host(&system, Path::new("/tmp"), 1024))?;
    tried.note(Step::Seccomp, seccomp::apply_in_host_network())
}

fn collect(answers: OwnedFd) -> Vec<ProbeStep> {
    let lines = BufReader::new(File::from(answers)).lines();
    lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).collect()
}

/// Writes each step's result as one line, so that what a dying child found is not lost.
struct Tried(File);

impl Tried {
    /// Reports a step and says whether it went through. The parent takes a lost line for a step not tried.
    fn note<T>(&mut self, step: Step, result: Result<T, CageError>) -> Option<T> {
        let (value, error) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        let line = ProbeStep {
            step,
            ok: error.is_none(),
            errno: error.as_ref().and_then(CageError::errno),
            hint: error.as_ref().and_then(CageError::hint),
            error: error.map(|error| error.to_string()),
        };
        let text = serde_json::to_string(&line).ok()?;
        writeln!(self.0, "{text}").ok()?;
        value
    }
}

/// The steps up to pid 1. Ends at the first that fails, since the later ones depend on it.
fn try_outside(tried: &mut Tried, identity: Identity) -> Option<()> {
    let open = || Tree::open(Path::new("/usr"), Access::ReadOnly);
    let (uid, gid, early) = match identity {
        Identity::Become(id) => {
            let tree = open();
            tried.note(Step::Uid, identity::become_uid(id))?;
            (id, id, Some(tree))
        }
        Identity::Stay { uid, gid } => (uid, gid, None),
    };
    tried.note(Step::Unshare, namespaces::make())?;
    tried.note(Step::Setgroups, namespaces::deny_setgroups())?;
    tried.note(Step::UidMap, namespaces::map_uid(uid))?;
    tried.note(Step::GidMap, namespaces::map_gid(gid))?;
    let tree = early.unwrap_or_else(open);
    match process::fork_single() {
        Ok(ForkResult::Child) => {
            let bound = prctl::set_pdeathsig(Signal::SIGKILL).at(Step::Parent, "die with the probe");
            if bound.is_ok() {
                try_inside(tried, tree);
            }
            std::process::exit(0)
        }
        Ok(ForkResult::Parent { child }) => waitpid(child, None).ok().map(drop),
        Err(error) => tried.note(Step::Fork, Err(error)),
    }
}

/// The steps of pid 1. All of them are tried, for the failures here do not depend on one another.
fn try_inside(tried: &mut Tried, tree: Result<Tree, CageError>) {
    let place = Path::new("/tmp");
    tried.note(Step::MountPrivate, mounts::cut_propagation());
    if tried.note(Step::MountTmpfs, mounts::tmpfs(place, 1 << 20, 0o755)).is_some() {
        let (bound, proc) = (place.join("usr"), place.join("proc"));
        let made = std::fs::create_dir(&bound).and_then(|()| std::fs::create_dir(&proc));
        if tried.note(Step::Root, made.at(Step::Root, "make directories")).is_some() {
            tried.note(Step::MountBind, tree.and_then(|tree| tree.attach(&bound)));
            tried.note(Step::MountProc, mounts::proc(&proc));
        }
    }
    tried.note(Step::Loopback, namespaces::loopback_up());
    tried.note(Step::Capabilities, caps::drop_all());
    tried.note(Step::Landlock, landlock::kernel_abi());
    tried.note(Step::Seccomp, seccomp::apply());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: Step, ok: bool) -> ProbeStep {
        ProbeStep { step, ok, error: (!ok).then(|| "refused".to_owned()), errno: None, hint: None }
    }

    fn report(failing: Option<Step>) -> ProbeReport {
        let all = NEEDED.into_iter().chain([Step::Seccomp, Step::Landlock]);
        let steps = all.map(|name| step(name, Some(name) != failing)).collect();
        let without = [Step::NoNewPrivs, Step::Landlock, Step::Seccomp];
        let without = without.map(|name| step(name, Some(name) != failing)).into();
        ProbeReport { steps, landlock_abi: 7, without, becomes: false, none_for_anyone: false }
    }

    #[test]
    fn every_needed_step_must_pass_and_landlock_may_fail() {
        assert_eq!(report(None).mode(), Ok(Mode::Namespaces));
        assert_eq!(report(Some(Step::Landlock)).mode(), Ok(Mode::Namespaces));
        assert_eq!(report(Some(Step::MountProc)).why_weaker().as_deref(), Some("refused"));
    }

    #[test]
    fn the_strongest_cage_that_is_left_is_told_with_the_reason() {
        assert_eq!(report(Some(Step::Unshare)).mode(), Ok(Mode::LandlockOnly));
        assert_eq!(report(Some(Step::Seccomp)).mode(), Ok(Mode::BrowserOnly));
        let root = ProbeReport { becomes: true, ..report(Some(Step::Unshare)) };
        assert!(root.mode().unwrap_err().contains("ordinary user"));
        let nothing = ProbeReport { steps: vec![], without: vec![], ..report(None) };
        assert_eq!(nothing.mode(), Ok(Mode::BrowserOnly));
        assert!(nothing.why_weaker().is_some());
    }

    #[test]
    fn where_nobody_gets_a_user_namespace_the_browser_gets_none_either() {
        let off = ProbeReport { none_for_anyone: true, ..report(Some(Step::Unshare)) };
        assert_eq!(off.mode(), Ok(Mode::BrowserOnly));
        assert!(off.why_weaker().unwrap().contains("browser's own sandbox"));
    }

    #[test]
    fn the_report_survives_json() {
        let text = serde_json::to_string(&report(Some(Step::UidMap))).unwrap();
        assert!(text.contains("\"uid_map\""));
        assert_eq!(serde_json::from_str::<ProbeReport>(&text).unwrap(), report(Some(Step::UidMap)));
    }
}
