//! What a session may use (contract 11), and what is done about one that uses more: a pure machine.

/// What one session may have. From the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// Memory of all its processes in bytes, shared memory in proportion.
    pub memory: u64,
    /// Processor time in percent of one processor.
    pub cpu_percent: u32,
    /// Processes; threads twice as many.
    pub processes: u32,
    /// Bytes of its downloads and uploads.
    pub spool: u64,
    /// Bytes of everything else that it keeps on disk.
    pub profile: u64,
    /// Targets.
    pub targets: u32,
    /// Page operations that wait.
    pub queued: u32,
}

impl Quotas {
    /// Threads of one session: more than its processes, of which each has some.
    pub fn threads(&self) -> u64 {
        u64::from(self.processes) * 2
    }
}

/// What is limited for a session's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quota {
    /// Memory.
    Memory,
    /// Processes.
    Processes,
    /// Downloads and uploads.
    Spool,
    /// What the browser keeps on disk.
    Profile,
}

impl Quota {
    /// Its name in errors, events and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Spool => "spool",
            Self::Profile => "profile",
        }
    }
}

/// What a session uses, as far as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Percent of one processor, since the look before.
    pub cpu_percent: Option<u32>,
    /// Processes.
    pub processes: Option<u64>,
    /// Bytes in its spool.
    pub spool: Option<u64>,
    /// Bytes of the rest of its directory.
    pub profile: Option<u64>,
}

impl Usage {
    fn of(&self, quota: Quota) -> Option<u64> {
        match quota {
            Quota::Memory => self.memory,
            Quota::Processes => self.processes,
            Quota::Spool => self.spool,
            Quota::Profile => self.profile,
        }
    }
}

/// A quota that a session came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Which.
    pub quota: Quota,
    /// What it may use.
    pub limit: u64,
    /// What it used.
    pub used: u64,
}

impl std::fmt::Display for Hit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (used, limit) = (self.used, self.limit);
        match self.quota {
            Quota::Processes => write!(f, "it had {used} processes, and {limit} are allowed"),
            quota => {
                let (used, limit) = (used >> 20, limit >> 20);
                write!(f, "it used {used} MiB of {}, and {limit} are allowed", quota.name())
            }
        }
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Tell the session that it is near a limit.
    Tell(Hit),
    /// End its heaviest renderer.
    EndHeaviest(Hit),
    /// End the session.
    Fail(Hit),
}

/// Looks after the end of a renderer until its memory must be back: about two seconds.
const LOOKS: u8 = 4;

/// How far it has come with one quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rung {
    #[default]
    Calm,
    Told,
    /// Its heaviest renderer was ended so many looks ago.
    Ended(u8),
}

/// The steps that a session has come through.
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    rungs: [Rung; 4],
}

impl Ladder {
    /// Whether something is near its limit, so that the next look must come soon.
    pub fn is_tense(&self) -> bool {
        self.rungs.iter().any(|rung| *rung != Rung::Calm)
    }

    /// Whether memory is.
    pub fn is_short_of_memory(&self) -> bool {
        self.rungs[0] != Rung::Calm
    }

    /// Goes by what was measured. What was not stays as it is.
    pub fn look(&mut self, quotas: &Quotas, usage: &Usage) -> Vec<Step> {
        let all = [Quota::Memory, Quota::Processes, Quota::Spool, Quota::Profile];
        let limits = [quotas.memory, quotas.processes.into(), quotas.spool, quotas.profile];
        let mut steps = Vec::new();
        for ((quota, limit), rung) in all.into_iter().zip(limits).zip(&mut self.rungs) {
            let Some(used) = usage.of(quota) else { continue };
            *rung = climb(*rung, Hit { quota, limit, used }, &mut steps);
        }
        steps
    }
}

/// One step up the ladder, or down from it.
fn climb(rung: Rung, hit: Hit, steps: &mut Vec<Step>) -> Rung {
    let Hit { quota, limit, used } = hit;
    let near = limit - limit / 10;
    if used < near - limit / 10 {
        return Rung::Calm;
    }
    if used < near {
        return rung;
    }
    if rung == Rung::Calm {
        steps.push(Step::Tell(hit));
    }
    // What grows so fast that it is far beyond is not waited for.
    let far = used > limit + limit / 2;
    match (quota, rung) {
        (_, Rung::Calm) if !far => Rung::Told,
        (Quota::Memory, Rung::Calm | Rung::Told) if used > limit => {
            steps.push(Step::EndHeaviest(hit));
            Rung::Ended(0)
        }
        (Quota::Memory, Rung::Ended(_)) if used <= limit => Rung::Told,
        // Half a gigabyte is not given back at once.
        (Quota::Memory, Rung::Ended(looks)) if looks < LOOKS && !far => Rung::Ended(looks + 1),
        // A worker lets a download run on until it hears how far it is.
        (Quota::Spool, _) if used <= limit + limit / 8 => Rung::Told,
        _ if used > limit => {
            steps.push(Step::Fail(hit));
            rung
        }
        _ => rung,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUOTAS: Quotas = Quotas {
        memory: 1000,
        cpu_percent: 200,
        processes: 100,
        spool: 1000,
        profile: 1000,
        targets: 32,
        queued: 64,
    };

    fn memory(ladder: &mut Ladder, used: u64) -> Vec<&'static str> {
        let usage = Usage { memory: Some(used), ..Usage::default() };
        let word = |step: &Step| match step {
            Step::Tell(_) => "tell",
            Step::EndHeaviest(_) => "end",
            Step::Fail(_) => "fail",
        };
        ladder.look(&QUOTAS, &usage).iter().map(word).collect()
    }

    // contract: 11
    #[test]
    fn memory_is_told_then_a_renderer_ends_then_the_session_fails() {
        let mut ladder = Ladder::default();
        assert!(memory(&mut ladder, 500).is_empty() && !ladder.is_tense());
        assert_eq!(memory(&mut ladder, 950), ["tell"]);
        assert!(ladder.is_tense());
        assert!(memory(&mut ladder, 990).is_empty(), "told once");
        assert_eq!(memory(&mut ladder, 1001), ["end"]);
        for _ in 0..LOOKS {
            assert!(memory(&mut ladder, 1001).is_empty(), "its memory is on its way back");
        }
        assert_eq!(memory(&mut ladder, 1001), ["fail"]);
    }

    #[test]
    fn a_session_that_came_down_begins_from_below() {
        let mut ladder = Ladder::default();
        memory(&mut ladder, 950);
        assert_eq!(memory(&mut ladder, 1100), ["end"]);
        assert!(memory(&mut ladder, 700).is_empty() && !ladder.is_tense());
        assert_eq!(memory(&mut ladder, 1100), ["tell"], "it is told before the next one ends");
        assert_eq!(memory(&mut ladder, 1100), ["end"]);
        assert!(memory(&mut ladder, 950).is_empty());
        assert_eq!(memory(&mut ladder, 1100), ["end"], "the next page, not the session");
    }

    #[test]
    fn what_is_far_beyond_is_not_waited_for() {
        let mut eats = Ladder::default();
        assert_eq!(memory(&mut eats, 1600), ["tell", "end"]);
        assert_eq!(memory(&mut eats, 1600), ["fail"]);
        let mut ladder = Ladder::default();
        let usage = Usage { processes: Some(300), ..Usage::default() };
        assert!(matches!(ladder.look(&QUOTAS, &usage)[..], [Step::Tell(_), Step::Fail(_)]));
    }

    #[test]
    fn a_spool_may_run_over_by_what_is_on_its_way() {
        let mut ladder = Ladder::default();
        let mut look = |used| ladder.look(&QUOTAS, &Usage { spool: Some(used), ..Usage::default() }).len();
        assert_eq!([look(950), look(1100), look(1100), look(1126)], [1, 0, 0, 1]);
    }

    proptest! {
        #[test]
        fn nothing_ends_untold_and_below_its_limit(uses in proptest::collection::vec(0..3000_u64, 0..40)) {
            let mut ladder = Ladder::default();
            let mut told = false;
            for used in uses {
                let usage = Usage { memory: Some(used), profile: Some(used), ..Usage::default() };
                for step in ladder.look(&QUOTAS, &usage) {
                    match step {
                        Step::Tell(hit) => {
                            prop_assert!(hit.used >= 900);
                            told = true;
                        }
                        Step::EndHeaviest(hit) | Step::Fail(hit) => {
                            prop_assert!(told && hit.used > hit.limit);
                        }
                    }
                }
            }
        }
    }
}
