//! How a person decides, or a program of theirs.

use std::time::{Duration, Instant};

use glass_proto::ConfirmationId;
use glass_proto::audit::{Entry, Event};
use glass_proto::confirmation::{Decided, Pending, Protection, Shown};
use glass_proto::error::{ErrorKind, OpError, Phase};

use super::book::{About, LIFE, Stands, Wrong};
use super::confirmations::{Confirmations, millis};
use super::secret::{MAX_SECRET, SecretHash};
use super::terminal::{NotAPerson, person};
use crate::peer::Peer;

/// Wrong secrets in all within [`LOCKED`], after which no secret is taken for that long.
const WRONG_IN_ALL: usize = 10;
/// See [`WRONG_IN_ALL`].
const LOCKED: Duration = Duration::from_secs(600);

impl Confirmations {
    /// One that waits, for whoever may decide on it: with the arguments of its call.
    ///
    /// # Errors
    /// There is none, or the peer may not decide on it.
    pub async fn show(&self, id: &ConfirmationId, peer: &Peer) -> Result<Shown, Box<OpError>> {
        let protection = self.protection();
        let (about, left) = match protection {
            // What it says can be asked for when it has said it, too; by anybody, so without the arguments.
            Protection::Approver => {
                let found = self.state().book.stands(Instant::now(), id);
                let (about, _, left) = found.ok_or_else(|| unknown(id))?;
                (About { arguments: String::new(), ..about }, left)
            }
            Protection::Terminal | Protection::Secret => {
                let (about, left) = self.waiting(id)?;
                self.may_decide(id, &about, peer).await?;
                (about, left)
            }
        };
        let pending = Pending { left_ms: millis(left), ..about.shown };
        Ok(Shown { pending, arguments: about.arguments, protection })
    }

    /// A person says no. Whoever reaches the daemon's socket may: it takes something away.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn deny(&self, id: &ConfirmationId, peer: &Peer) -> Result<Decided, Box<OpError>> {
        let about = self.about(id).ok_or_else(|| unknown(id))?;
        if !self.state().book.deny(Instant::now(), id) {
            return Err(unknown(id));
        }
        self.0.changed.send_replace(());
        let by = peer.clone();
        self.note(Event::ConfirmationDenied, id, &about, |entry| of_peer(entry, &by)).await;
        Ok(Decided {
            confirmation_id: id.to_string(),
            granted: false,
            protection: self.protection(),
            note: None,
        })
    }

    /// A person agrees.
    ///
    /// # Errors
    /// There is none of that id, the peer may not decide on it, or its secret is missing or wrong.
    pub async fn grant(
        &self,
        id: &ConfirmationId,
        peer: &Peer,
        secret: Option<String>,
    ) -> Result<Decided, Box<OpError>> {
        let protection = self.protection();
        if protection == Protection::Approver {
            return self.decided_by_approver(id).await;
        }
        let (about, _) = self.waiting(id)?;
        self.may_decide(id, &about, peer).await?;
        if let Some(hash) = &self.0.ways.secret {
            self.check_secret(id, &about, peer, hash.clone(), secret).await?;
        }
        if !self.state().book.grant(Instant::now(), id, protection) {
            return Err(unknown(id));
        }
        self.0.changed.send_replace(());
        let by = peer.clone();
        let told = |entry: Entry| of_peer(entry, &by).detail("protection", protection.name());
        self.note(Event::ConfirmationGranted, id, &about, told).await;
        Ok(self.decided(id, true))
    }

    fn decided(&self, id: &ConfirmationId, granted: bool) -> Decided {
        let protection = self.protection();
        let note = (granted && protection == Protection::Terminal).then(|| {
            "what was checked is that a terminal asked; a client that can start programs can make one. Set confirm.secret or confirm.approver to rule that out (docs/policy.md)".to_owned()
        });
        Decided { confirmation_id: id.to_string(), granted, protection, note }
    }

    async fn may_decide(&self, id: &ConfirmationId, about: &About, peer: &Peer) -> Result<(), Box<OpError>> {
        let Err(why) = person(peer, &about.asker) else { return Ok(()) };
        let (reason, remedy) = match why {
            NotAPerson::NoTerminal | NotAPerson::Unseen => {
                ("no_terminal", "give the command yourself, in a terminal window")
            }
            NotAPerson::OfTheClient => (
                "same_host",
                "give the command in another terminal, which that program did not start and does not run in",
            ),
        };
        let by = peer.clone();
        let told = |entry: Entry| Entry { reason: Some(reason.to_owned()), ..of_peer(entry, &by) };
        self.note(Event::ConfirmationRefused, id, about, told).await;
        Err(denied(id, why.to_string(), remedy, reason))
    }

    async fn check_secret(
        &self,
        id: &ConfirmationId,
        about: &About,
        peer: &Peer,
        hash: SecretHash,
        secret: Option<String>,
    ) -> Result<(), Box<OpError>> {
        let Some(secret) = secret else {
            let why = "a secret is asked for, and none was given";
            return Err(denied(
                id,
                why,
                "use the glassctl that was installed with this glassd",
                "secret_missing",
            ));
        };
        let too_often = || {
            let why = "secrets were wrong too often; none is taken for ten minutes";
            denied(id, why, "find out who tried: `glassctl audit --since 1h`", "secret_locked")
        };
        let Ok(_turn) = self.0.checking.acquire().await else { return Err(unknown(id)) };
        {
            let mut state = self.state();
            state.wrong.retain(|at| at.elapsed() < LOCKED);
            if state.wrong.len() >= WRONG_IN_ALL {
                return Err(too_often());
            }
        }
        let right = secret.len() <= MAX_SECRET
            && tokio::task::spawn_blocking(move || hash.is(&secret)).await.unwrap_or(false);
        if right {
            return Ok(());
        }
        let wrong = {
            let mut state = self.state();
            state.wrong.push(Instant::now());
            state.book.wrong(Instant::now(), id)
        };
        self.0.changed.send_replace(());
        let by = peer.clone();
        let told = |entry: Entry| Entry { reason: Some("wrong_secret".to_owned()), ..of_peer(entry, &by) };
        self.note(Event::ConfirmationRefused, id, about, told).await;
        Err(match wrong {
            Wrong::Left(left) => {
                let mut error = denied(id, "that is not the secret", "try again", "wrong_secret");
                error.details.insert("triesLeft".to_owned(), left.into());
                error
            }
            Wrong::Locked => {
                let remedy = "make the call again in a minute, for another confirmation";
                denied(id, "that is not the secret; this confirmation takes no more tries", remedy, "locked")
            }
            Wrong::Gone => unknown(id),
        })
    }

    /// Has the approver decide, where there is one.
    pub(super) fn begin_approver(&self, id: ConfirmationId, about: About) {
        let Some(approver) = self.0.ways.approver.clone() else { return };
        let this = self.clone();
        self.0.tasks.spawn("approver", async move {
            let until = tokio::time::Instant::now() + LIFE;
            let agreed = approver.decide(&about, until, &this.0.tasks).await;
            let (event, decided) = match &agreed {
                Ok(true) => (
                    Event::ConfirmationGranted,
                    this.state().book.grant(Instant::now(), &id, Protection::Approver),
                ),
                Ok(false) => (Event::ConfirmationDenied, this.state().book.deny(Instant::now(), &id)),
                Err(error) => {
                    tracing::warn!(%error, "the approver could not decide, so nothing is granted");
                    (Event::ConfirmationDenied, this.state().book.deny(Instant::now(), &id))
                }
            };
            this.0.changed.send_replace(());
            if decided {
                let reason = agreed.err().map(|_| "approver_failed".to_owned());
                let told = |entry: Entry| {
                    Entry { reason, ..entry }.detail("protection", Protection::Approver.name())
                };
                this.note(event, &id, &about, told).await;
            }
        });
    }

    /// Waits for what the approver says.
    async fn decided_by_approver(&self, id: &ConfirmationId) -> Result<Decided, Box<OpError>> {
        let mut changed = self.0.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let stands = self.state().book.stands(Instant::now(), id).map(|(_, stands, _)| stands);
            match stands {
                Some(Stands::Waiting) => {}
                Some(Stands::Granted) => return Ok(self.decided(id, true)),
                Some(Stands::Denied) => return Ok(self.decided(id, false)),
                None => return Err(unknown(id)),
            }
            // The book's own time runs out without a word.
            let _ = tokio::time::timeout(Duration::from_secs(1), changed.changed()).await;
        }
    }

    fn waiting(&self, id: &ConfirmationId) -> Result<(About, Duration), Box<OpError>> {
        let state = self.state();
        let found = state.book.waiting(Instant::now(), id);
        found.map(|(about, left)| (about.clone(), left)).ok_or_else(|| unknown(id))
    }

    fn about(&self, id: &ConfirmationId) -> Option<About> {
        let open = self.state().book.open(Instant::now());
        open.into_iter().find(|(open, ..)| open == id).map(|(_, about, ..)| about)
    }
}

/// Who decided, beside who asked.
fn of_peer(entry: Entry, peer: &Peer) -> Entry {
    let decider = serde_json::to_value(peer.told("glassctl")).unwrap_or_default();
    entry.detail("by", decider)
}

fn unknown(id: &ConfirmationId) -> Box<OpError> {
    let message =
        format!("no confirmation {id} waits: it was decided, its minute is over, or there was none");
    let remedy = "`glassctl confirm` lists what waits; a call that is made again asks again";
    OpError::rejected(ErrorKind::TargetNotFound, Phase::Policy, message, remedy)
        .reason("confirmation_unknown")
        .into()
}

fn denied(id: &ConfirmationId, why: impl Into<String>, remedy: &str, reason: &str) -> Box<OpError> {
    OpError::rejected(ErrorKind::Denied, Phase::Policy, why, remedy)
        .reason(reason)
        .detail("confirmationId", id.as_str())
        .into()
}
