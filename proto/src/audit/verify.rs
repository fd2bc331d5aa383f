//! A whole log: its files in their order, held against what `head` says.

use std::io::{self, BufRead};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chain::{Fault, Head, MAX_LINE, Sealed, first_of};
use super::judge::Judge;

/// Most problems that are told one by one.
const MAX_PROBLEMS: usize = 64;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line in it, from 1; 0 for the file as a whole.
    pub line: u64,
    /// The line's own number, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What is wrong, for a machine.
    pub fault: Fault,
    /// The same for a person.
    pub what: String,
}

/// The last entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Last {
    /// Its number.
    pub seq: u64,
    /// Its hash: note it down elsewhere, and a later check can tell whether the log up to here is still the same.
    pub hash: String,
    /// When it was written.
    pub time: String,
}

/// What a log is like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Files that were read.
    pub files: u64,
    /// Entries that were read.
    pub entries: u64,
    /// The number of the first entry that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    /// Bytes of a last line that is not whole: it is being written, or glassd died at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished_bytes: Option<u64>,
    /// Whether the entry that was asked for by its hash is there; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_hash: Option<bool>,
    /// Everything that is wrong, at most 64 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// How many problems there are in all.
    pub problem_count: u64,
}

impl Report {
    fn wrong(&mut self, file: &str, line: u64, seq: Option<u64>, fault: Fault) {
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { file: file.to_owned(), line, seq, fault, what: fault.to_string() });
        }
    }
}

/// A line of a file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// It without its line break; of one that is too long, so much that it is too long.
    pub text: &'a [u8],
    /// Whether its line break is there.
    pub whole: bool,
    /// Where the next one begins, in bytes.
    pub end: u64,
}

/// Gives each line of a file.
///
/// # Errors
/// The reader's.
pub fn each_line(mut file: impl BufRead, mut each: impl FnMut(Line<'_>)) -> io::Result<()> {
    let (mut number, mut text, mut end) = (1, Vec::new(), 0);
    loop {
        let found = file.fill_buf()?;
        if found.is_empty() {
            if !text.is_empty() {
                each(Line { number, text: &text, whole: false, end });
            }
            return Ok(());
        }
        let line_break = found.iter().position(|byte| *byte == b'\n');
        let piece = &found[..line_break.unwrap_or(found.len())];
        let room = (MAX_LINE + 1).saturating_sub(text.len());
        text.extend_from_slice(&piece[..piece.len().min(room)]);
        let used = piece.len() + usize::from(line_break.is_some());
        file.consume(used);
        end += used as u64;
        if line_break.is_some() {
            each(Line { number, text: &text, whole: true, end });
            text.clear();
            number += 1;
        }
    }
}

/// Judges a log. `files` are its files with their names, in the order of their names; `hash` is one that some entry is
/// expected to have; `each` sees every entry that can be read, in its order.
///
/// # Errors
/// A reader's.
pub fn verify<R: BufRead>(
    head: Option<&Head>,
    files: impl IntoIterator<Item = io::Result<(String, R)>>,
    hash: Option<&str>,
    mut each: impl FnMut(&Sealed),
) -> io::Result<Report> {
    let mut report = Report { holds_hash: hash.map(|_| false), ..Report::default() };
    let (mut judge, mut name, mut lines) = (Judge::default(), String::new(), 0);
    // By the names of the files: a line that is missing from one is told of at its place.
    let mut begins_file = None;
    let mut unfinished: Option<(String, u64, u64)> = None;
    for file in files {
        let (file, reader) = file?;
        // Only the last line of all may be unfinished.
        if let Some((file, line, _)) = unfinished.take() {
            report.wrong(&file, line, None, Fault::Unreadable);
        }
        report.files += 1;
        name = file;
        lines = 0;
        let begins = first_of(&name);
        begins_file = begins_file.or(begins);
        let mut whole_end = 0;
        each_line(reader, |line| {
            let number = line.number;
            lines = number;
            if !line.whole {
                unfinished = Some((name.clone(), number, line.end - whole_end));
                return;
            }
            whole_end = line.end;
            let (first, skipped) = (judge.last().is_none(), judge.skipped());
            let (sealed, fault) = judge.line(line.text);
            let seq = sealed.as_ref().map(|sealed| sealed.seq);
            // What the first file kept begins with is in its name.
            let begins = begins.map(|begins| begins.saturating_add(skipped));
            let fault = fault.or_else(|| (first && seq > begins).then_some(Fault::Missing));
            if let Some(fault) = fault {
                report.wrong(&name, number, seq, fault);
            }
            let Some(sealed) = sealed else { return };
            report.entries += 1;
            report.first = report.first.or(seq);
            if hash == Some(sealed.hash.as_str()) && fault != Some(Fault::Changed) {
                report.holds_hash = Some(true);
            }
            report.last =
                Some(Last { seq: sealed.seq, hash: sealed.hash.clone(), time: sealed.entry.time.clone() });
            each(&sealed);
        })?;
    }
    report.unfinished_bytes = unfinished.map(|(_, _, bytes)| bytes);
    let last = judge.last().map_or(0, |last| last.seq);
    match head {
        Some(head) if last.saturating_add(judge.skipped()) < head.seq => {
            report.wrong(&name, lines, Some(head.seq), Fault::CutOff)
        }
        Some(head) if begins_file.is_some_and(|first| first > head.begins) => {
            report.wrong("head", 0, Some(head.begins), Fault::Missing);
        }
        Some(head) if last == head.seq && judge.last().is_some_and(|last| last.hash != head.hash) => {
            report.wrong(&name, lines, Some(head.seq), Fault::Replaced);
        }
        Some(_) => {}
        None if report.files > 0 => report.wrong("head", 0, None, Fault::NoHead),
        None => {}
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audit::{Chain, Entry, Event, file_name};

    fn log(count: usize) -> (Vec<String>, Head) {
        let mut chain = Chain::default();
        let mut lines = Vec::new();
        for number in 0..count {
            let mut entry =
                Entry::new(if number == 0 { Event::Started } else { Event::Begun }).detail("n", number);
            entry.time = "2026-01-01T00:00:00.000Z".to_owned();
            let (line, next) = chain.seal(&entry).unwrap();
            lines.push(line);
            chain = next;
        }
        (lines, Head { begins: 1, seq: chain.seq, hash: chain.hash })
    }

    fn judged(head: Option<&Head>, lines: &[String]) -> Report {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let file = Ok((file_name(1), io::Cursor::new(text)));
        verify(head, [file], None, |_| {}).unwrap()
    }

    fn faults(head: &Head, lines: &[String]) -> Vec<(u64, Fault)> {
        judged(Some(head), lines).problems.iter().map(|problem| (problem.line, problem.fault)).collect()
    }

    // contract: 10.7
    #[test]
    fn what_was_changed_dropped_moved_or_cut_off_is_found_at_its_line() {
        let (lines, head) = log(6);
        assert_eq!(faults(&head, &lines), []);
        let edit = |change: &dyn Fn(&mut Vec<String>)| {
            let mut lines = lines.clone();
            change(&mut lines);
            faults(&head, &lines)
        };
        assert_eq!(edit(&|lines| lines[2] = lines[2].replace("begun", "ended")), [(3, Fault::Changed)]);
        assert_eq!(edit(&|lines| drop(lines.remove(2))), [(3, Fault::Missing)]);
        assert_eq!(edit(&|lines| drop(lines.remove(0))), [(1, Fault::Missing)]);
        assert_eq!(edit(&|lines| lines.swap(1, 2)), [(2, Fault::Missing), (3, Fault::Order)]);
        assert_eq!(edit(&|lines| lines.insert(3, lines[2].clone())), [(4, Fault::Order)]);
        assert_eq!(edit(&|lines| lines.truncate(4)), [(4, Fault::CutOff)]);
        assert_eq!(edit(&|lines| lines[3] = "{}".to_owned()), [(4, Fault::Unreadable)]);
        assert_eq!(edit(&|lines| lines.insert(3, "{}".to_owned())), [(4, Fault::Unreadable)]);
        assert_eq!(edit(&|lines| lines[5] = "garbage".to_owned()), [(6, Fault::Unreadable)]);
        // A last line that was written anew, so that it goes on from the one before it: `head` knows another.
        let before: Sealed = serde_json::from_str(&lines[4]).unwrap();
        let chain = Chain { seq: before.seq, hash: before.hash };
        let forged = chain.seal(&Entry::new(Event::Ended)).unwrap().0;
        assert_eq!(edit(&|lines| lines[5] = forged.clone()), [(6, Fault::Replaced)]);
        assert_eq!(judged(None, &lines).problems[0].fault, Fault::NoHead);
    }

    #[test]
    fn a_log_goes_on_across_files_and_only_the_last_line_may_be_unfinished() {
        let (lines, head) = log(6);
        let file = |from: usize, to: usize, end: &str| {
            let text = lines[from..to].join("\n") + end;
            Ok((file_name(from as u64 + 1), io::Cursor::new(text)))
        };
        let check = |files: Vec<io::Result<(String, io::Cursor<String>)>>| {
            verify(Some(&head), files, Some(&head.hash), |_| {}).unwrap()
        };
        let whole = check(vec![file(0, 3, "\n"), file(3, 6, "\n")]);
        assert_eq!((whole.problem_count, whole.entries, whole.holds_hash), (0, 6, Some(true)));
        let torn = check(vec![file(0, 3, "\n"), file(3, 6, "\n{\"seq\":7")]);
        assert_eq!((torn.problem_count, torn.unfinished_bytes), (0, Some(8)));
        assert_eq!(check(vec![file(0, 3, "\n{\"se"), file(3, 6, "\n")]).problems[0].line, 4);
        assert_eq!(
            check(vec![file(3, 6, "\n")]).problems[0].fault,
            Fault::Missing,
            "the oldest file is gone"
        );
        let kept = Head { begins: 4, ..head.clone() };
        assert_eq!(verify(Some(&kept), [file(3, 6, "\n")], None, |_| {}).unwrap().problem_count, 0);
        assert_eq!(check(vec![]).problems[0].fault, Fault::CutOff);
    }

    proptest! {
        // contract: 10.7
        #[test]
        fn no_edit_of_a_log_goes_unseen(count in 2_usize..8, at in any::<prop::sample::Index>(), byte in any::<u8>(), kind in 0..3) {
            let (lines, head) = log(count);
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
            prop_assume!(bytes != text.as_bytes());
            let report = verify(Some(&head), [Ok((file_name(1), io::Cursor::new(bytes)))], None, |_| {}).unwrap();
            prop_assert!(report.problem_count > 0);
        }
    }

    #[test]
    fn fuzz_audit() {
        let (lines, head) = log(3);
        let words = ["\"seq\":", "\"prev\":\"", "\"hash\":\"", "\n", &lines[0], &lines[1], &lines[2]];
        glass_fuzz::run("audit", &words, |input| {
            let file = Ok((file_name(1), io::Cursor::new(input)));
            let mut seen = 0;
            let report = verify(Some(&head), [file], None, |_| seen += 1).unwrap();
            assert_eq!(report.entries, seen);
            assert!(report.problems.len() as u64 <= report.problem_count);
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let same = input == text.as_bytes();
            // Nobody but the writer comes to the same last hash.
            assert!(
                report.problem_count > 0
                    || report.last.is_some_and(|last| last.seq > 3)
                    || input.starts_with(text.as_bytes())
            );
            assert!(!same || report.problem_count == 0);
            report.problems.first().map_or("whole".to_owned(), |problem| format!("{:?}", problem.fault))
        });
    }
}
