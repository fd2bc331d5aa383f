//! Tells of the configuration without starting anything: the settings in force, a mistake, and the schema.

use std::path::Path;

use glass_proto::configuration::{Setting, Settings, Source};
use glass_proto::session::HttpCredentials;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use toml::Table;

use super::read::{Config, DEFAULTS, File};

/// The settings that `file` and `log`, the value of `GLASS_LOG`, come to.
pub fn settings(file: &Path, log: Option<String>, home: Option<&Path>) -> Settings {
    let empty = |mistake| Settings {
        path: file.display().to_string(),
        exists: file.exists(),
        settings: Vec::new(),
        mistake,
    };
    let config = match Config::load(file, log.clone(), home) {
        Ok(config) => config,
        Err(error) => return empty(Some(error.to_string())),
    };
    // It was read a moment ago; a file that has gone since is an absent one.
    let own: Table =
        std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut settings = Vec::new();
    each(&defaults(), |section, name, value| {
        let given = own.get(section).and_then(|section| section.get(name));
        let (value, from) = match given {
            // A hash is something to try secrets on.
            Some(_) if (section, name) == ("confirm", "secret") => (json!("(set)"), Source::File),
            Some(value) => (json!(value), Source::File),
            None => (json!(value), Source::Default),
        };
        settings.push(Setting { key: format!("{section}.{name}"), value, from });
    });
    // For whom they are, and nothing else of them.
    let origins: Vec<_> = config.http_credentials.iter().filter_map(HttpCredentials::origin).collect();
    if !origins.is_empty() {
        settings.push(Setting {
            key: "http_credentials".to_owned(),
            value: json!(origins),
            from: Source::File,
        });
    }
    if log.is_some_and(|log| !log.is_empty())
        && let Some(level) = settings.iter_mut().find(|setting| setting.key == "log.level")
    {
        level.value = config.log_text.into();
        level.from = Source::Environment;
    }
    Settings { settings, ..empty(None) }
}

/// The JSON schema of the configuration file: shape and bounds of the types, words and defaults of the embedded file.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = generator.into_generator().into_root_schema_for::<File>().to_value();
    schema["title"] = "Configuration of glassd".into();
    each(&defaults(), |section, name, value| {
        let field = &mut schema["properties"][section]["properties"][name];
        // TOML has no null: what may be left out is left out.
        if let Some(kinds) = field["type"].as_array() {
            field["type"] = kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
        }
        field["default"] = json!(value);
        field["description"] = about(section, name).into();
    });
    for section in schema["properties"].as_object_mut().into_iter().flat_map(|sections| sections.values_mut())
    {
        if let Some(section) = section.as_object_mut() {
            section.remove("default");
        }
    }
    schema
}

fn defaults() -> Table {
    DEFAULTS.parse().expect("the embedded defaults are valid")
}

fn each(table: &Table, mut tell: impl FnMut(&str, &str, &toml::Value)) {
    for (section, settings) in table {
        for (name, value) in settings.as_table().into_iter().flatten() {
            tell(section, name, value);
        }
    }
}

/// The comment above a setting.
fn about(section: &str, name: &str) -> String {
    let within = DEFAULTS.split(&format!("[{section}]\n")).nth(1).unwrap_or_default();
    let mut comment = Vec::new();
    for line in within.lines() {
        match line.strip_prefix('#') {
            Some(text) => comment.push(text.trim()),
            None if line.split('=').next().is_some_and(|word| word.trim() == name) => break,
            None => comment.clear(),
        }
    }
    comment.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = "../docs/reference/configuration.schema.json";

    #[test]
    fn generated_schema_of_the_configuration_is_current() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(PLACE);
        let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::fs::read_to_string(&place).ok().as_ref() != Some(&fresh) {
            std::fs::write(&place, fresh).unwrap();
            panic!("error: a stale generated file was written anew; commit it: {PLACE}");
        }
    }

    #[test]
    fn every_setting_is_described_with_its_type_and_default() {
        let schema = schema();
        each(&defaults(), |section, name, value| {
            let field = &schema["properties"][section]["properties"][name];
            assert!(field["type"].is_string(), "{section}.{name}: {field}");
            assert_eq!(field["default"], json!(value), "{section}.{name}");
            assert!(field["description"].as_str().is_some_and(|text| text.len() > 10), "{section}.{name}");
        });
        assert_eq!(schema["properties"]["sessions"]["properties"]["max"]["maximum"], 64);
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn where_each_setting_comes_from_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.toml");
        let from = |told: &Settings, key: &str| {
            told.settings
                .iter()
                .find(|setting| setting.key == key)
                .map(|found| (found.from, found.value.clone()))
        };
        let absent = settings(&file, None, None);
        assert!(!absent.exists && absent.mistake.is_none());
        assert_eq!(from(&absent, "sessions.max"), Some((Source::Default, json!(16))));
        std::fs::write(&file, "[sessions]\nmax = 3\n").unwrap();
        let told = settings(&file, Some("debug".into()), None);
        assert_eq!(from(&told, "sessions.max"), Some((Source::File, json!(3))));
        assert_eq!(from(&told, "log.level"), Some((Source::Environment, json!("debug"))));
        let secret =
            "[[http_credentials]]\norigin = \"https://a/\"\nusername = \"ann\"\npassword = \"very-secret\"\n";
        std::fs::write(&file, secret).unwrap();
        let mistake = settings(&file, None, None).mistake.unwrap();
        assert!(mistake.contains("chmod 600") && !mistake.contains("secret"), "{mistake}");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let told = settings(&file, None, None);
        assert_eq!(from(&told, "http_credentials"), Some((Source::File, json!(["https://a"]))));
        assert!(!format!("{told:?}").contains("very-secret") && !format!("{told:?}").contains("\"ann"));
        std::fs::write(&file, "[sessions]\nmax = 0\n").unwrap();
        let wrong = settings(&file, None, None);
        assert!(wrong.settings.is_empty());
        assert!(wrong.mistake.is_some_and(|mistake| mistake.contains("config.toml:2:7")));
    }
}
