//! `upload`: files that the client put into the session are given to an input, or to the input of an open chooser.
//!
//! The browser sets them, as a person's choice would; what the page made of them is read back.

mod drop;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Locator, Upload};
use glass_proto::result::{Evidence, FileGiven, FileHeld, Target, Uploaded};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::key::settle;
use crate::act::{Before, Found, Looked, candidates, find, guard_revision, locate_all, look, measure};
use crate::cdp::types::{dom, runtime};
use crate::context::Context;
use crate::page::{Chooser, EngineError, FrameKey, Halt, Step};
use crate::uploads::Staged;

/// How long the browser may take to list a directory.
const LISTS: Duration = Duration::from_secs(3);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    is_file: bool,
    #[serde(default)]
    enabled: bool,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    directory: bool,
    #[serde(default)]
    accept: String,
}

#[derive(Deserialize)]
struct Held {
    held: Option<Vec<FileHeld>>,
}

/// The input, however it was named.
struct Place {
    key: FrameKey,
    session: Arc<str>,
    object: String,
    found: Option<Found>,
    chooser: Option<Chooser>,
}

pub(super) async fn run(context: &Context, params: &Upload) -> Result<Uploaded, OpError> {
    begin::page(context)?;
    if let (true, Some(target)) = (params.drop, &params.target) {
        return drop::run(context, params, target).await;
    }
    let staged = staged(context, &params.file_ids)?;
    let (place, looked) = match (&params.target, &params.chooser_id) {
        (Some(locator), _) => by_locator(context, locator).await?,
        (None, Some(id)) => by_chooser(context, id).await?,
        (None, None) => return Err(OpError::invalid("one of target and chooserId is given", "name one")),
    };
    guard_revision(context, Some(&place.key), &looked.changes, None)?;
    let input: Input = ask(context, &place, "fileInput").await?;
    let files: Vec<&FileGiven> = staged.iter().map(|staged| &staged.file).collect();
    let paths = given(context, &staged)?;
    fits(&input, files.len(), is_directory(&staged))?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    context.dispatching().await;
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let set = context.pages.client().start_send(
        Some(&place.session),
        dom::SetFileInputFiles {
            files: &paths,
            object_id: Some(&place.object),
            ..dom::SetFileInputFiles::default()
        },
    );
    match context.pages.or_halt(&context.target, set).await {
        Ok(_) => {}
        // The page went on, or asks something, because of the files: what can be measured is.
        Err(EngineError::Gone | EngineError::Halted(Halt::Dialog(_) | Halt::Closed)) => {}
        Err(EngineError::Cdp(error)) if !error.is_closed() => {
            tracing::debug!(%error, "the files were not taken");
            return Err(OpError::failed(
                ErrorKind::NotActionable,
                Phase::Dispatch,
                "the browser did not give the files to the input; it may have left the page",
                "observe the page",
            )
            .reason("node_unavailable"));
        }
        Err(error) => return Err(context.engine(&error, Phase::BrowserEffect)),
    }
    if let Some(chooser) = &place.chooser {
        context.pages.state().take_chooser(&context.target, &chooser.id);
    }
    settle(context).await?;
    let held = held(context, &place, input.directory.then_some(files.len())).await;
    let release = runtime::ReleaseObject { object_id: &place.object };
    drop(context.pages.client().start_send(Some(&place.session), release));
    let (measured, revision) = measure(context, &before, None).await?;
    let matches = held.as_ref().map(|held| same(held, &files));
    let evidence = Evidence { value_matches: matches, ..measured };
    let warning = warning(&input, &files, held.as_deref());
    Ok(Uploaded {
        action: "upload".to_owned(),
        target: place.found.as_ref().map(|found| Target {
            label: "file input".to_owned(),
            reference: found.reference(),
            carried: found
                .by_ref
                .and_then(|by| by.revision)
                .map(|at| at != before.revision)
                .filter(|carried| *carried),
        }),
        chooser_id: place.chooser.map(|chooser| chooser.id),
        target_id: context.target.clone(),
        frame_id: (place.key.label != 0).then(|| format!("f{}", place.key.label)),
        files: files.into_iter().cloned().collect(),
        held,
        warning,
        previous_revision: before.revision,
        revision,
        evidence,
    })
}

/// What the input holds; a directory's files once all of them are there, since the browser lists it after the answer.
async fn held(context: &Context, place: &Place, wanted: Option<usize>) -> Option<Vec<FileHeld>> {
    let until = Instant::now() + LISTS.min(context.left() / 2);
    loop {
        let held = ask::<Held>(context, place, "filesHeld").await.ok().and_then(|held| held.held);
        let there = wanted.is_none_or(|wanted| held.as_ref().is_none_or(|held| held.len() >= wanted));
        if there || Instant::now() >= until {
            return held;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Whether they are the files of a directory.
fn is_directory(staged: &[Staged]) -> bool {
    staged.iter().any(|staged| staged.file.name.contains('/'))
}

/// The paths that the browser is given: of each file, or of the directory that they are all of.
fn given(context: &Context, staged: &[Staged]) -> Result<Vec<String>, OpError> {
    if !is_directory(staged) {
        return Ok(staged.iter().map(|staged| staged.path.to_string_lossy().into_owned()).collect());
    }
    let tops: HashSet<_> =
        staged.iter().map(|staged| staged.file.name.split_once('/').map(|(top, _)| top)).collect();
    if tops.len() != 1 || tops.contains(&None) {
        return Err(OpError::invalid(
            "a directory is uploaded by itself, and more was named",
            "name one directory, or files",
        ));
    }
    let directory = context.pages.uploads().directory_of(staged).map_err(|error| {
        tracing::warn!(%error, "a directory cannot be put together");
        OpError::rejected(
            ErrorKind::Transport,
            Phase::Transport,
            "the session cannot keep the directory",
            "try again",
        )
    })?;
    Ok(vec![directory.to_string_lossy().into_owned()])
}

fn staged(context: &Context, ids: &[String]) -> Result<Vec<Staged>, OpError> {
    let found: Option<Vec<_>> = ids.iter().map(|id| context.pages.uploads().get(id)).collect();
    found.filter(|files| !files.is_empty()).ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::Preflight,
            "the session has no file of one of those ids",
            "put the files into the session first; the command line does so by itself",
        )
        .reason("no_file")
    })
}

/// The one input: a hidden one counts as well (contract 4.2).
async fn by_locator(context: &Context, locator: &Locator) -> Result<(Place, Looked), OpError> {
    let looked = locate_all(context, locator, true, 8).await?;
    let visible: u64 = looked.matches.iter().map(|(_, matches)| matches.total).sum();
    let hidden: u64 = looked.matches.iter().map(|(_, matches)| matches.hidden_total).sum();
    let (found, looked) = if visible == 0 && hidden == 1 {
        let only = looked.matches.iter().find_map(|(key, matches)| {
            matches.matches.first().map(|one| Found {
                key: key.clone(),
                node: one.node,
                by_ref: None,
                as_of: None,
            })
        });
        let only = only.ok_or_else(|| context.engine(&EngineError::Gone, Phase::TargetResolution))?;
        (only, looked)
    } else if visible == 0 && hidden > 1 {
        return Err(OpError::rejected(
            ErrorKind::AmbiguousTarget,
            Phase::TargetResolution,
            format!("{hidden} hidden elements fit the locator, and one must"),
            "use the ref of the one that is meant, or narrow it: CONTAINER >> LOCATOR",
        )
        .with_candidates(candidates(&looked.matches))
        .detail("total", hidden));
    } else {
        find(context, locator).await?
    };
    let handle = context.pages.handle(&found.key, "fileNode", found.node).await;
    let (session, object) = handle.map_err(|error| context.engine(&error, Phase::TargetResolution))?;
    let object = object.ok_or_else(no_file_input)?;
    Ok((Place { key: found.key.clone(), session, object, found: Some(found), chooser: None }, looked))
}

async fn by_chooser(context: &Context, id: &str) -> Result<(Place, Looked), OpError> {
    let looked = look(context, None, false, 1).await?;
    let chooser = context.pages.state().chooser(&context.target, id).ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "no file chooser of that id is open: it was used, or its document has gone",
            "click what opens it again; the answer names the new one",
        )
        .reason("no_chooser")
    })?;
    let (session, object) = context
        .pages
        .handle_of_backend(&chooser.key, chooser.node)
        .await
        .map_err(|error| context.engine(&error, Phase::TargetResolution))?;
    Ok((Place { key: chooser.key.clone(), session, object, found: None, chooser: Some(chooser) }, looked))
}

async fn ask<T: serde::de::DeserializeOwned>(
    context: &Context,
    place: &Place,
    method: &'static str,
) -> Result<T, OpError> {
    let handles = std::slice::from_ref(&place.object);
    let call = context.pages.run_on(&place.key, vec![Step(method, json!({}))], handles).await;
    call.and_then(|mut call| call.take()).map_err(|error| context.engine(&error, Phase::TargetResolution))
}

fn fits(input: &Input, count: usize, directory: bool) -> Result<(), OpError> {
    let refused = |reason: &str, what: &str, remedy: &str| {
        Err(OpError::rejected(ErrorKind::NotActionable, Phase::Preflight, what, remedy).reason(reason))
    };
    if !input.is_file {
        return Err(no_file_input());
    }
    if !input.enabled {
        return refused("disabled", "the file input is disabled", "wait until the page enables it");
    }
    if input.directory && !directory {
        return refused(
            "directory",
            "the input takes a whole directory, and files were named",
            "name a directory",
        );
    }
    if directory && !input.directory {
        return refused("directory", "the input takes files, and a directory was named", "name files");
    }
    if count > 1 && !input.multiple && !directory {
        return refused("one_file", "the input takes one file, and more were named", "upload one file");
    }
    Ok(())
}

fn no_file_input() -> OpError {
    OpError::rejected(
        ErrorKind::NotActionable,
        Phase::Preflight,
        "the element is no file input and no label of one; nothing was given to the page",
        "name the input, also a hidden one (css=input[type=file]); or click what opens a file chooser, and answer that with --chooser-id; or --drop them on it",
    )
    .reason("no_file_input")
}

fn same(held: &[FileHeld], files: &[&FileGiven]) -> bool {
    // A directory is listed in the browser's own order, by names alone.
    let name = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut held: Vec<_> = held.iter().map(|held| (name(&held.name), held.size)).collect();
    let mut given: Vec<_> = files.iter().map(|file| (name(&file.name), file.size)).collect();
    if files.iter().any(|file| file.name.contains('/')) {
        held.sort();
        given.sort();
    }
    held == given
}

fn warning(input: &Input, files: &[&FileGiven], held: Option<&[FileHeld]>) -> Option<String> {
    let strangers = files.iter().filter(|file| !accepted(&input.accept, &file.name)).count();
    match held {
        Some([]) => Some(
            "the input holds no file any more: the page took the files over, or refused them; look at the page"
                .to_owned(),
        ),
        Some(held) if !same(held, files) => {
            Some("the input holds other files than were given; look at the page".to_owned())
        }
        _ if strangers > 0 => {
            Some(format!("the input asks for files of another kind than {strangers} of those that were given"))
        }
        _ => None,
    }
}

/// Whether the input's `accept` names the file's ending or a kind that its ending belongs to.
fn accepted(accept: &str, name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let kind = match ending.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "avif" | "bmp" | "ico" | "heic" | "tiff" => "image",
        "mp4" | "webm" | "mov" | "mkv" | "avi" | "ogv" => "video",
        "mp3" | "wav" | "ogg" | "flac" | "m4a" | "opus" => "audio",
        "txt" | "csv" | "html" | "css" | "md" | "xml" => "text",
        _ => "",
    };
    let mut asked =
        accept.split(',').map(|one| one.trim().to_ascii_lowercase()).filter(|one| !one.is_empty());
    let mut any = false;
    let fits = asked.any(|one| {
        any = true;
        match one.strip_prefix('.') {
            Some(wanted) => wanted == ending,
            // A type that its ending does not tell is not judged.
            None => {
                one == "*/*"
                    || kind.is_empty()
                    || one.split('/').next() == Some(kind)
                    || !one.contains('*')
                        && !["image", "video", "audio"].contains(&one.split('/').next().unwrap_or_default())
            }
        }
    });
    fits || !any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_is_told_where_it_is_certain() {
        for (accept, name, fits) in [
            ("", "a.exe", true),
            (".png", "a.png", true),
            (".png", "a.PNG", true),
            (".png,.jpg", "a.pdf", false),
            ("image/*", "a.jpeg", true),
            ("image/*", "a.txt", false),
            ("image/*", "none", true),
            ("application/pdf", "a.pdf", true),
            ("*/*", "a.txt", true),
        ] {
            assert_eq!(accepted(accept, name), fits, "{accept} {name}");
        }
    }
}
