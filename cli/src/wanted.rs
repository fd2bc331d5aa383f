//! What the command line wants of the session itself (contract 12.1, 10.8). A secret comes from a file: arguments stand in
//! every list of processes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use glass_proto::attach::Attach;
use glass_proto::session::{HttpCredentials, SessionOptions};

use crate::args::Wanted;
use crate::error::Failure;

/// Most bytes of a file of credentials.
const MAX: u64 = 256 * 1024;

/// Reads them. Blocks on files.
///
/// # Errors
/// `invalid_argument`: never with what a file holds.
pub(crate) fn read(wanted: &Wanted) -> Result<SessionOptions, Failure> {
    let http_credentials = wanted.http_credentials.as_deref().map(credentials).transpose()?;
    let attach = wanted.attach.clone();
    let attach = attach.map(|endpoint| Attach { endpoint, target_id: wanted.attach_target.clone() });
    let options = SessionOptions {
        http_credentials,
        ignore_certificate_errors: wanted.ignore_certificate_errors,
        permissions: Some(wanted.permissions.clone()).filter(|all| !all.is_empty()),
        attach,
    };
    options.check().map_err(|error| Failure::invalid(error.to_string(), "mend it, or leave it out"))?;
    Ok(options)
}

fn credentials(path: &Path) -> Result<Vec<HttpCredentials>, Failure> {
    let cannot = |error: io::Error| {
        Failure::invalid(
            format!("the file of --http-credentials cannot be read: {}", error.kind()),
            "give a file that can be read",
        )
    };
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(MAX + 1).read_to_end(&mut text)).map_err(cannot)?;
    parsed(&text)
}

fn parsed(text: &[u8]) -> Result<Vec<HttpCredentials>, Failure> {
    let form = r#"write [{"origin": "https://example.com", "username": "...", "password": "..."}]"#;
    if text.len() as u64 > MAX {
        return Err(Failure::invalid("the file of --http-credentials is larger than 256 KiB", form));
    }
    // The error of the JSON itself could hold a secret of it.
    serde_json::from_slice(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Failure::invalid(
            format!("the file of --http-credentials is no list of credentials, from line {line} column {column} on"),
            form,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_form_is_refused_without_its_content() {
        assert_eq!(parsed(br#"[{"origin":"https://x","username":"a","password":"b"}]"#).unwrap().len(), 1);
        for bad in [
            &b"very-secret"[..],
            br#"[{"origin":"https://x","password":"very-secret"}]"#,
            br#"{"very-secret":1}"#,
        ] {
            let error = parsed(bad).unwrap_err().error;
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }
}
