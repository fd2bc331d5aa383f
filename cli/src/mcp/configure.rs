//! `glass mcp-config`: a client's entry for this server, printed or merged into the client's file (contract 9.8).
//!
//! A merge changes one entry and nothing else, keeps the file as it was beside it, and refuses what it cannot read.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use glass_proto::escape::visible;
use serde_json::{Map, Value, json};

use crate::error::Failure;

/// The name of the entry.
const NAME: &str = "glass";

/// A client that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClientName {
    /// ~/.claude.json
    ClaudeCode,
    /// claude_desktop_config.json
    ClaudeDesktop,
    /// ~/.cursor/mcp.json
    Cursor,
    /// mcp.json of the user's profile
    Vscode,
    /// ~/.codex/config.toml
    Codex,
    /// ~/.gemini/settings.json
    Gemini,
    /// Any other; it has no file of its own
    Generic,
}

impl ClientName {
    /// Where its servers stand in its file.
    fn key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    /// Its file, within a home directory.
    fn file(self, home: &Path, config: &Path) -> Option<PathBuf> {
        let mac = cfg!(target_os = "macos");
        let support = home.join("Library/Application Support");
        Some(match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop if mac => support.join("Claude/claude_desktop_config.json"),
            Self::ClaudeDesktop => config.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode if mac => support.join("Code/User/mcp.json"),
            Self::Vscode => config.join("Code/User/mcp.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Generic => return None,
        })
    }

    fn entry(self, command: &str, arguments: &[String]) -> Value {
        let mut entry = Map::new();
        if self == Self::Vscode {
            entry.insert("type".to_owned(), "stdio".into());
        }
        entry.insert("command".to_owned(), command.into());
        entry.insert("args".to_owned(), arguments.into());
        Value::Object(entry)
    }
}

/// Prints or merges; gives what is to be said.
///
/// # Errors
/// A file that cannot be read, is in another form, or cannot be written: it is as it was then.
pub fn run(
    client: ClientName,
    write: bool,
    file: Option<PathBuf>,
    options: Vec<String>,
) -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::invalid(format!("this program does not know where it lies: {error}"), "")
    })?;
    let Some(command) = own.to_str() else {
        return Err(Failure::invalid("the path of this program is not UTF-8", "install it somewhere else"));
    };
    let arguments: Vec<String> = std::iter::once("--mcp".to_owned()).chain(options).collect();
    if !write {
        return Ok(snippet(client, command, &arguments));
    }
    let place = match file {
        Some(file) => file,
        None => own_file(client)?,
    };
    // Through a link: the file that it points at is changed, and the link stays.
    // A file that is not there yet has no link to follow; another error shows when it is read.
    let place = place.canonicalize().unwrap_or(place);
    merge(client, &place, command, &arguments)
}

fn own_file(client: ClientName) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value: &OsString| Path::new(value).is_absolute());
    let home =
        set("HOME").map(PathBuf::from).ok_or_else(|| Failure::invalid("HOME is not set", "give --file"))?;
    let config = set("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    client.file(&home, &config).ok_or_else(|| {
        Failure::invalid(
            "this client has no file that is known here",
            "give --file, or leave out --write and copy",
        )
    })
}

fn snippet(client: ClientName, command: &str, arguments: &[String]) -> String {
    if client == ClientName::Codex {
        return codex_entry(command, arguments).trim_end().to_owned();
    }
    let whole = json!({ client.key(): { NAME: client.entry(command, arguments) } });
    format!("{whole:#}")
}

fn codex_entry(command: &str, arguments: &[String]) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let arguments: Vec<String> = arguments.iter().map(|argument| text(argument)).collect();
    format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [{}]\n", text(command), arguments.join(", "))
}

fn merge(client: ClientName, place: &Path, command: &str, arguments: &[String]) -> Result<String, Failure> {
    let shown = visible(&place.to_string_lossy(), false).into_owned();
    let before = match fs::read_to_string(place) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(Failure::invalid(format!("{shown} cannot be read: {error}"), "nothing was changed"));
        }
    };
    let old = before.as_deref().unwrap_or_default();
    let after = match client {
        ClientName::Codex => merge_toml(old, command, arguments),
        _ => merge_json(old, client.key(), &client.entry(command, arguments)),
    };
    let after = after.map_err(|why| {
        Failure::invalid(
            format!("{shown} is left as it was: {why}"),
            "leave out --write, and add what is printed by hand",
        )
    })?;
    if before.as_deref() == Some(after.as_str()) {
        return Ok(format!("{shown} has this entry already"));
    }
    let cannot = |error: std::io::Error| {
        Failure::invalid(format!("{shown} cannot be written: {error}"), "it is as it was")
    };
    let backup = match &before {
        Some(text) => Some(keep(place, text).map_err(cannot)?),
        None => None,
    };
    replace(place, &after).map_err(cannot)?;
    let kept = backup.map_or(String::new(), |backup| {
        format!("\nas it was: {}", visible(&backup.to_string_lossy(), false))
    });
    Ok(format!("wrote the entry {NAME} to {shown}{kept}\nrestart the client to use it"))
}

fn merge_json(old: &str, key: &str, entry: &Value) -> Result<String, String> {
    let mut whole: Value = match old.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).map_err(|_| "it is not plain JSON (it may have comments)")?,
    };
    let root = whole.as_object_mut().ok_or("it is no JSON object")?;
    let servers = root.entry(key).or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or_else(|| format!("`{key}` in it is no object"))?;
    match servers.get_mut(NAME).and_then(Value::as_object_mut) {
        // What somebody set beside ours (an environment, a time-out) stays.
        Some(present) => present.extend(entry.as_object().cloned().unwrap_or_default()),
        None => {
            servers.insert(NAME.to_owned(), entry.clone());
        }
    }
    let text = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

fn merge_toml(old: &str, command: &str, arguments: &[String]) -> Result<String, String> {
    let parsed: toml::Table = old.parse().map_err(|_| "it is not TOML")?;
    let entry = codex_entry(command, arguments);
    let present = parsed.get("mcp_servers").and_then(|servers| servers.get(NAME));
    let new = match present {
        None => {
            let gap = if old.is_empty() || old.ends_with("\n\n") {
                ""
            } else if old.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            format!("{old}{gap}{entry}")
        }
        Some(_) => {
            replace_section(old, command, arguments).ok_or("its entry is in a form that is not known here")?
        }
    };
    // Proof that one entry changed and nothing else.
    let mut want = parsed.clone();
    let written: toml::Table = new.parse().map_err(|_| "the entry does not fit into it")?;
    let servers = want.entry("mcp_servers").or_insert_with(|| toml::Table::new().into());
    let servers = servers.as_table_mut().ok_or("`mcp_servers` in it is no table")?;
    let mut wanted = present.and_then(toml::Value::as_table).cloned().unwrap_or_default();
    wanted.insert("command".to_owned(), command.into());
    wanted.insert("args".to_owned(), arguments.to_vec().into());
    servers.insert(NAME.to_owned(), wanted.into());
    if written == want { Ok(new) } else { Err("its entry is in a form that is not known here".to_owned()) }
}

/// The text with command and arguments of the entry's own section replaced.
fn replace_section(old: &str, command: &str, arguments: &[String]) -> Option<String> {
    let header = format!("[mcp_servers.{NAME}]");
    let mut out = String::new();
    let (mut inside, mut found) = (false, false);
    for line in old.split_inclusive('\n') {
        let plain = line.trim();
        if plain == header {
            (inside, found) = (true, true);
            out.push_str(&codex_entry(command, arguments));
            continue;
        }
        if plain.starts_with('[') {
            inside = false;
        }
        let key = plain.split('=').next().unwrap_or_default().trim();
        if !inside || !["command", "args"].contains(&key) {
            out.push_str(line);
        }
    }
    found.then_some(out)
}

/// Keeps the old text beside the file under a name that is free.
fn keep(place: &Path, text: &str) -> std::io::Result<PathBuf> {
    for number in 1..1000 {
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".before-glass-{number}"));
        let backup = place.with_file_name(name);
        match fs::OpenOptions::new().write(true).create_new(true).open(&backup) {
            Ok(mut file) => {
                fs::set_permissions(&backup, fs::metadata(place)?.permissions())?;
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                return Ok(backup);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

/// Writes the file whole or not at all.
fn replace(place: &Path, text: &str) -> std::io::Result<()> {
    let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    match fs::metadata(place) {
        Ok(found) => fs::set_permissions(file.path(), found.permissions())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.as_file().sync_all()?;
    file.persist(place)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    fn arguments() -> Vec<String> {
        vec!["--mcp".to_owned()]
    }

    // contract: 9.8
    #[test]
    fn every_client_gets_an_entry_with_the_absolute_path() {
        for client in ClientName::value_variants() {
            let text = snippet(*client, "/opt/gl\"ass", &arguments());
            let entry = match client {
                ClientName::Codex => {
                    let parsed: toml::Table = text.parse().unwrap();
                    serde_json::to_value(&parsed["mcp_servers"]["glass"]).unwrap()
                }
                _ => serde_json::from_str::<Value>(&text).unwrap()[client.key()]["glass"].clone(),
            };
            assert_eq!(entry["command"], "/opt/gl\"ass", "{client:?}");
            assert_eq!(entry["args"], json!(["--mcp"]), "{client:?}");
        }
    }

    // contract: 9.8
    #[test]
    fn a_merge_keeps_what_is_there_and_the_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("deep/mcp.json");
        merge(ClientName::Cursor, &place, "/opt/glass", &arguments()).unwrap();
        let old = r#"{"b":1,"mcpServers":{"other":{"command":"x"},"glass":{"command":"old","env":{"A":"1"}}},"a":2}"#;
        fs::write(&place, old).unwrap();
        let said = merge(ClientName::Cursor, &place, "/opt/glass", &arguments()).unwrap();
        let text = fs::read_to_string(&place).unwrap();
        let now: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(now["mcpServers"]["other"]["command"], "x");
        assert_eq!(
            now["mcpServers"]["glass"],
            json!({ "command": "/opt/glass", "env": { "A": "1" }, "args": ["--mcp"] })
        );
        assert!(text.find("\"b\"") < text.find("\"a\""), "the order stays: {text}");
        let backup = directory.path().join("deep/mcp.json.before-glass-1");
        assert!(said.contains("before-glass-1"), "{said}");
        assert_eq!(fs::read_to_string(backup).unwrap(), old);
        let again = merge(ClientName::Cursor, &place, "/opt/glass", &arguments()).unwrap();
        assert!(again.contains("already"), "{again}");
    }

    #[test]
    fn what_cannot_be_read_is_left_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        for (client, text) in [
            (ClientName::Vscode, "{ // a comment\n}"),
            (ClientName::Vscode, "[]"),
            (ClientName::Cursor, r#"{"mcpServers":[]}"#),
            (ClientName::Codex, "a = = 1"),
            (ClientName::Codex, "mcp_servers = { glass = { command = \"x\" } }\n"),
        ] {
            let place = directory.path().join("file");
            fs::write(&place, text).unwrap();
            merge(client, &place, "/opt/glass", &arguments()).unwrap_err();
            assert_eq!(fs::read_to_string(&place).unwrap(), text);
        }
    }

    #[test]
    fn a_toml_file_keeps_its_comments_and_its_other_tables() {
        let old = "# mine\nmodel = \"m\" # why\n\n[mcp_servers.glass]\ncommand = \"old\"\nargs = []\nstartup_timeout_sec = 20\n\n\
                   [mcp_servers.glass.env]\nA = \"1\"\n\n[tui]\nx = 1\n";
        let new = merge_toml(old, "/opt/glass", &arguments()).unwrap();
        assert!(
            new.contains("# mine") && new.contains("# why") && new.contains("startup_timeout_sec = 20"),
            "{new}"
        );
        assert!(new.contains("command = \"/opt/glass\"") && !new.contains("old"), "{new}");
        let added = merge_toml("[tui]\nx = 1", "/opt/glass", &arguments()).unwrap();
        assert!(
            added.ends_with("x = 1\n\n[mcp_servers.glass]\ncommand = \"/opt/glass\"\nargs = [\"--mcp\"]\n"),
            "{added}"
        );
    }
}
