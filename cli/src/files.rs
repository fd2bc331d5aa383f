//! The user's files (contract 10.5): nothing is read or written outside the file root, the directory that the client
//! was started in. Opened beneath its descriptor, so that no link that is put in the way leads out.
//!
//! The client reads and writes, not the daemon and not a worker: whatever comes of a session, it has no file of the
//! user's in its hands (docs/adr/0009).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use glass_proto::error::MAX_TEXT;
use glass_proto::escape::cut;
use glass_proto::filename::{numbered, safe};
use glass_proto::op::{self, Batch, CallOptions, InvalidParams, StorageAction, StorageState, Upload};
use glass_proto::result::{ArtifactKept, Downloaded};
use glass_proto::wire::CHUNK;
use glass_proto::{AnyOperation, Dispatched, ErrorKind, OpError, Outcome, Phase, Retry};
use rustix::fs::{Mode, OFlags, RenameFlags};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::Client;
use crate::error::unreadable;
use crate::follow::Seen;

/// More files of one name than anybody keeps in one directory; a bound so that the search ends.
const MOST: u32 = 10_000;

/// Directories within each other that are uploaded.
const DEEPEST: u32 = 16;

/// Entries of a directory that is uploaded, with those of the directories in it: most of them hold no file, where there
/// are more than files that are taken.
const ENTRIES: usize = 1000;

/// The file root.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// The directory that was named, else the one that this process runs in.
    ///
    /// # Errors
    /// `denied` for a process that runs in `/` and names none; `invalid_argument` for what is no directory.
    pub fn open(named: Option<&Path>) -> Result<Self, OpError> {
        let path = named.unwrap_or(Path::new(".")).canonicalize().map_err(|error| {
            OpError::invalid(
                format!("the file root cannot be used: {error}"),
                "name a directory with --file-root",
            )
        })?;
        if named.is_none() && path.parent().is_none() {
            return Err(OpError::rejected(
                ErrorKind::Denied,
                Phase::Policy,
                "a client that was started in / has no file root, so it reads and writes no files",
                "start it in the directory of the files, or name one with --file-root",
            )
            .reason("no_file_root"));
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| {
            OpError::invalid(
                format!("the file root cannot be used: {error}"),
                "name a directory with --file-root",
            )
        })?;
        Ok(Self { directory, path })
    }

    /// A place for one file in a directory that is there.
    ///
    /// # Errors
    /// `denied` when it lies outside, `invalid_argument` when it cannot be written to.
    pub fn incoming(&self, directory: &Path) -> Result<Incoming, OpError> {
        let (inside, shown) = self.inside(directory)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let opened = beneath(self.directory.as_fd(), &inside, flags).map_err(|error| refused(&error))?;
        Incoming::new(opened, shown).map_err(|error| refused(&error))
    }

    /// A regular file, or every file of a directory under its path from that directory's name on.
    ///
    /// # Errors
    /// `denied` when something of it lies outside, `invalid_argument` when it cannot be read, is neither, holds
    /// nothing, or more than is uploaded at once.
    pub fn all(&self, path: &Path) -> Result<Vec<Outgoing>, OpError> {
        let (inside, shown) = self.inside(path)?;
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let opened =
            File::from(beneath(self.directory.as_fd(), &inside, flags).map_err(|error| refused(&error))?);
        if !opened.metadata().map_err(|error| refused(&error))?.is_dir() {
            return Ok(vec![self.outgoing(path)?]);
        }
        let name = shown.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            OpError::invalid("the directory has no name in UTF-8", "name another directory")
        })?;
        let mut found = Found::default();
        self.walk(&inside, name, 0, &mut found)?;
        if found.files.is_empty() {
            return Err(OpError::invalid("the directory holds no file", "name a directory with files"));
        }
        Ok(found.files)
    }

    fn walk(&self, inside: &Path, name: &str, level: u32, found: &mut Found) -> Result<(), OpError> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let opened = beneath(self.directory.as_fd(), inside, flags).map_err(|error| refused(&error))?;
        let entries = rustix::fs::Dir::read_from(opened).map_err(|error| refused(&error.into()))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| refused(&error.into()))?;
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => {
                    found.entries += 1;
                    if found.entries > ENTRIES {
                        return Err(OpError::invalid(
                            format!("the directory holds more than {ENTRIES} entries"),
                            "name the files, or a directory of them alone",
                        ));
                    }
                    names.push(name.to_owned());
                }
                Err(_) => {
                    return Err(OpError::invalid(
                        "a file of the directory has no name in UTF-8",
                        "name it anew",
                    ));
                }
            }
        }
        names.sort();
        for entry in names {
            let path = inside.join(&entry);
            let name = format!("{name}/{entry}");
            let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
            let file =
                File::from(beneath(self.directory.as_fd(), &path, flags).map_err(|error| refused(&error))?);
            let about = file.metadata().map_err(|error| refused(&error))?;
            if about.is_dir() && level < DEEPEST {
                self.walk(&path, &name, level + 1, found)?;
            } else if about.is_file() {
                found.files.push(Outgoing { name, size: about.len(), file });
                few(&found.files)?;
            } else {
                return Err(OpError::invalid(
                    "something in the directory is no regular file, or lies too deep",
                    "name a directory of regular files",
                ));
            }
        }
        Ok(())
    }

    /// A regular file, for reading, with its name and size.
    ///
    /// # Errors
    /// `denied` when it lies outside, `invalid_argument` when it cannot be read or is no regular file.
    pub fn outgoing(&self, file: &Path) -> Result<Outgoing, OpError> {
        let (inside, shown) = self.inside(file)?;
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let opened = beneath(self.directory.as_fd(), &inside, flags).map_err(|error| refused(&error))?;
        let file = File::from(opened);
        let found = file.metadata().map_err(|error| refused(&error))?;
        let name = shown.file_name().and_then(|name| name.to_str());
        let (true, Some(name)) = (found.is_file(), name) else {
            return Err(OpError::invalid(
                "the path names no regular file with a name in UTF-8",
                "name a file",
            ));
        };
        Ok(Outgoing { name: name.to_owned(), size: found.len(), file })
    }

    /// A place for one private file, which takes the place of one that is there.
    ///
    /// # Errors
    /// `denied` when it lies outside, `invalid_argument` when it cannot be written to or is no regular file.
    pub fn replacing(&self, file: &Path) -> Result<Replacing, OpError> {
        let (inside, shown) = self.inside(file)?;
        let (Some(name), parent) = (inside.file_name(), inside.parent()) else {
            return Err(OpError::invalid("the path names no file", "name a file, such as state.json"));
        };
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = beneath(self.directory.as_fd(), parent, flags).map_err(|error| refused(&error))?;
        // What cannot be looked at is not there, or cannot be written to either.
        if let Ok(found) = rustix::fs::statat(&directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            && rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::RegularFile
        {
            return Err(OpError::invalid("the path names something that is no regular file", "name another"));
        }
        let (temporary, file) = temporary(&directory, 0o600).map_err(|error| refused(&error))?;
        Ok(Replacing { directory, name: name.to_owned(), shown, temporary, file })
    }

    /// A new private file, which takes the place of nothing.
    ///
    /// # Errors
    /// `denied` when it lies outside, `invalid_argument` when it is there already or cannot be made.
    pub fn creating(&self, file: &Path) -> Result<Creating, OpError> {
        let (inside, shown) = self.inside(file)?;
        let (Some(name), parent) = (inside.file_name(), inside.parent()) else {
            return Err(OpError::invalid("the path names no file", "name a file, such as secrets.json"));
        };
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = beneath(self.directory.as_fd(), parent, flags).map_err(|error| refused(&error))?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&directory, name, flags, Mode::from_raw_mode(0o600));
        let file = File::from(made.map_err(|error| refused(&error.into()))?);
        Ok(Creating { directory, name: name.to_owned(), shown, file, whole: false })
    }

    /// The path from the root, and the whole of it.
    fn inside(&self, path: &Path) -> Result<(PathBuf, PathBuf), OpError> {
        let from_root = if path.is_absolute() {
            let as_is = path.strip_prefix(&self.path).map(Path::to_owned);
            // The root may be known by another name, through a link.
            let real = || {
                let real = path.canonicalize().ok()?;
                real.strip_prefix(&self.path).map(Path::to_owned).ok()
            };
            as_is.ok().or_else(real).ok_or_else(outside)?
        } else {
            path.to_owned()
        };
        let plain: PathBuf = from_root.components().filter(|part| *part != Component::CurDir).collect();
        let plain = if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain };
        let whole = if plain == Path::new(".") { self.path.clone() } else { self.path.join(&plain) };
        Ok((plain, whole))
    }
}

#[cfg(target_os = "linux")]
fn beneath(root: std::os::fd::BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)?)
}

/// Without `openat2` a path may hold no link at all: each part is opened by itself.
#[cfg(not(target_os = "linux"))]
fn beneath(root: std::os::fd::BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut at = root.try_clone_to_owned()?;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => std::ffi::OsStr::new("."),
            _ => return Err(io::Error::from_raw_os_error(rustix::io::Errno::XDEV.raw_os_error())),
        };
        let own = if last { flags } else { OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY };
        at = rustix::fs::openat(&at, name, own | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at)
}

fn outside() -> OpError {
    OpError::rejected(
        ErrorKind::Denied,
        Phase::Policy,
        "the path lies outside of the file root",
        "use a path below the directory that the client was started in, or name another with --file-root",
    )
    .reason("outside_file_root")
}

fn refused(error: &io::Error) -> OpError {
    // Only a path that leads out of the root crosses it.
    if error.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error()) {
        return outside();
    }
    OpError::invalid(
        format!("the path cannot be used: {}", error.kind()),
        "check that it is there and that you may use it",
    )
}

/// A file that is to be sent.
#[derive(Debug)]
pub struct Outgoing {
    /// Its name.
    pub name: String,
    /// Its size when it was opened.
    pub size: u64,
    /// The file itself.
    pub file: File,
}

impl Outgoing {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// The operating system's.
    pub fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (mut piece, mut filled) = (vec![0; CHUNK], 0);
        while filled < piece.len() {
            match self.file.read(&mut piece[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        piece.truncate(filled);
        Ok((filled > 0).then_some(piece))
    }
}

/// A private file that was not there before, and goes again unless it is written.
#[derive(Debug)]
pub struct Creating {
    directory: OwnedFd,
    name: std::ffi::OsString,
    shown: PathBuf,
    file: File,
    whole: bool,
}

impl Creating {
    /// Writes it, and says where it is.
    ///
    /// # Errors
    /// `transport`, when it cannot be kept; then there is no file.
    pub fn write(mut self, content: &[u8]) -> Result<PathBuf, OpError> {
        self.file.write_all(content).and_then(|()| self.file.sync_all()).map_err(|error| {
            let what = format!("the file cannot be written: {}", error.kind());
            OpError::rejected(ErrorKind::Transport, Phase::Transport, what, "make room, and ask again")
                .reason("write_failed")
        })?;
        self.whole = true;
        Ok(self.shown.clone())
    }
}

impl Drop for Creating {
    fn drop(&mut self) {
        if !self.whole {
            // Nobody else makes files of that name in this moment.
            let _ = rustix::fs::unlinkat(&self.directory, &self.name, rustix::fs::AtFlags::empty());
        }
    }
}

/// A private file that is written whole, or not at all.
#[derive(Debug)]
pub struct Replacing {
    directory: OwnedFd,
    name: std::ffi::OsString,
    shown: PathBuf,
    temporary: String,
    file: File,
}

impl Replacing {
    /// Writes it, and says where it is.
    ///
    /// # Errors
    /// `transport`, when it cannot be kept.
    pub fn write(mut self, content: &[u8]) -> Result<PathBuf, OpError> {
        let written = self.file.write_all(content).and_then(|()| self.file.sync_all());
        let kept = written.and_then(|()| {
            Ok(rustix::fs::renameat(&self.directory, &self.temporary, &self.directory, &self.name)?)
        });
        kept.map_err(|error| {
            let what = format!("what was saved cannot be written: {}", error.kind());
            let error =
                OpError::rejected(ErrorKind::Transport, Phase::Transport, what, "make room, and save again");
            let mut error = error.reason("write_failed").ended(Outcome::Completed, Dispatched::Yes);
            error.retry = Retry::AfterObserve;
            error
        })?;
        self.temporary.clear();
        Ok(self.shown.clone())
    }
}

impl Drop for Replacing {
    fn drop(&mut self) {
        forget(&self.directory, &self.temporary);
    }
}

/// What a walk through directories has come to.
#[derive(Debug, Default)]
struct Found {
    files: Vec<Outgoing>,
    entries: usize,
}

/// That it is not more than is uploaded at once.
fn few(files: &[Outgoing]) -> Result<(), OpError> {
    const MOST: usize = Upload::MAX_FILES;
    if files.len() <= MOST {
        return Ok(());
    }
    Err(OpError::invalid(
        format!("more than {MOST} files are named or lie in the directories"),
        format!("at most {MOST} files are uploaded at once"),
    ))
}

/// A file of its own name beside the one that it becomes.
fn temporary(directory: &OwnedFd, mode: u32) -> io::Result<(String, File)> {
    let name = format!(".glass-{}.part", glass_proto::ExecutionId::generate());
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, &name, flags, Mode::from_raw_mode(mode))?;
    Ok((name, File::from(file)))
}

/// A file that never became whole is nobody's.
fn forget(directory: &OwnedFd, temporary: &str) {
    if !temporary.is_empty() {
        let _ = rustix::fs::unlinkat(directory, temporary, rustix::fs::AtFlags::empty());
    }
}

/// The files that go with an operation, opened before anything is asked of a session.
#[derive(Debug, Default)]
pub struct Carried {
    /// Where what comes is kept.
    incoming: Option<Incoming>,
    /// What is to be given to the session.
    outgoing: Vec<Outgoing>,
    /// Where the file of the answer is kept, for its owner alone.
    private: Option<Replacing>,
    /// Where files that a script keeps go.
    artifacts: Option<(Root, PathBuf)>,
    /// Those of the steps of a batch.
    steps: Vec<Step>,
}

/// A step of a batch with its files.
#[derive(Debug)]
struct Step {
    number: u32,
    operation: AnyOperation,
    options: CallOptions,
    carried: Carried,
}

impl Carried {
    /// Those of this operation, below `root` or the working directory. The paths themselves are taken out of it: a
    /// session is not told where a user's files lie.
    ///
    /// # Errors
    /// See [`Root`].
    pub fn of(operation: &mut AnyOperation, root: Option<&Path>) -> Result<Self, OpError> {
        let directory = match operation {
            AnyOperation::Download(download) => &mut download.destination,
            AnyOperation::RetryDownloadCapture(retry) => &mut retry.destination,
            AnyOperation::Upload(upload) if !upload.files.is_empty() => return Self::of_upload(upload, root),
            AnyOperation::StorageState(storage) => return Self::of_state(storage, root),
            AnyOperation::Evaluate(evaluate) => return Self::of_script(evaluate.artifacts.take(), root),
            AnyOperation::Batch(batch) => return Self::of_steps(batch, root),
            _ => return Ok(Self::default()),
        };
        let directory = std::mem::replace(directory, PathBuf::from("."));
        Ok(Self { incoming: Some(Root::open(root)?.incoming(&directory)?), ..Self::default() })
    }

    fn of_upload(upload: &mut Upload, root: Option<&Path>) -> Result<Self, OpError> {
        let root = Root::open(root)?;
        let files = std::mem::take(&mut upload.files);
        let mut outgoing = Vec::new();
        for file in &files {
            outgoing.extend(root.all(file)?);
            few(&outgoing)?;
        }
        if outgoing.iter().any(|file| file.size > Upload::MAX_BYTES) {
            return Err(OpError::invalid(
                format!("a file is larger than {} bytes", Upload::MAX_BYTES),
                "upload a smaller file",
            ));
        }
        Ok(Self { outgoing, ..Self::default() })
    }

    fn of_script(directory: Option<PathBuf>, root: Option<&Path>) -> Result<Self, OpError> {
        let Some(directory) = directory else { return Ok(Self::default()) };
        let root = Root::open(root)?;
        // That it can be written to is known before the script runs.
        drop(root.incoming(&directory)?);
        Ok(Self { artifacts: Some((root, directory)), ..Self::default() })
    }

    fn of_steps(batch: &mut Batch, root: Option<&Path>) -> Result<Self, OpError> {
        let mut steps = Vec::new();
        for (number, step) in (1..).zip(&mut batch.steps) {
            let invalid = |error: InvalidParams| OpError::invalid(error.to_string(), "see --help");
            let decoded = step.decode().map_err(invalid).and_then(|(mut operation, options)| {
                let carried = Self::of(&mut operation, root)?;
                Ok(Step { number, operation, options, carried })
            });
            let own = decoded.map_err(|error| of_step(number, error))?;
            own.write(step)?;
            steps.push(own);
        }
        Ok(Self { steps, ..Self::default() })
    }

    /// From now on the files that the script of a step keeps go into this directory.
    ///
    /// # Errors
    /// See [`Root::incoming`].
    pub fn keep_artifacts(
        &mut self,
        step: u32,
        directory: PathBuf,
        root: Option<&Path>,
    ) -> Result<(), OpError> {
        let own = Self::of_script(Some(directory), root).map_err(|error| of_step(step, error))?;
        if let Some(step) = self.steps.iter_mut().find(|own| own.number == step) {
            step.carried.artifacts = own.artifacts;
        }
        Ok(())
    }

    /// Where what comes in pieces goes, by the step that it is of.
    pub fn take_incoming(&mut self) -> HashMap<u32, Incoming> {
        let steps = self.steps.iter_mut().map(|step| (step.number, step.carried.incoming.take()));
        let all = std::iter::once((0, self.incoming.take())).chain(steps);
        all.filter_map(|(step, incoming)| Some((step, incoming?))).collect()
    }

    fn of_state(storage: &mut StorageState, root: Option<&Path>) -> Result<Self, OpError> {
        let Some(path) = storage.path.take() else {
            // Whoever has no files brings what one holds.
            return match storage.state {
                Some(_) => Ok(Self::default()),
                None => {
                    Err(OpError::invalid("no file is named", "give the path of a file inside the file root"))
                }
            };
        };
        let root = Root::open(root)?;
        if storage.action == StorageAction::Save {
            return Ok(Self { private: Some(root.replacing(&path)?), ..Self::default() });
        }
        let mut file = root.outgoing(&path)?;
        let mut text = Vec::new();
        while let Some(piece) = file.piece().map_err(|error| refused(&error))? {
            text.extend_from_slice(&piece);
            if text.len() > StorageState::MAX_BYTES {
                return Err(OpError::invalid(
                    format!("the file is larger than {} bytes", StorageState::MAX_BYTES),
                    "load a smaller one",
                ));
            }
        }
        // The error of the JSON itself could hold a secret of it.
        let state = serde_json::from_slice(&text).map_err(|error| {
            OpError::invalid(
                format!(
                    "the file is no storage state, from line {} column {} on",
                    error.line(),
                    error.column()
                ),
                "give a file that storage-state save or Playwright wrote",
            )
        })?;
        storage.state = Some(Box::new(state));
        Ok(Self::default())
    }

    /// Gives what goes out to the session, and the operation its ids.
    ///
    /// # Errors
    /// Why a file was not taken; nothing was asked of the page then.
    pub async fn send(
        &mut self,
        client: &mut Client,
        session: &str,
        operation: &mut AnyOperation,
    ) -> Result<(), OpError> {
        give(&mut self.outgoing, client, session, operation).await?;
        let AnyOperation::Batch(batch) = operation else { return Ok(()) };
        for own in self.steps.iter_mut().filter(|step| !step.carried.outgoing.is_empty()) {
            let given = give(&mut own.carried.outgoing, client, session, &mut own.operation).await;
            given.map_err(|error| of_step(own.number, error))?;
            if let Some(step) = batch.steps.get_mut(own.number as usize - 1) {
                own.write(step)?;
            }
        }
        Ok(())
    }

    /// Keeps the files of an answer, and says in it where they are. In that of a batch a file that cannot be kept is the
    /// error of its step.
    ///
    /// # Errors
    /// `transport`, when one cannot be kept.
    pub fn keep(mut self, json: Vec<u8>, seen: &mut Seen) -> Result<Vec<u8>, OpError> {
        if self.steps.is_empty() {
            return self.keep_of(0, json, seen);
        }
        let mut batched: Value = serde_json::from_slice(&json).map_err(|_| unreadable("answer"))?;
        for Step { number, mut carried, .. } in std::mem::take(&mut self.steps) {
            in_step(&mut batched, number, |result| carried.keep_of(number, result, seen));
        }
        serde_json::to_vec(&batched).map_err(|_| unreadable("answer"))
    }

    fn keep_of(&mut self, step: u32, json: Vec<u8>, seen: &mut Seen) -> Result<Vec<u8>, OpError> {
        if let Some(incoming) = seen.incoming.remove(&step) {
            return keep(&json, incoming);
        }
        if let Some(private) = self.private.take() {
            let content = seen.take_files(step).next().unwrap_or_default();
            return keep_private(&json, &content, private);
        }
        match &self.artifacts {
            Some((root, directory)) => {
                let files: Vec<_> = seen.take_files(step).collect();
                keep_artifacts(&json, files, root, directory)
            }
            None => Ok(json),
        }
    }
}

impl Step {
    fn write(&self, step: &mut op::Step) -> Result<(), OpError> {
        let written = op::Step::of(&self.operation, &self.options);
        *step = written.map_err(|_| OpError::invalid("the step cannot be written as JSON", ""))?;
        Ok(())
    }
}

/// Lets something be made of the result of a step of a batch's answer, where it has one. What cannot be made is the
/// step's error.
pub fn in_step(batched: &mut Value, number: u32, make: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, OpError>) {
    let steps = batched.get_mut("steps").and_then(Value::as_array_mut);
    let Some(step) = steps.into_iter().flatten().find(|step| step["step"] == number) else { return };
    let Some(step) = step.as_object_mut() else { return };
    let Some(result) = step.get("result").and_then(|result| serde_json::to_vec(result).ok()) else { return };
    let made = make(result).and_then(|json| serde_json::from_slice(&json).map_err(|_| unreadable("answer")));
    match made {
        Ok(result) => drop(step.insert("result".to_owned(), result)),
        Err(error) => drop(step.insert("error".to_owned(), json!(error))),
    }
}

async fn give(
    files: &mut Vec<Outgoing>,
    client: &mut Client,
    session: &str,
    operation: &mut AnyOperation,
) -> Result<(), OpError> {
    for file in std::mem::take(files) {
        let id = client.stage_file(session, file).await?;
        if let AnyOperation::Upload(upload) = operation {
            upload.file_ids.push(id);
        }
    }
    Ok(())
}

/// The error with the step that it is of.
fn of_step(number: u32, mut error: OpError) -> OpError {
    let message = format!("step {number}: {}", error.message);
    error.message = cut(&message, MAX_TEXT).into_owned();
    error.detail("step", number)
}

/// Keeps a download that came whole, and says in the answer where. One that broke off at the site has no file.
fn keep(json: &[u8], incoming: Incoming) -> Result<Vec<u8>, OpError> {
    let mut downloaded: Downloaded = serde_json::from_slice(json).map_err(|_| unreadable("answer"))?;
    if let Some(sha256) = &downloaded.sha256 {
        let path = incoming.finish(&downloaded.page_file_name, downloaded.bytes, sha256)?;
        downloaded.path = Some(path.to_string_lossy().into_owned());
    }
    serde_json::to_vec(&downloaded).map_err(|_| unreadable("answer"))
}

/// Writes the private file of an answer, and says in it where.
fn keep_private(json: &[u8], content: &[u8], private: Replacing) -> Result<Vec<u8>, OpError> {
    let path = private.write(content)?;
    let mut result: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(json).map_err(|_| unreadable("answer"))?;
    result.insert("path".to_owned(), path.to_string_lossy().into());
    serde_json::to_vec(&result).map_err(|_| unreadable("answer"))
}

/// Writes what a script kept, each under its name made safe, which replaces nothing; and says in the answer where.
fn keep_artifacts(
    json: &[u8],
    files: Vec<Vec<u8>>,
    root: &Root,
    directory: &Path,
) -> Result<Vec<u8>, OpError> {
    let mut result: Value = serde_json::from_slice(json).map_err(|_| unreadable("answer"))?;
    let told = result.get_mut("artifacts").and_then(Value::as_array_mut);
    for (kept, data) in told.into_iter().flatten().zip(files) {
        let ArtifactKept { page_name, bytes, .. } =
            serde_json::from_value(kept.clone()).map_err(|_| unreadable("answer"))?;
        let mut file = root.incoming(directory)?;
        file.take(&data)?;
        let path = file.finish(&page_name, bytes, &hex(&Sha256::digest(&data))).map_err(|error| {
            let mut error = error.ended(Outcome::Completed, Dispatched::Yes);
            "a file of the script cannot be written".clone_into(&mut error.message);
            "make room, or name another directory; the script has run".clone_into(&mut error.remedy);
            error
        })?;
        kept["path"] = path.to_string_lossy().into();
    }
    serde_json::to_vec(&result).map_err(|_| unreadable("answer"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that comes, under a name of its own until it is whole.
#[derive(Debug)]
pub struct Incoming {
    directory: OwnedFd,
    shown: PathBuf,
    temporary: String,
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl Incoming {
    fn new(directory: OwnedFd, shown: PathBuf) -> io::Result<Self> {
        let ((temporary, file), hash) = (temporary(&directory, 0o666)?, Sha256::new());
        Ok(Self { directory, shown, temporary, file, hash, bytes: 0 })
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// `transport`, when it cannot be written.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), OpError> {
        self.hash.update(piece);
        self.bytes += piece.len() as u64;
        self.file.write_all(piece).map_err(|error| not_written(&error))
    }

    /// Gives the whole file its name, which replaces nothing, and says where it is.
    ///
    /// # Errors
    /// `transport`, when what came is not what was sent or cannot be kept.
    pub fn finish(mut self, suggested: &str, bytes: u64, sha256: &str) -> Result<PathBuf, OpError> {
        let hash = std::mem::take(&mut self.hash).finalize();
        let came = hex(&hash);
        if (self.bytes, came.as_str()) != (bytes, sha256) {
            return Err(not_written(&io::ErrorKind::UnexpectedEof.into()));
        }
        self.file.sync_all().map_err(|error| not_written(&error))?;
        let name = safe(suggested);
        for number in 0..MOST {
            let name = numbered(&name, number);
            match self.rename(&name) {
                Ok(()) => {
                    self.temporary.clear();
                    return Ok(self.shown.join(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(not_written(&error)),
            }
        }
        Err(not_written(&io::ErrorKind::AlreadyExists.into()))
    }

    #[cfg(target_os = "linux")]
    fn rename(&self, name: &str) -> io::Result<()> {
        let (from, to) = (&self.directory, &self.directory);
        Ok(rustix::fs::renameat_with(from, &self.temporary, to, name, RenameFlags::NOREPLACE)?)
    }

    /// A second name fails where there is one; the first is then taken away.
    #[cfg(not(target_os = "linux"))]
    fn rename(&self, name: &str) -> io::Result<()> {
        use rustix::fs::AtFlags;
        let at = &self.directory;
        rustix::fs::linkat(at, &self.temporary, at, name, AtFlags::empty())?;
        Ok(rustix::fs::unlinkat(at, &self.temporary, AtFlags::empty())?)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        forget(&self.directory, &self.temporary);
    }
}

fn not_written(error: &io::Error) -> OpError {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("the download cannot be written: {}; Glass has kept it", error.kind()),
        "make room, then retry-download-capture with its id puts it there without asking the site again",
    )
    .reason("write_failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir_all(place.at("root/inner")).unwrap();
            std::fs::write(place.at("outside.txt"), "secret").unwrap();
            std::fs::write(place.at("root/inner/file.txt"), "four").unwrap();
            std::os::unix::fs::symlink(place.at("outside.txt"), place.at("root/out")).unwrap();
            std::os::unix::fs::symlink("inner/file.txt", place.at("root/in")).unwrap();
            std::os::unix::fs::symlink(place.at("root"), place.at("alias")).unwrap();
            place
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn root(&self) -> Root {
            Root::open(Some(&self.at("root"))).unwrap()
        }
    }

    #[test]
    fn files_inside_are_read_by_relative_absolute_and_linked_paths() {
        let place = Place::new();
        for path in [
            "inner/file.txt".into(),
            "./inner/../inner/file.txt".into(),
            place.at("root/inner/file.txt"),
            place.at("alias/inner/file.txt"),
            "in".into(),
        ] {
            let file = place.root().outgoing(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(file.size, 4, "{path:?}");
        }
    }

    #[test]
    fn nothing_outside_is_reached_and_nothing_but_files_is_read() {
        let place = Place::new();
        for path in ["../outside.txt".into(), "out".into(), place.at("outside.txt"), "/etc/passwd".into()] {
            assert_eq!(place.root().outgoing(&path).unwrap_err().kind, ErrorKind::Denied, "{path:?}");
        }
        for path in ["inner", "none", "."] {
            let error = place.root().outgoing(Path::new(path)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidArgument, "{path}");
        }
        let error = place.root().incoming(Path::new("..")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied);
        assert_eq!(place.root().incoming(Path::new("none")).unwrap_err().kind, ErrorKind::InvalidArgument);
    }

    // contract: 10.5
    #[test]
    fn pipes_devices_sockets_and_the_tricks_of_proc_are_refused_at_once() {
        let place = Place::new();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, place.at(name)).unwrap();
        link("/dev/zero", "root/zero");
        link("/proc/self/root", "root/everything");
        link("/proc/self/cwd", "root/here");
        link("/proc/self/fd/0", "root/input");
        link("loop", "root/loop");
        link("inner/../../outside.txt", "root/inner/up");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, place.at("root/pipe"), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(place.at("root/socket")).unwrap();
        for path in [
            "zero",
            "everything",
            "everything/etc/passwd",
            "here",
            "here/Cargo.toml",
            "input",
            "loop",
            "inner/up",
            "pipe",
            "socket",
            "inner/file.txt/x",
            "inner/../../outside.txt",
            "/proc/self/environ",
            "/dev/stdin",
            "\n",
        ] {
            let error = place.root().outgoing(Path::new(path)).unwrap_err();
            assert!(
                matches!(error.kind, ErrorKind::Denied | ErrorKind::InvalidArgument),
                "{path:?}: {error:?}"
            );
            assert!(place.root().all(Path::new(path)).is_err(), "{path:?}");
            assert!(place.root().incoming(Path::new(path)).is_err(), "{path:?}");
        }
        assert!(
            place.root().all(Path::new(".")).is_err(),
            "a directory with such things in it is not uploaded"
        );
    }

    // contract: 10.5
    #[test]
    fn a_link_that_is_put_in_the_way_meanwhile_never_leads_out() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let place = Place::new();
        std::fs::create_dir_all(place.at("secret")).unwrap();
        std::fs::write(place.at("secret/file.txt"), "secret").unwrap();
        std::os::unix::fs::symlink(place.at("secret"), place.at("root/evil")).unwrap();
        let done = AtomicBool::new(false);
        let (good, evil) = (place.at("root/inner"), place.at("root/evil"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let swap = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(rustix::fs::CWD, &good, rustix::fs::CWD, &evil, swap).unwrap();
                }
            });
            let (mut read, mut refused) = (0, 0);
            for number in 0..20_000 {
                match place.root().outgoing(Path::new("inner/file.txt")) {
                    Ok(file) => {
                        assert_eq!(file.size, 4, "the secret was opened");
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
                let opened = place.root().incoming(Path::new("inner"));
                drop(opened);
                if number > 2000 && read > 0 && refused > 0 {
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
            assert!(read > 0 && refused > 0, "both were met: {read} and {refused}");
        });
        let left = std::fs::read_dir(place.at("secret")).unwrap().count();
        assert_eq!(left, 1, "nothing was written outside");
    }

    #[test]
    fn a_directory_is_walked_no_further_than_what_is_taken_of_it() {
        let place = Place::new();
        let upload = |path: &str| {
            let files = vec![PathBuf::from(path)];
            let mut operation = AnyOperation::Upload(Upload { files, ..Upload::default() });
            Carried::of(&mut operation, Some(&place.at("root"))).map(|carried| carried.outgoing.len())
        };
        assert_eq!(upload("inner").unwrap(), 1);
        // The walk ends at the first file too many: it does not come to what could not be uploaded.
        std::os::unix::fs::symlink(place.at("outside.txt"), place.at("root/inner/z")).unwrap();
        for number in 0..Upload::MAX_FILES {
            std::fs::write(place.at(&format!("root/inner/{number}.txt")), "x").unwrap();
        }
        let error = upload("inner").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        assert!(error.message.contains("more than 16 files"), "{error}");
        for number in 0..=ENTRIES {
            std::fs::create_dir_all(place.at(&format!("root/many/{number}"))).unwrap();
        }
        assert!(upload("many").unwrap_err().message.contains("entries"));
    }

    #[test]
    fn what_comes_appears_whole_under_a_free_name_and_leaves_nothing_when_it_does_not() {
        let place = Place::new();
        let sha = "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589";
        for want in ["a.txt", "a (1).txt", "a (2).txt"] {
            let mut file = place.root().incoming(Path::new("inner")).unwrap();
            file.take(b"ab").unwrap();
            file.take(b"cd").unwrap();
            let path = file.finish("../a.txt", 4, sha).unwrap();
            assert_eq!(path, place.at("root").canonicalize().unwrap().join("inner").join(want));
            assert_eq!(std::fs::read(path).unwrap(), b"abcd");
        }
        let mut short = place.root().incoming(Path::new(".")).unwrap();
        short.take(b"abc").unwrap();
        assert_eq!(short.finish("b.txt", 4, sha).unwrap_err().kind, ErrorKind::Transport);
        drop(place.root().incoming(Path::new(".")).unwrap());
        let mut left: Vec<_> = std::fs::read_dir(place.at("root"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["in", "inner", "out"]);
    }
}
