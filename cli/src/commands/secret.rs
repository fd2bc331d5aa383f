//! `glassctl secret export` (contract 10.8): the values of a session's vault, to a person's terminal or a file for its
//! owner alone. `secret list` and `secret delete` are the operations of the same name.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use glass_proto::escape::is_hidden;
use glass_proto::wire::client::Secret;
use glass_proto::{OpError, SecretName, SessionName};
use serde::Serialize;

use crate::args::{SecretExport, SecretFormat};
use crate::client::Server;
use crate::error::{self, Failure};
use crate::files::{Creating, Root};
use crate::output::Report;

/// An export that is ready to be asked for.
#[derive(Debug)]
pub(super) struct Prepared {
    session: SessionName,
    names: Vec<SecretName>,
    format: SecretFormat,
    out: Option<Creating>,
}

#[derive(Serialize)]
struct Exported<'a> {
    names: Vec<&'a str>,
    path: String,
}

/// Looks where it shall go.
///
/// # Errors
/// Neither a terminal nor a file that can be made.
pub(super) fn prepare(
    export: SecretExport,
    session: SessionName,
    file_root: Option<&Path>,
    json: bool,
) -> Result<Prepared, Failure> {
    let SecretExport { names, format, out } = export;
    let out = match out {
        Some(path) => Some(Root::open(file_root)?.creating(&path)?),
        None if json => {
            return Err(Failure::invalid(
                "--json shows no secret",
                "name a file with --out, or leave out --json",
            ));
        }
        None if !io::stdout().is_terminal() => {
            return Err(Failure::invalid(
                "standard output is no terminal, and secrets go to a person alone",
                "name a file with --out; it is made for its owner alone",
            ));
        }
        None => None,
    };
    Ok(Prepared { session, names, format, out })
}

pub(super) async fn run(prepared: Prepared, server: &Server) -> Result<Report, Failure> {
    let Prepared { session, names, format, out } = prepared;
    let Some(mut client) = server.connect_running().await? else {
        return Err(super::session::absent(&session).into());
    };
    let secrets =
        client.export_secrets(session.into(), names.into_iter().map(String::from).collect()).await?;
    let terminal = out.is_none();
    let text = written(&secrets, format, terminal)?;
    match out {
        None => Report::of(&(), text),
        Some(out) => {
            let path = out.write(text.as_bytes())?.to_string_lossy().into_owned();
            let names: Vec<_> = secrets.iter().map(|secret| secret.name.as_str()).collect();
            let told =
                format!("{} written to {}", names.join(", "), glass_proto::escape::visible(&path, false));
            Report::of(&Exported { names, path }, told)
        }
    }
}

fn written(secrets: &[Secret], format: SecretFormat, terminal: bool) -> Result<String, OpError> {
    let mut out = String::new();
    if format == SecretFormat::Json {
        out.push('{');
    }
    for (at, secret) in secrets.iter().enumerate() {
        let value = std::str::from_utf8(&secret.value).map_err(|_| error::unreadable("answer"))?;
        match format {
            SecretFormat::Json => {
                out.push_str(if at == 0 { "\n  " } else { ",\n  " });
                out.push_str(&format!("\"{}\": {}", secret.name, json(value)));
            }
            SecretFormat::Dotenv => {
                let quoted = dotenv(value, terminal).ok_or_else(|| unwritable(&secret.name))?;
                out.push_str(&format!("{}={quoted}\n", secret.name));
            }
        }
    }
    if format == SecretFormat::Json {
        out.push_str(if secrets.is_empty() { "}\n" } else { "\n}\n" });
    }
    Ok(out)
}

/// A string of JSON in which nothing hides.
fn json(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A value in the one form that every reader of such files takes for the same; `None` where there is none.
fn dotenv(value: &str, terminal: bool) -> Option<String> {
    let hidden = |c: char| c == '\r' || c == '\0' || (terminal && c != '\n' && is_hidden(c));
    if value.contains(hidden) || value.contains('\\') {
        return None;
    }
    // Between single quotes nothing is replaced; between double ones a `$` or `` ` `` may be.
    if !value.contains('\'') {
        return Some(format!("'{value}'"));
    }
    (!value.contains(['"', '$', '`', '\n'])).then(|| format!("\"{value}\""))
}

fn unwritable(name: &str) -> OpError {
    OpError::invalid(
        format!("the value of {name} cannot be written so that every reader of dotenv takes it for the same"),
        "use --format json; nothing was written",
    )
    .reason("not_dotenv")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_exact_and_hides_nothing() {
        for value in ["", "a\"b\\c", "é\n\r\t\u{202e}\u{0}", "\u{e0041}😀", "$`'"] {
            let json = json(value);
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
            assert!(!json.chars().any(is_hidden), "{json:?}");
        }
        let secrets = ["A", "B"].map(|name| Secret { name: name.to_owned(), value: b"x y".to_vec() });
        let all = written(&secrets, SecretFormat::Json, true).unwrap();
        let all: serde_json::Value = serde_json::from_str(&all).unwrap();
        assert_eq!(all, serde_json::json!({ "A": "x y", "B": "x y" }));
        assert_eq!(written(&[], SecretFormat::Json, true).unwrap(), "{}\n");
        assert_eq!(written(&secrets, SecretFormat::Dotenv, true).unwrap(), "A='x y'\nB='x y'\n");
    }

    #[test]
    fn dotenv_is_written_where_all_readers_agree() {
        for (value, form) in [
            ("", Some("''")),
            ("a b # $HOME `x` \"", Some("'a b # $HOME `x` \"'")),
            ("two\nlines", Some("'two\nlines'")),
            ("it's", Some("\"it's\"")),
            ("it's $HOME", None),
            ("it's \"so\"", None),
            ("back\\slash", None),
            ("a\r", None),
            ("a\u{202e}", None),
        ] {
            assert_eq!(dotenv(value, true).as_deref(), form, "{value:?}");
        }
        assert!(dotenv("a\u{202e}", false).is_some());
    }
}
