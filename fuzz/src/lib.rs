//! Feeds targets with inputs: first the corpus in `fuzz/corpus/TARGET/`, then mutations of it.
//!
//! A target is an ordinary function in the tests of the crate that it belongs to. It panics where a promise is broken,
//! and returns a word for what became of the input; an input with a new word is worth mutating further, which stands in
//! for the coverage that needs a compiler of its own.
//!
//! In the tests a target gets a few hundred mutations, always the same. `GLASS_FUZZ_SECONDS=60` (`make fuzz`) gives it
//! that long with a new seed. An input that breaks a promise is kept in the corpus, where the next run replays it.

#![forbid(unsafe_code)]

mod mutate;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mutate::Mutator;

/// Mutations in an ordinary test run.
const QUICK: usize = 400;
/// Longest input.
const MAX_INPUT: usize = 64 * 1024;
/// No input of that size may take longer; with slack for a loaded machine.
const SLOW: Duration = Duration::from_secs(5);
/// Inputs that are kept in memory for further mutation.
const MAX_POOL: usize = 4096;

/// Runs `target` on its corpus and on mutations. `words` are put into inputs now and then.
///
/// # Panics
/// With the target's own panic, after the input was kept; or when an input takes too long.
pub fn run(name: &str, words: &[&str], target: impl Fn(&[u8]) -> String) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut pool = read(&corpus);
    assert!(!pool.is_empty(), "{} has examples to begin with", corpus.display());
    let mut seen = HashSet::new();
    for input in &pool {
        seen.insert(once(&corpus, &target, input));
    }
    let limit = limit();
    let began = Instant::now();
    let mut mutator = Mutator::new(limit.map_or(1, |_| now()), words);
    let mut count = 0_usize;
    while limit.map_or(count < QUICK, |limit| began.elapsed() < limit) {
        let input = mutator.mutate(&pool, MAX_INPUT);
        count += 1;
        if seen.insert(once(&corpus, &target, &input)) && pool.len() < MAX_POOL {
            pool.push(input);
        }
    }
    if limit.is_some() {
        report(name, count, seen.len());
    }
}

#[expect(clippy::print_stderr, reason = "whoever asked for a long run wants to see how far it came")]
fn report(name: &str, count: usize, outcomes: usize) {
    eprintln!("{name}: {count} inputs, {outcomes} different outcomes");
}

fn once(corpus: &Path, target: &impl Fn(&[u8]) -> String, input: &[u8]) -> String {
    let began = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| target(input)));
    let took = began.elapsed();
    match ended {
        Ok(word) if took < SLOW => word,
        Ok(_) => {
            let kept = keep(corpus, "slow", input);
            panic!("an input took {took:?}; it is kept as {}", kept.display());
        }
        Err(panic) => {
            keep(corpus, "crash", input);
            resume_unwind(panic)
        }
    }
}

fn keep(corpus: &Path, why: &str, input: &[u8]) -> PathBuf {
    // FNV-1a: the same input gets the same name.
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = corpus.join(format!("{why}-{hash:016x}"));
    // What matters is the panic; an input that cannot be kept is found again by its seed.
    let _ = std::fs::write(&path, input);
    path
}

fn read(corpus: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // The same order everywhere, so that a run of the tests is the same everywhere.
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("an example can be read")).collect()
}

fn limit() -> Option<Duration> {
    let seconds = std::env::var("GLASS_FUZZ_SECONDS").ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs() ^ u64::from(since.subsec_nanos())
}
