//! What glassctl knows by itself: `glassctl schema` (contract 12.7).

use glass_proto::op::OPERATIONS;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::KnownCommand;
use crate::error::Failure;
use crate::output::Report;
use crate::schemas;

pub(super) fn run(command: KnownCommand) -> Result<Report, Failure> {
    match command {
        KnownCommand::Schema { operation: None } => pretty(&every_answer()),
        KnownCommand::Schema { operation: Some(name) } => pretty(&one(&name)?),
    }
}

fn every_answer() -> Value {
    let names: Vec<_> = OPERATIONS.iter().map(|facts| facts.name).collect();
    json!({ "answer": schemas::answer(), "operations": names })
}

fn one(name: &str) -> Result<Value, Failure> {
    let same =
        |facts: &&glass_proto::op::Facts| facts.name == name || schemas::command_name(facts.name) == name;
    let facts = OPERATIONS.iter().find(same).ok_or_else(|| {
        Failure::invalid("there is no operation of that name", "`glassctl schema` without a name lists them")
    })?;
    let (params, result) = schemas::operation(facts.name);
    Ok(json!({
        "operation": facts.name,
        "params": params,
        "options": schemas::options(),
        "result": result,
    }))
}

/// An answer that reads for a person as it does for a machine.
fn pretty(value: &impl Serialize) -> Result<Report, Failure> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    Report::of(value, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_found_by_both_its_names_and_another_word_is_refused() {
        let get = |name: &str| one(name).map(|found| found["operation"].clone());
        assert_eq!(get("getText").unwrap(), "getText");
        assert_eq!(get("get-text").unwrap(), "getText");
        assert_eq!(one("fly").unwrap_err().error.kind, glass_proto::ErrorKind::InvalidArgument);
    }
}
