//! The command line of glassd.

use std::path::PathBuf;

use clap::Parser;

/// glassd, the daemon behind glassctl: it owns the sessions and their caged browsers
///
/// Clients start it by themselves; started by hand it serves until it is told to stop. It logs to
/// $XDG_STATE_HOME/glass/logs/glassd.log.
#[derive(Clone, Debug, Parser)]
#[command(name = "glassd", version, disable_help_subcommand = true)]
pub struct Args {
    /// Listen on this socket instead of the one in XDG_RUNTIME_DIR
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Keep state here instead of in XDG_STATE_HOME
    #[arg(long, value_name = "PATH")]
    pub state_dir: Option<PathBuf>,
    /// Read this configuration instead of the one in XDG_CONFIG_HOME
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Keep standard error, and log there
    #[arg(long)]
    pub foreground: bool,
    /// A client starts it: end when idle, and leave quietly where another daemon serves already
    #[arg(long)]
    pub from_client: bool,
    /// Look at everything that glassd needs, tell it one JSON object a line, and start nothing
    #[arg(long, hide = true, conflicts_with_all = ["foreground", "from_client"])]
    pub diagnose: bool,
    /// Tell the settings in force, or the mistake in them, as one JSON object, and start nothing
    #[arg(long, hide = true, conflicts_with_all = ["foreground", "from_client", "diagnose"])]
    pub tell_settings: bool,
    /// Answer the question about the policy that standard input holds, as one JSON object, and start nothing
    #[arg(long, hide = true, conflicts_with_all = ["foreground", "from_client", "diagnose", "tell_settings"])]
    pub tell_policy: bool,
    /// Print the hash of the secret that standard input holds, for confirm.secret, and start nothing
    #[arg(long, hide = true, conflicts_with_all = ["foreground", "from_client", "diagnose", "tell_settings", "tell_policy"])]
    pub hash_secret: bool,
    /// With --diagnose: mend what can be mended safely
    #[arg(long, hide = true, requires = "diagnose")]
    pub fix: bool,
}
