//! The files of the audit log: written, rotated, and taken up again after a crash.
//!
//! Files are named after their first entry and are only ever added to. `head` says how far the log goes; it is replaced
//! after the lines that it tells of are on the disk, so lines beyond it are no fault, and lines short of it are one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use glass_proto::audit::{Chain, Entry, Event, Head, Unseal, each_line, file_name, first_of, unseal};
use nix::libc::O_NOFOLLOW;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of one file, in bytes.
    pub file_bytes: u64,
    /// How many there are; the oldest are removed.
    pub files: usize,
}

/// An open log.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    limits: Limits,
    chain: Chain,
    begins: u64,
    file: File,
    path: PathBuf,
    size: u64,
    /// A line is there that was not written whole.
    torn: bool,
    /// Something is not on the disk yet.
    dirty: bool,
    /// Entries that are not in it.
    lost: u64,
}

impl Log {
    /// Takes up the log in `dir`, which is there and this user's alone; tells what was found wrong with it.
    ///
    /// # Errors
    /// The directory or a file in it cannot be used.
    pub fn open(dir: &Path, limits: Limits) -> io::Result<(Self, Option<Entry>)> {
        let files = list(dir)?;
        let head = read_head(dir)?;
        let mut found = Entry::new(Event::Recovered);
        let (mut chain, mut newest) = (None, None);
        for first in files.iter().rev() {
            let path = dir.join(file_name(*first));
            let (last, whole, all) = last_line(&path)?;
            if newest.is_none() {
                let file = open(&path)?;
                if whole < all {
                    file.set_len(whole)?;
                    file.sync_data()?;
                    found = found.detail("unfinishedBytes", all - whole);
                }
                newest = Some((file, path, whole));
            }
            chain = last;
            if chain.is_some() {
                break;
            }
        }
        let mut chain: Chain = chain.unwrap_or_default();
        let begins = head.as_ref().map(|head| head.begins).or(files.first().copied()).unwrap_or(1);
        match &head {
            Some(head) if head.seq > chain.seq => {
                found = found.detail("missingFrom", chain.seq + 1).detail("missingTo", head.seq);
                // What is missing stays missing: the numbers go on from where the log was.
                chain = Chain { seq: head.seq, hash: head.hash.clone() };
            }
            None if !files.is_empty() => found = found.detail("head", "missing"),
            // Before the first line, so that lines without it are a fault.
            None => write_head(dir, &Head { begins, seq: 0, hash: chain.hash.clone() })?,
            Some(_) => {}
        }
        let (file, path, size) = match newest {
            Some((file, path, size)) if size < limits.file_bytes => (file, path, size),
            _ => {
                let path = dir.join(file_name(chain.seq + 1));
                (open(&path)?, path, 0)
            }
        };
        let dir = dir.to_owned();
        let log = Self { dir, limits, chain, begins, file, path, size, torn: false, dirty: false, lost: 0 };
        Ok((log, (!found.details.is_empty()).then_some(found)))
    }

    /// Adds an entry; one that cannot be written is counted, and the count is told before the next one that can.
    pub fn add(&mut self, entry: &Entry) {
        self.tell_lost();
        if let Err(error) = self.write(entry) {
            if self.lost == 0 {
                tracing::error!(%error, "the audit log cannot be written; what is missing will be counted");
            }
            self.lost += 1;
        }
    }

    /// Counts entries that did not come as far as here.
    pub fn lose(&mut self, count: u64) {
        self.lost += count;
    }

    /// Whether something is not on the disk yet.
    pub fn is_dirty(&self) -> bool {
        self.dirty || self.lost > 0
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    /// The system's; it is tried again the next time.
    pub fn sync(&mut self) -> io::Result<()> {
        if !self.is_in_place() {
            tracing::error!(path = %self.path.display(), "the audit log's file was taken away");
            self.begin_file()?;
            self.add(&Entry::new(Event::Recovered).detail("file", "taken away"));
        }
        self.tell_lost();
        self.file.sync_data()?;
        self.note_head()?;
        self.dirty = false;
        Ok(())
    }

    fn tell_lost(&mut self) {
        if self.lost > 0 && self.write(&Entry { count: Some(self.lost), ..Entry::new(Event::Gap) }).is_ok() {
            self.lost = 0;
        }
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.size)?;
            self.torn = false;
        }
        let (mut line, next) = self.chain.seal(entry).or_else(|_| {
            let mut short = entry.clone();
            (short.arguments, short.details) = (None, Default::default());
            self.chain.seal(&short.detail("leftOut", "arguments and details, too long for a line"))
        })?;
        line.push('\n');
        if self.size > 0 && self.size + line.len() as u64 > self.limits.file_bytes {
            self.file.sync_data()?;
            self.begin_file()?;
            self.prune()?;
        }
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.torn = true;
            return Err(error);
        }
        self.size += line.len() as u64;
        self.chain = next;
        self.dirty = true;
        Ok(())
    }

    fn is_in_place(&self) -> bool {
        let own = self.file.metadata().map(|found| (found.dev(), found.ino()));
        let there = self.path.symlink_metadata().map(|found| (found.dev(), found.ino()));
        matches!((own, there), (Ok(own), Ok(there)) if own == there)
    }

    fn begin_file(&mut self) -> io::Result<()> {
        let path = self.dir.join(file_name(self.chain.seq + 1));
        (self.file, self.size, self.torn) = (open(&path)?, 0, false);
        self.path = path;
        Ok(())
    }

    /// Removes the oldest files, after it was noted that the log begins later.
    fn prune(&mut self) -> io::Result<()> {
        let files = list(&self.dir)?;
        let excess = files.len().saturating_sub(self.limits.files);
        let (old, kept) = files.split_at(excess);
        if let (Some(first), false) = (kept.first(), old.is_empty()) {
            self.begins = *first;
        }
        self.note_head()?;
        for first in old {
            std::fs::remove_file(self.dir.join(file_name(*first)))?;
        }
        Ok(())
    }

    fn note_head(&self) -> io::Result<()> {
        let Chain { seq, hash } = self.chain.clone();
        write_head(&self.dir, &Head { begins: self.begins, seq, hash })
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(O_NOFOLLOW).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// The numbers that its files begin with, in order.
fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        files.extend(entry?.file_name().to_str().and_then(first_of));
    }
    files.sort_unstable();
    Ok(files)
}

/// The last entry of a file that can be read, the bytes up to its last line break, and all its bytes.
fn last_line(path: &Path) -> io::Result<(Option<Chain>, u64, u64)> {
    let (mut last, mut whole, mut all) = (None, 0, 0);
    each_line(BufReader::new(File::open(path)?), |line| {
        all = line.end;
        if !line.whole {
            return;
        }
        whole = line.end;
        if let Unseal::Whole(sealed) = unseal(line.text) {
            last = Some(Chain { seq: sealed.seq, hash: sealed.hash });
        }
    })?;
    Ok((last, whole, all))
}

/// `None` where there is none that can be read.
fn read_head(dir: &Path) -> io::Result<Option<Head>> {
    match std::fs::read(dir.join("head")) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_head(dir: &Path, head: &Head) -> io::Result<()> {
    let new = dir.join("head.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW)
        .open(&new)?;
    file.write_all(&serde_json::to_vec(head)?)?;
    std::fs::rename(new, dir.join("head"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use glass_proto::audit::{Fault, Report, verify};

    use super::*;

    const SMALL: Limits = Limits { file_bytes: 2000, files: 3 };

    fn judged(dir: &Path) -> Report {
        let files = list(dir)
            .unwrap()
            .into_iter()
            .map(|first| Ok((file_name(first), BufReader::new(File::open(dir.join(file_name(first)))?))));
        verify(read_head(dir).unwrap().as_ref(), files, None, |_| {}).unwrap()
    }

    fn faults(dir: &Path) -> Vec<Fault> {
        judged(dir).problems.iter().map(|problem| problem.fault).collect()
    }

    fn begun(number: u64) -> Entry {
        Entry::new(Event::Begun).detail("number", number)
    }

    // contract: 10.7
    #[test]
    fn the_chain_goes_on_across_files_and_starts_and_old_files_go() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..4 {
            let (mut log, found) = Log::open(dir.path(), SMALL).unwrap();
            assert_eq!(found, None);
            for number in 0..10 {
                log.add(&begun(round * 10 + number));
            }
            log.sync().unwrap();
        }
        let files = list(dir.path()).unwrap();
        assert!(files.len() == 3 && files[0] > 1, "{files:?}");
        let report = judged(dir.path());
        assert_eq!((report.problems, report.last.unwrap().seq), (vec![], 40));
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // The oldest file that is kept may not go by itself.
        std::fs::remove_file(dir.path().join(file_name(files[0]))).unwrap();
        assert_eq!(faults(dir.path()), [Fault::Missing]);
    }

    // contract: 10.7
    #[test]
    fn a_last_line_that_is_not_whole_is_cut_off_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path(), SMALL).unwrap();
        log.add(&begun(1));
        log.add(&begun(2));
        let mut file = open(&dir.path().join(file_name(1))).unwrap();
        file.write_all(b"{\"seq\":3,\"prev").unwrap();
        drop(log);
        assert_eq!(judged(dir.path()).unfinished_bytes, Some(14));
        let (mut log, found) = Log::open(dir.path(), SMALL).unwrap();
        assert_eq!(found.unwrap().details["unfinishedBytes"], 14);
        log.add(&begun(3));
        log.sync().unwrap();
        let report = judged(dir.path());
        assert_eq!((report.problem_count, report.entries, report.unfinished_bytes), (0, 3, None));
    }

    #[test]
    fn what_was_taken_away_stays_seen_after_a_new_start() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path(), SMALL).unwrap();
        (1..4).for_each(|number| log.add(&begun(number)));
        log.sync().unwrap();
        let path = dir.path().join(file_name(1));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
        assert_eq!(faults(dir.path()), [Fault::CutOff]);
        let (mut log, found) = Log::open(dir.path(), SMALL).unwrap();
        let found = found.unwrap();
        assert_eq!((&found.details["missingFrom"], &found.details["missingTo"]), (&2.into(), &3.into()));
        log.add(&begun(4));
        log.sync().unwrap();
        assert_eq!(faults(dir.path()), [Fault::Missing]);
    }

    #[test]
    fn a_file_that_is_taken_away_while_it_is_written_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path(), SMALL).unwrap();
        log.add(&begun(1));
        log.sync().unwrap();
        std::fs::remove_file(dir.path().join(file_name(1))).unwrap();
        log.add(&begun(2));
        log.sync().unwrap();
        assert_eq!(list(dir.path()).unwrap(), [3]);
        assert_eq!(faults(dir.path()), [Fault::Missing]);
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path(), SMALL).unwrap();
        log.add(&begun(1));
        // A file that takes nothing, as on a full disk.
        let good = std::mem::replace(&mut log.file, File::open(dir.path().join(file_name(1))).unwrap());
        log.add(&begun(2));
        log.lose(4);
        log.file = good;
        log.add(&begun(3));
        log.sync().unwrap();
        let text = std::fs::read_to_string(dir.path().join(file_name(1))).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[1]["event"], &lines[1]["count"]), (3, &"gap".into(), &5.into()));
        assert_eq!(faults(dir.path()), []);
    }

    #[test]
    fn an_entry_that_is_too_long_is_written_without_what_makes_it_so() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path(), Limits { file_bytes: 1 << 20, files: 3 }).unwrap();
        log.add(&begun(1).detail("text", "x".repeat(glass_proto::audit::MAX_LINE)));
        log.sync().unwrap();
        let report = judged(dir.path());
        assert_eq!((report.problem_count, report.entries), (0, 1));
    }
}
