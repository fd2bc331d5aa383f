//! The phases of a session as a pure machine (contract 1.3): what may follow what, and what has to be done then.
//!
//! `asleep` exists in the contract and is not built yet, so it has no place here.

use crate::supervise::LossReason;

/// Why a session closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// A client asked for it.
    Asked,
    /// The call that it was made for has ended.
    OneOff,
    /// The client whose own it was has gone.
    ClientGone,
    /// It was not used for a long time.
    Idle,
    /// The policy's rules for documents changed.
    Policy,
    /// The daemon ends.
    Shutdown,
}

impl CloseReason {
    /// For logs and people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Asked => "a client closed it",
            Self::OneOff => "its call has ended",
            Self::ClientGone => "its client has gone",
            Self::Idle => "it was idle for too long",
            Self::Policy => "the policy changed",
            Self::Shutdown => "the daemon ends",
        }
    }
}

/// Why a session failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailReason {
    /// It did not start; the text is for people.
    Start(String),
    /// Its worker or browser went.
    Lost(LossReason),
    /// A fault of the daemon's own.
    Fault,
}

impl FailReason {
    /// The reason in errors and lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start_failed",
            Self::Lost(reason) => reason.name(),
            Self::Fault => "internal_fault",
        }
    }
}

impl std::fmt::Display for FailReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start(why) => f.write_str(why),
            Self::Lost(reason) => reason.fmt(f),
            Self::Fault => f.write_str("the daemon had a fault in this session"),
        }
    }
}

/// Where a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Named, no browser yet.
    Idle,
    /// Its browser starts.
    Starting,
    /// It takes operations.
    Ready,
    /// Its processes are being ended.
    Closing(CloseReason),
    /// Nothing is left of it. Final.
    Closed(CloseReason),
    /// It failed, and what is left of it is being ended; its name is free already.
    Failing(FailReason),
    /// It failed, and nothing is left of it. Final.
    Failed(FailReason),
}

impl Phase {
    /// The name in lists (contract 1.3).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Closing(_) => "closing",
            Self::Closed(_) => "closed",
            Self::Failing(_) | Self::Failed(_) => "failed",
        }
    }

    /// Whether operations may be submitted.
    pub fn takes_operations(&self) -> bool {
        matches!(self, Self::Idle | Self::Starting | Self::Ready)
    }
}

/// What happens to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An operation needs the browser.
    Wanted,
    /// The worker was greeted.
    Started,
    /// The worker did not come up; nothing of it is left.
    NotStarted(String),
    /// Somebody wants it closed.
    Close(CloseReason),
    /// The worker is gone unasked.
    Lost(LossReason),
    /// The processes and files are gone.
    Reaped,
}

/// What has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Start the worker.
    Start,
    /// Give waiting operations their turn.
    Serve,
    /// Tell waiting and running operations that it is over.
    EndOperations,
    /// End the worker, or the attempt to start it, and remove its files; then [`Event::Reaped`].
    EndWorker,
    /// Nothing is left: tell whoever waits for that.
    Finish,
}

/// An event that cannot happen in a phase.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{event:?} cannot happen to a session that is {phase:?}")]
pub struct IllegalTransition {
    phase: Phase,
    event: Event,
}

impl Phase {
    /// The next phase, and what has to be done.
    ///
    /// # Errors
    /// The event cannot happen in this phase: a fault of the caller.
    pub fn step(&self, event: Event) -> Result<(Phase, &'static [Effect]), IllegalTransition> {
        use Effect as Do;
        Ok(match (self.clone(), event) {
            (Self::Idle, Event::Wanted) => (Self::Starting, &[Do::Start]),
            (Self::Idle, Event::Close(why)) => (Self::Closed(why), &[Do::EndOperations, Do::Finish]),

            (Self::Starting, Event::Wanted) => (Self::Starting, &[]),
            (Self::Starting, Event::Started) => (Self::Ready, &[Do::Serve]),
            (Self::Starting, Event::NotStarted(why)) => {
                (Self::Failed(FailReason::Start(why)), &[Do::EndOperations, Do::Finish])
            }
            (Self::Starting | Self::Ready, Event::Close(why)) => {
                (Self::Closing(why), &[Do::EndOperations, Do::EndWorker])
            }

            (Self::Ready, Event::Wanted) => (Self::Ready, &[]),
            (Self::Ready, Event::Lost(why)) => {
                (Self::Failing(FailReason::Lost(why)), &[Do::EndOperations, Do::EndWorker])
            }

            // What was asked for before the closing began may still come in.
            (phase @ Self::Closing(_), Event::Started | Event::Lost(_) | Event::Close(_)) => (phase, &[]),
            (Self::Closing(why), Event::Reaped | Event::NotStarted(_)) => (Self::Closed(why), &[Do::Finish]),
            (Self::Failing(why), Event::Reaped) => (Self::Failed(why), &[Do::Finish]),
            (
                phase @ (Self::Failing(_) | Self::Failed(_) | Self::Closed(_)),
                Event::Close(_) | Event::Lost(_),
            ) => (phase, &[]),
            (phase, event) => return Err(IllegalTransition { phase, event }),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_event() -> impl Strategy<Value = Event> {
        let close = prop_oneof![
            Just(CloseReason::Asked),
            Just(CloseReason::OneOff),
            Just(CloseReason::ClientGone),
            Just(CloseReason::Idle),
            Just(CloseReason::Shutdown)
        ];
        prop_oneof![
            3 => Just(Event::Wanted),
            3 => Just(Event::Started),
            1 => Just(Event::NotStarted("why".to_owned())),
            1 => close.prop_map(Event::Close),
            1 => Just(Event::Lost(LossReason::Browser)),
            3 => Just(Event::Reaped),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens_the_promises_hold(events in proptest::collection::vec(any_event(), 0..40)) {
            let mut phase = Phase::Idle;
            let mut done = Vec::new();
            for event in events {
                let Ok((next, effects)) = phase.step(event.clone()) else { continue };
                let final_before = matches!(phase, Phase::Closed(_) | Phase::Failed(_));
                prop_assert!(!final_before || next == phase, "{phase:?} was left by {event:?}");
                prop_assert!(next.takes_operations() || !matches!(effects, [Effect::Serve, ..]));
                done.extend_from_slice(effects);
                phase = next;
            }
            let count = |effect| done.iter().filter(|done| **done == effect).count();
            prop_assert!(count(Effect::Start) <= 1);
            prop_assert!(count(Effect::EndWorker) <= count(Effect::Start));
            prop_assert!(count(Effect::EndOperations) <= 1);
            prop_assert!(count(Effect::Finish) <= 1);
            // A worker that was started is either there, being ended, or was ended before the finish.
            if count(Effect::Finish) == 1 && done.contains(&Effect::Serve) {
                prop_assert_eq!(count(Effect::EndWorker), 1);
            }
            if matches!(phase, Phase::Closed(_) | Phase::Failed(_)) {
                prop_assert_eq!(count(Effect::Finish), 1);
            }
        }
    }

    #[test]
    fn a_usual_life() {
        let mut phase = Phase::Idle;
        for event in
            [Event::Wanted, Event::Wanted, Event::Started, Event::Close(CloseReason::Asked), Event::Reaped]
        {
            phase = phase.step(event).unwrap().0;
        }
        assert_eq!(phase, Phase::Closed(CloseReason::Asked));
    }

    #[test]
    fn a_loss_is_told_and_cleaned_up() {
        let (phase, effects) = Phase::Ready.step(Event::Lost(LossReason::Browser)).unwrap();
        assert_eq!(effects, [Effect::EndOperations, Effect::EndWorker]);
        let (phase, effects) = phase.step(Event::Reaped).unwrap();
        assert_eq!(effects, [Effect::Finish]);
        assert_eq!(phase.name(), "failed");
    }

    #[test]
    fn impossible_events_are_told() {
        assert!(Phase::Idle.step(Event::Started).is_err());
        assert!(Phase::Ready.step(Event::Reaped).is_err());
        assert!(Phase::Closed(CloseReason::Idle).step(Event::Wanted).is_err());
    }
}
