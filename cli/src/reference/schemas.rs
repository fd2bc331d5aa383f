//! `docs/reference/schemas/`: what `glassctl schema` prints, one file for each schema.

use glass_proto::op::OPERATIONS;
use serde_json::Value;

use super::Files;
use crate::schemas;

pub(super) fn files() -> Files {
    let mut files = Files::new();
    let mut add = |name: &str, schema: &Value| {
        let text = serde_json::to_string_pretty(schema).expect("a schema can be written");
        files.insert(format!("docs/reference/schemas/{name}.json").into(), text + "\n");
    };
    add("answer", &schemas::answer());
    add("call-options", &schemas::options());
    for facts in OPERATIONS {
        let (params, result) = schemas::operation(facts.name);
        add(&format!("{}.params", facts.name), &params);
        add(&format!("{}.result", facts.name), &result);
    }
    files
}
