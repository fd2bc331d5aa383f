//! How often a client may ask (contract 11): operations and navigations a second, each client by itself.
//!
//! Owns the limiters and their keys. The narrow limit of a client is asked before anything that clients share, so that one
//! that floods takes nothing from another. Clients that have gone are forgotten: memory is bounded by who asked lately.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use glass_policy::decide::Rates as Share;
use glass_proto::error::OpError;
use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::session::quota;

/// How much of the rates an untrusted client has.
const FIFTH: u32 = 5;
/// More clients than this, and those that have gone are forgotten at once.
const MANY: usize = 4096;
/// How often clients that have gone are forgotten.
pub const FORGET_EVERY: Duration = Duration::from_secs(60);

/// The rates of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Operations of one client in a second.
    pub operations: NonZeroU32,
    /// Operations that a client may make at once when it made none for a while.
    pub burst: NonZeroU32,
    /// Navigations of one client in a second.
    pub navigations: NonZeroU32,
}

type Keyed<C> = RateLimiter<
    String,
    HashMapStateStore<String>,
    C,
    governor::middleware::NoOpMiddleware<<C as Clock>::Instant>,
>;

/// One set of limiters.
struct Pair<C: Clock> {
    rates: Rates,
    operations: Keyed<C>,
    navigations: Keyed<C>,
}

/// The limiters, for all clients.
pub struct Limiters<C: Clock = DefaultClock>(Arc<Inner<C>>);

impl<C: Clock> Clone for Limiters<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Inner<C: Clock> {
    clock: C,
    full: Pair<C>,
    fifth: Pair<C>,
}

impl<C: Clock> std::fmt::Debug for Limiters<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiters").field("full", &self.0.full.rates).finish_non_exhaustive()
    }
}

impl<C: Clock + Clone> Pair<C> {
    fn new(rates: Rates, clock: &C) -> Self {
        let keyed = |quota| RateLimiter::new(quota, HashMapStateStore::default(), clock.clone());
        Self {
            rates,
            operations: keyed(Quota::per_second(rates.operations).allow_burst(rates.burst)),
            navigations: keyed(Quota::per_second(rates.navigations)),
        }
    }
}

impl Rates {
    fn fifth(self) -> Self {
        let part = |rate: NonZeroU32| NonZeroU32::new(rate.get() / FIFTH).unwrap_or(NonZeroU32::MIN);
        Self {
            operations: part(self.operations),
            burst: part(self.burst),
            navigations: part(self.navigations),
        }
    }
}

impl Limiters {
    /// Limiters by the machine's clock.
    pub fn new(rates: Rates) -> Self {
        Self::with(rates, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Limiters<C> {
    fn with(rates: Rates, clock: C) -> Self {
        let (full, fifth) = (Pair::new(rates, &clock), Pair::new(rates.fifth(), &clock));
        Self(Arc::new(Inner { clock, full, fifth }))
    }

    /// What a client of this share may do in a second.
    pub fn rates(&self, share: Share) -> Rates {
        self.pair(share).rates
    }

    /// Counts one operation of a client.
    ///
    /// # Errors
    /// `quota_exceeded`, with the time after which the next one is taken.
    pub fn count(&self, share: Share, client: &str, navigates: bool) -> Result<(), Box<OpError>> {
        if self.remembered() > MANY {
            self.forget();
        }
        let pair = self.pair(share);
        self.take(&pair.operations, client, "operations", pair.rates.operations, 1)?;
        if navigates {
            self.take(&pair.navigations, client, "navigations", pair.rates.navigations, 1)?;
        }
        Ok(())
    }

    /// Counts the steps of a batch that was counted as one operation already: each is an operation, and those that navigate
    /// are navigations. All are taken at once or none, so a batch that is refused costs nothing of what its steps would.
    ///
    /// # Errors
    /// `quota_exceeded`; see [`Self::count`]. One with more steps than may be made at once is never taken, and says so.
    pub fn count_steps(
        &self,
        share: Share,
        client: &str,
        steps: usize,
        navigations: usize,
    ) -> Result<(), Box<OpError>> {
        let pair = self.pair(share);
        for (name, count, most) in
            [("operations", steps, pair.rates.burst), ("navigations", navigations, pair.rates.navigations)]
        {
            let most = usize::try_from(most.get()).unwrap_or(usize::MAX);
            if count > most {
                let message =
                    format!("the batch makes {count} {name}, and this client may make {most} at one time");
                let mut error = *quota(&format!("{name} at one time"), most, count, message);
                error.remedy = format!("split the batch: at most {most} {name} in each");
                return Err(error.into());
            }
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let rates = pair.rates;
        self.take(&pair.operations, client, "operations", rates.operations, number(steps.saturating_sub(1)))?;
        self.take(&pair.navigations, client, "navigations", rates.navigations, number(navigations))
    }

    fn take(
        &self,
        limiter: &Keyed<C>,
        client: &str,
        name: &str,
        rate: NonZeroU32,
        count: u32,
    ) -> Result<(), Box<OpError>> {
        let Some(count) = NonZeroU32::new(count) else { return Ok(()) };
        let wait = match limiter.check_key_n(&client.to_owned(), count) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(until)) => until.wait_time_from(self.0.clock.now()),
            // More than the limiter ever holds: refused before, and never let through.
            Err(_) => Duration::MAX,
        };
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let next = if count.get() == 1 { "the next is" } else { "as many as this needs are" };
        let message = format!("this client may make {rate} {name} a second; {next} taken in {wait} ms");
        let rate = usize::try_from(rate.get()).unwrap_or(usize::MAX);
        Err(quota(&format!("{name} a second"), rate, rate, message).detail("retryAfterMs", wait).into())
    }

    /// Forgets the clients that asked for nothing lately.
    pub fn forget(&self) {
        for pair in [&self.0.full, &self.0.fifth] {
            for limiter in [&pair.operations, &pair.navigations] {
                limiter.retain_recent();
                limiter.shrink_to_fit();
            }
        }
    }

    /// How many clients are remembered.
    pub fn remembered(&self) -> usize {
        self.0.full.operations.len() + self.0.fifth.operations.len()
    }

    fn pair(&self, share: Share) -> &Pair<C> {
        match share {
            Share::Full => &self.0.full,
            Share::Fifth => &self.0.fifth,
        }
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::error::{ErrorKind, Retry};
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn limiters() -> (Limiters<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let number = |n| NonZeroU32::new(n).unwrap();
        let rates = Rates { operations: number(50), burst: number(100), navigations: number(10) };
        (Limiters::with(rates, clock.clone()), clock)
    }

    // contract: 11
    #[test]
    fn each_step_of_a_batch_counts_and_all_are_taken_or_none() {
        let (limiters, clock) = limiters();
        let one = |share| limiters.count(share, "a", false);
        one(Share::Full).unwrap();
        limiters.count_steps(Share::Full, "a", 32, 10).unwrap();
        assert_eq!(taken(&limiters, Share::Full, "a", false), 68);
        clock.advance(Duration::from_secs(2));
        assert_eq!(taken(&limiters, Share::Full, "a", true), 10, "and so do its navigations");
        clock.advance(Duration::from_secs(2));
        // An untrusted client makes 20 at once, and gets 10 a second.
        one(Share::Fifth).unwrap();
        limiters.count_steps(Share::Fifth, "a", 20, 2).unwrap();
        clock.advance(Duration::from_millis(1500));
        one(Share::Fifth).unwrap();
        let error = limiters.count_steps(Share::Fifth, "a", 20, 0).unwrap_err();
        assert_eq!((error.kind, &error.details["retryAfterMs"]), (ErrorKind::QuotaExceeded, &500.into()));
        assert_eq!(taken(&limiters, Share::Fifth, "a", false), 14, "one that is refused takes nothing more");
        clock.advance(Duration::from_secs(60));
        for (steps, navigations) in [(21, 0), (3, 3)] {
            let error = limiters.count_steps(Share::Fifth, "a", steps, navigations).unwrap_err();
            assert_eq!(error.kind, ErrorKind::QuotaExceeded);
            assert!(error.remedy.contains("split the batch"), "{error:?}");
        }
    }

    fn taken(limiters: &Limiters<FakeRelativeClock>, share: Share, client: &str, navigates: bool) -> usize {
        (0..1000).take_while(|_| limiters.count(share, client, navigates).is_ok()).count()
    }

    // contract: 11
    #[test]
    fn each_client_has_its_own_rate_and_an_untrusted_one_a_fifth() {
        let (limiters, clock) = limiters();
        assert_eq!(taken(&limiters, Share::Full, "a", false), 100);
        let error = limiters.count(Share::Full, "a", false).unwrap_err();
        assert_eq!((error.kind, error.retry), (ErrorKind::QuotaExceeded, Retry::Safe));
        assert_eq!(error.details["retryAfterMs"], 20, "{error:?}");
        assert_eq!(
            taken(&limiters, Share::Full, "b", true),
            10,
            "one that floods takes nothing from another"
        );
        assert_eq!(taken(&limiters, Share::Fifth, "c", false), 20);
        assert_eq!(taken(&limiters, Share::Fifth, "d", true), 2);
        clock.advance(Duration::from_secs(1));
        assert_eq!(taken(&limiters, Share::Full, "a", false), 50);
        assert_eq!(taken(&limiters, Share::Fifth, "c", false), 10);
    }

    #[test]
    fn clients_that_have_gone_are_forgotten() {
        let (limiters, clock) = limiters();
        for number in 0..1000 {
            limiters.count(Share::Full, &format!("client {number}"), false).unwrap();
        }
        assert_eq!(limiters.remembered(), 1000);
        clock.advance(Duration::from_secs(10));
        limiters.forget();
        assert_eq!(limiters.remembered(), 0);
    }
}
