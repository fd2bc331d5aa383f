//! `upload`: give files to a file input or to an open file chooser (contract 5.3, 7.4).

use std::path::PathBuf;

use clap::error::ErrorKind as ClapError;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Locator, Needs, Operation, seconds};
use crate::result::Uploaded;

/// Give files to a file input
///
/// The input may be hidden, or be named by its label. Where a click opens a file chooser instead, the click's answer
/// names it, and --chooser-id answers it. Only regular files inside the file root are read: the directory that the
/// client was started in. An input that takes a directory is given one of up to 16 files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Upload {
    /// The file input
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// The open file chooser, as the answer that told of it names it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chooser_id: Option<String>,
    /// 1 to 16 files of at most 256 MiB each
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", length(max = 16))]
    pub files: Vec<PathBuf>,
    /// Drop the files on the element, for pages that take them that way
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop: bool,
    /// Files that were put into the session before, instead of `files`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub file_ids: Vec<String>,
}

impl Upload {
    /// Most files of one call.
    pub const MAX_FILES: usize = 16;
    /// Largest file, in bytes.
    pub const MAX_BYTES: u64 = 256 * 1024 * 1024;
}

// The words of the command line: which of them is the target depends on --chooser-id. Its text is that of `Upload`.
/// Give files to a file input
///
/// The input may be hidden, or be named by its label. Where a click opens a file chooser instead, the click's answer
/// names it, and --chooser-id answers it. Only regular files inside the file root are read: the directory that the
/// client was started in. An input that takes a directory is given one of up to 16 files.
#[derive(Debug, Args)]
struct Words {
    /// The file input, then 1 to 16 files; with --chooser-id files alone
    #[arg(value_names = ["LOCATOR", "FILE"], num_args = 1.., required = true)]
    words: Vec<String>,
    /// The open file chooser, as the answer that told of it names it
    #[arg(long, value_name = "ID", conflicts_with = "drop")]
    chooser_id: Option<String>,
    /// Drop the files on the element, for pages that take them that way
    #[arg(long)]
    drop: bool,
}

impl Args for Upload {
    fn augment_args(command: Command) -> Command {
        Words::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Words::augment_args_for_update(command)
    }
}

impl FromArgMatches for Upload {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Words { words, chooser_id, drop } = Words::from_arg_matches(matches)?;
        let mut words = words.into_iter();
        let target = match chooser_id {
            Some(_) => None,
            None => words.next().map(|locator| locator.parse::<Locator>()).transpose().map_err(|error| {
                clap::Error::raw(ClapError::ValueValidation, format!("the file input's locator: {error}\n"))
            })?,
        };
        let files: Vec<_> = words.map(PathBuf::from).collect();
        if files.is_empty() {
            return Err(clap::Error::raw(
                ClapError::MissingRequiredArgument,
                "no file is named; give LOCATOR FILE..., or --chooser-id ID FILE...\n",
            ));
        }
        Ok(Self { target, chooser_id, files, drop, file_ids: Vec::new() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Operation for Upload {
    const FACTS: Facts = Facts {
        name: "upload",
        capability: Capability::Upload,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(30),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = Uploaded;

    fn locators(&self) -> Vec<&Locator> {
        self.target.iter().collect()
    }

    fn check(&self) -> Result<(), InvalidParams> {
        if self.target.is_some() == self.chooser_id.is_some() {
            return Err(InvalidParams("one of target and chooserId is given".to_owned()));
        }
        if self.drop && self.target.is_none() {
            return Err(InvalidParams(
                "files are dropped on an element: drop is given with target".to_owned(),
            ));
        }
        if self.files.is_empty() == self.file_ids.is_empty() {
            return Err(InvalidParams("one of files and fileIds is given".to_owned()));
        }
        let count = self.files.len() + self.file_ids.len();
        super::in_range("the number of files", u32::try_from(count).unwrap_or(u32::MAX), 1..=16)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        upload: Upload,
    }

    fn read(words: &[&str]) -> Option<Upload> {
        Cli::try_parse_from([&["upload"], words].concat()).ok().map(|cli| cli.upload)
    }

    #[test]
    fn the_first_word_is_the_input_unless_a_chooser_is_named() {
        let upload = read(&["label=Photo", "a.png", "b c.png"]).unwrap();
        assert_eq!(upload.target.as_ref().map(ToString::to_string).as_deref(), Some("label=\"Photo\""));
        assert_eq!(upload.files, [PathBuf::from("a.png"), PathBuf::from("b c.png")]);
        assert_eq!(upload.check(), Ok(()));
        for words in [&["--chooser-id", "c1", "a.png"][..], &["a.png", "--chooser-id", "c1"]] {
            let upload = read(words).unwrap();
            assert_eq!((upload.target, upload.chooser_id.as_deref()), (None, Some("c1")));
            assert_eq!(upload.files, [PathBuf::from("a.png")]);
        }
        for wrong in [&[][..], &["label=Photo"], &["--chooser-id", "c1"], &["role=", "a.png"]] {
            assert!(read(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn exactly_one_place_and_one_kind_of_files_and_at_most_16() {
        let both = Upload { chooser_id: Some("c1".to_owned()), ..read(&["label=A", "a"]).unwrap() };
        assert!(both.check().is_err());
        let many = Upload { files: vec![PathBuf::from("a"); 17], ..read(&["label=A", "a"]).unwrap() };
        assert!(many.check().is_err());
        assert!(Upload::default().check().is_err());
    }
}
