//! The command line of `glass`: fixed by whoever configures a client, never by a call (contract 10.1).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use glass_proto::SessionName;
use glass_proto::op::Interaction;
use glass_proto::session::Grant;

use super::configure::ClientName;
use super::connection::CancelReply;
use super::tools::Listed;
use crate::policy::PolicyOptions;

/// Glass for programs: an MCP server on standard input and output
#[derive(Debug, Parser)]
#[command(name = "glass", version, args_conflicts_with_subcommands = true, max_term_width = 110)]
pub struct Cli {
    /// Speak MCP on standard input and output
    #[arg(long)]
    pub mcp: bool,
    /// How the session is and what is listed.
    #[command(flatten)]
    pub flags: Flags,
    /// Something else.
    #[command(subcommand)]
    pub command: Option<Command>,
}

// No doc comment: clap would take it as the text about the program.
#[derive(Clone, Debug, Args)]
pub struct Flags {
    /// Work in this session and leave it open, instead of a private one that closes at the end of input
    #[arg(long, value_name = "NAME")]
    pub session: Option<SessionName>,
    /// A fresh profile, which is the default
    #[arg(long)]
    pub incognito: bool,
    /// Which other sessions calls may name
    #[arg(long, value_name = "any", conflicts_with = "prefix")]
    pub sessions: Option<Sessions>,
    /// Calls may name sessions, whose names get this in front where they do not begin so; the server's own is Pdefault, and
    /// stays open
    #[arg(long, value_name = "P")]
    pub prefix: Option<SessionName>,
    /// Which tools are listed: core, forms, tabs, files, network, state, debug, vision, session, all or seed
    #[arg(long, value_name = "SETS", default_value = "core")]
    pub tools: Listed,
    /// Longest request on one line, at most 4M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub mcp_line_limit: Option<usize>,
    /// Whether a cancelled request is answered
    #[arg(long, value_enum, default_value_t)]
    pub cancel_reply: CancelReply,
    /// Read and write files below this directory alone, instead of the one that this process is started in
    #[arg(long, value_name = "DIR")]
    pub file_root: Option<PathBuf>,
    /// How the pointer gets to where it acts: at once, or along a curve with rests
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub interaction: Interaction,
    /// A JSON file with who the session is to servers that ask: [{"origin", "username", "password"}]
    #[arg(long, value_name = "FILE")]
    pub http_credentials: Option<PathBuf>,
    /// Take certificates that are not valid
    #[arg(long)]
    pub ignore_certificate_errors: bool,
    /// What pages of an origin may do without asking, such as https://example.com=geolocation; repeat for more
    #[arg(long = "permission", value_name = "ORIGIN=NAMES")]
    pub permissions: Vec<Grant>,
    /// Drive somebody else's browser, by its DevTools endpoint on this machine; it is never closed
    #[arg(long, value_name = "http://HOST:PORT|ws://…")]
    pub attach: Option<String>,
    /// With --attach: the page that the session claims and selects when it begins
    #[arg(long, value_name = "ID", requires = "attach")]
    pub target_id: Option<glass_proto::TargetId>,
    /// Write one line a call to standard error
    #[arg(long)]
    pub log: bool,
    /// Fail calls instead of starting glassd when none runs
    #[arg(long)]
    pub no_autostart: bool,
    /// Where glassd listens, instead of the user's own place
    #[arg(long, value_name = "PATH", hide = true)]
    pub socket: Option<PathBuf>,
    /// What policy calls go by.
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// What this build cannot honour.
    #[command(flatten)]
    pub refused: Refused,
}

/// Options of the contract that this build does not have. They are read so that they are refused by name, and never
/// ignored: somebody who gives one relies on it.
#[derive(Clone, Debug, Args)]
pub struct Refused {
    #[arg(long, hide = true)]
    profile: Option<String>,
    #[arg(long, hide = true)]
    headed: bool,
    #[arg(long, hide = true)]
    url: Option<String>,
}

impl Refused {
    /// The first option that was given and cannot be honoured, with the reason.
    pub fn first(&self) -> Option<(&'static str, &'static str)> {
        let sessions = "the browsers that this build starts are ephemeral and without a window";
        let others = [
            ("--profile", self.profile.is_some(), sessions),
            ("--headed", self.headed, sessions),
            ("--url", self.url.is_some(), "this build has no HTTP front end to bridge to"),
        ];
        others.into_iter().find(|(_, given, _)| *given).map(|(name, _, why)| (name, why))
    }
}

/// What `--sessions` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sessions {
    /// Every session of the user
    Any,
}

/// Beside serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a client's configuration for this server, or merge it into the client's file
    McpConfig {
        /// The client
        #[arg(long, value_enum)]
        client: ClientName,
        /// Merge it into the client's file, keeping what is there; the file as it was is kept beside it
        #[arg(long)]
        write: bool,
        /// The file, instead of the client's own
        #[arg(long, value_name = "FILE", requires = "write")]
        file: Option<PathBuf>,
        /// Options of `glass --mcp` that the client shall give, after `--`
        #[arg(last = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
}

/// A size such as 8192, 64K or 1M; at most 4 MiB.
fn size(text: &str) -> Result<usize, &'static str> {
    const WRONG: &str = "a size is a number of bytes, or one with K or M, from 1K to 4M";
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1024),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1024 * 1024),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit)).ok_or(WRONG)?;
    if (1024..=4 * 1024 * 1024).contains(&bytes) { Ok(bytes) } else { Err(WRONG) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("glass").chain(line.split_whitespace()))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    // contract: 9.1
    #[test]
    fn session_flags_stand_before_or_after_mcp() {
        for line in ["--incognito --interaction fast --mcp", "--mcp --interaction fast --incognito"] {
            let cli = parse(line).unwrap();
            assert!(cli.mcp && cli.flags.incognito && cli.flags.refused.first().is_none(), "{line}");
        }
        assert!(parse("--mcp --tools core,files --cancel-reply always --mcp-line-limit 8K").is_ok());
        for line in
            ["--mcp --tools nothing", "--mcp --mcp-line-limit 5M", "--mcp --mcp-line-limit x", "--mcp extra"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_honoured_is_named() {
        for (line, name) in
            [("--mcp --profile p", "--profile"), ("--mcp --url http://127.0.0.1:7717/mcp", "--url")]
        {
            assert_eq!(
                parse(line).unwrap().flags.refused.first().map(|(name, _)| name),
                Some(name),
                "{line}"
            );
        }
    }
}
