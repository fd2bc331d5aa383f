//! `docs/reference/configuration.md`: the daemon's embedded defaults, which are complete and commented.

use std::path::PathBuf;

pub(super) fn file() -> (PathBuf, String) {
    let defaults = super::text("daemon/src/config/default.toml");
    let page = format!("{}{HEAD}\n```toml\n{}\n```\n", super::MARK, defaults.trim());
    ("docs/reference/configuration.md".into(), page)
}

const HEAD: &str = "# Configuration

`glassd` reads `$XDG_CONFIG_HOME/glass/config.toml` when it starts. A file that cannot be read as meant stops the start
with its line and column: no setting is guessed or skipped. `GLASS_LOG` goes before `log.level`.

`glassctl config show` lists the settings with where each comes from, `glassctl config check [FILE]` finds mistakes, and
[configuration.schema.json](configuration.schema.json), which `glassctl config schema` prints too, is for editors.

Every setting with its default:
";
