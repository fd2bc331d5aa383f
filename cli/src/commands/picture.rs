//! Where a file of an answer is written: a name of one's own, or the next free `screenshot-N` or `page-N` (contract 12.6).
//!
//! A file appears whole or not at all. A name that the user gave replaces what was there; a name that glassctl
//! made never does.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glass_proto::escape::visible;
use glass_proto::op::{ExportPage, ImageFormat, NetworkBody, Observe, Screenshot};
use glass_proto::{Dispatched, ErrorKind, OpError, Outcome, Phase, Retry};

use crate::error::Failure;

/// A place for one file.
#[derive(Debug)]
pub(super) struct Picture {
    output: Option<PathBuf>,
    /// Beginning of a name that glassctl makes.
    stem: &'static str,
    /// Its ending.
    ending: &'static str,
}

impl Picture {
    /// Checks what can be checked before a picture is taken.
    ///
    /// # Errors
    /// `invalid_argument`: an ending of another format, or a place where no file can be.
    pub(super) fn of(screenshot: &Screenshot) -> Result<Self, Failure> {
        let format = screenshot.format;
        if let Some(path) = &screenshot.output {
            check_ending(path, format)?;
            check_place(path)?;
        }
        Ok(Self { output: screenshot.output.clone(), stem: "screenshot", ending: format.name() })
    }

    /// The same for the picture that an observation is asked for.
    ///
    /// # Errors
    /// `invalid_argument`: an ending of another format, or a place where no file can be.
    pub(super) fn beside(observe: &Observe) -> Result<Self, Failure> {
        Self::of(&Screenshot { output: observe.output.clone(), ..Screenshot::default() })
    }

    /// The same for an exported page.
    ///
    /// # Errors
    /// `invalid_argument`: a place where no file can be.
    pub(super) fn export(page: &ExportPage) -> Result<Self, Failure> {
        if let Some(path) = &page.output {
            check_place(path)?;
        }
        Ok(Self { output: page.output.clone(), stem: "page", ending: page.format.ending() })
    }

    /// The same for the body of an answer.
    ///
    /// # Errors
    /// `invalid_argument`: a place where no file can be.
    pub(super) fn body(body: &NetworkBody) -> Result<Self, Failure> {
        if let Some(path) = &body.output {
            check_place(path)?;
        }
        Ok(Self { output: body.output.clone(), stem: "body", ending: "bin" })
    }

    /// Writes the picture, and says where.
    ///
    /// # Errors
    /// `transport` with the outcome `completed`: the picture was taken and could not be kept.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<PathBuf, OpError> {
        let written = match &self.output {
            Some(path) => replace(path, bytes).map(|()| path.clone()),
            None => add(self.stem, self.ending, bytes),
        };
        written.map_err(|error| {
            let error = OpError::rejected(
                ErrorKind::Transport,
                Phase::Transport,
                format!("the file was made and cannot be written: {error}"),
                "name a place that can be written to with -o",
            );
            let mut error = error.reason("write_failed").ended(Outcome::Completed, Dispatched::Yes);
            // A picture has no effect: it may be taken again, once there is a place for it.
            error.retry = Retry::AfterObserve;
            error
        })
    }
}

fn check_ending(path: &Path, format: ImageFormat) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let meant = match ending.as_deref() {
        Some("png") => ImageFormat::Png,
        Some("jpg" | "jpeg") => ImageFormat::Jpeg,
        Some("webp") => ImageFormat::Webp,
        _ => return Ok(()),
    };
    if meant == format {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("the file's name says {} and the format is {}", meant.name(), format.name()),
        format!("give --format {}, or another ending", meant.name()),
    ))
}

fn check_place(path: &Path) -> Result<(), Failure> {
    let shown = visible(&path.to_string_lossy(), false).into_owned();
    if path.as_os_str() == "-" || path.file_name().is_none() {
        return Err(Failure::invalid(format!("{shown} is no file's name"), "name a file, such as page.png"));
    }
    if path.symlink_metadata().is_ok() && !path.metadata().is_ok_and(|found| found.is_file()) {
        // A directory, a device, a pipe or a link to nowhere; renaming over it would destroy it.
        return Err(Failure::invalid(format!("{shown} exists and is no regular file"), "name another file"));
    }
    if !directory(path).is_dir() {
        return Err(Failure::invalid(format!("there is no directory to put {shown} into"), "make it first"));
    }
    Ok(())
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A file beside the final one, so that the rename is atomic; as readable as the user's umask says.
fn beside(directory: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mut file = tempfile::Builder::new()
        .prefix(".glass-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(directory)?;
    file.write_all(bytes)?;
    Ok(file)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Through a link to the file that it names; the link itself stays.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    beside(directory(&place), bytes)?.persist(&place).map(drop).map_err(|error| error.error)
}

fn add(stem: &str, ending: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    /// More pictures than anybody keeps in one directory; a bound so that the search ends.
    const MOST: u32 = 1_000_000;
    let mut file = beside(Path::new("."), bytes)?;
    for n in 1..=MOST {
        let path = PathBuf::from(format!("{stem}-{n}.{ending}"));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            // Another process took the name meanwhile.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(error.error),
        }
    }
    Err(io::Error::other("a million of them lie here already"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(output: &Path, format: ImageFormat) -> Screenshot {
        Screenshot { output: Some(output.to_owned()), format, ..Screenshot::default() }
    }

    #[test]
    fn an_ending_of_another_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(Picture::of(&shot(&at("a.JPG"), ImageFormat::Png)).is_err());
        assert!(Picture::of(&shot(&at("a.png"), ImageFormat::Webp)).is_err());
        assert!(Picture::of(&shot(&at("a.jpg"), ImageFormat::Jpeg)).is_ok());
        assert!(Picture::of(&shot(&at("a.data"), ImageFormat::Png)).is_ok());
    }

    #[test]
    fn only_regular_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        for bad in
            [Path::new("-"), Path::new("/"), dir.path(), Path::new("/dev/null"), &dir.path().join("no/x")]
        {
            assert!(Picture::of(&shot(bad, ImageFormat::Png)).is_err(), "{}", bad.display());
        }
        let file = dir.path().join("x.png");
        std::fs::write(&file, "old").unwrap();
        let link = dir.path().join("link.png");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Picture::of(&shot(&link, ImageFormat::Png)).unwrap().write(b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
