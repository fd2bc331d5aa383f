//! A program that decides instead of a person on a terminal.
//!
//! It is started without a shell and with an empty environment, gets what is to be decided as one JSON object on its standard
//! input, and agrees by ending with 0. Anything else is a no: another code, a signal, no end in time.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;

use super::book::About;
use crate::shutdown::Shutdown;
use crate::supervise::{Program, Spawner, run};

/// The approver of the configuration.
#[derive(Clone, Debug)]
pub struct Approver {
    /// The program.
    program: Arc<Program>,
    args: Vec<OsString>,
    spawner: Spawner,
}

impl Approver {
    /// The program at `path` with these arguments.
    pub fn new(path: PathBuf, args: Vec<String>, spawner: Spawner) -> Self {
        let args = args.into_iter().map(OsString::from).collect();
        Self { program: Arc::new(Program::at("approver", path)), args, spawner }
    }

    /// Asks it.
    ///
    /// # Errors
    /// It could not be started or asked, or did not end in time.
    pub(super) async fn decide(&self, about: &About, until: Instant, tasks: &Shutdown) -> io::Result<bool> {
        let mut asked = serde_json::to_value(&about.shown)?;
        asked["arguments"] = match serde_json::from_str(&about.arguments) {
            Ok(arguments) => arguments,
            // What was cut is no JSON any more.
            Err(_) => json!(about.arguments),
        };
        let mut input = serde_json::to_vec(&asked)?;
        input.push(b'\n');
        let exit = run(&self.spawner, tasks, &self.program, self.args.clone(), input, until).await?;
        Ok(exit == glass_sandbox::Exit::Code(0))
    }
}
