use serde_json::Value;

use super::*;

fn all() -> Vec<Tool> {
    Tools::new(&Listed::All, true).listed().to_vec()
}

// contract: 9.5
#[test]
fn what_a_tool_promises_to_answer_is_a_plain_object_too() {
    let promised: Vec<Tool> = all().into_iter().filter(|tool| tool.output_schema.is_some()).collect();
    let names: Vec<&str> = promised.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["health", "listSessions", "closeSession", "executionStatus", "cancelExecution"]);
    for tool in promised {
        let root = Value::Object((*tool.output_schema.unwrap()).clone());
        assert_eq!(root["type"], "object", "{}", tool.name);
        plain(&root, &tool.name);
    }
}

/// Every schema within this one, with the way to it.
fn walk(schema: &Value, way: &str, look: &mut dyn FnMut(&Value, &str)) {
    look(schema, way);
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(property, &format!("{way}.{name}"), look);
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{way}[]"), look);
    }
}

/// Asserts that every known client takes this schema.
fn plain(root: &Value, name: &str) {
    walk(root, name, &mut |schema, way| {
        let object = schema.as_object().unwrap_or_else(|| panic!("{way} is a boolean schema"));
        for word in
            ["$schema", "$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "format", "const", "title"]
        {
            assert!(!object.contains_key(word), "{way} has {word}");
        }
        let kind = object.get("type").and_then(Value::as_str);
        assert!(kind.is_some(), "{way} has no single type: {schema}");
        if kind == Some("array") {
            assert!(object.contains_key("items"), "{way} is an array of anything");
        }
        if let Some(text) = object.get("description").and_then(Value::as_str) {
            assert!(text.chars().count() <= 120, "{way}: {text}");
            assert!(!text.contains("--") && !text.contains("glassctl"), "{way} speaks of the shell: {text}");
        }
    });
}

// contract: 9.5 report: 80
#[test]
fn every_schema_is_one_that_every_known_client_takes() {
    for tool in all() {
        let root = tool.schema_as_json_value();
        assert_eq!(root["type"], "object", "{}", tool.name);
        assert!(root["properties"].is_object(), "{}", tool.name);
        plain(&root, &tool.name);
        let properties = root["properties"].as_object().unwrap();
        for name in root["required"].as_array().into_iter().flatten() {
            assert!(properties.contains_key(name.as_str().unwrap()), "{} requires {name}", tool.name);
        }
    }
}

// contract: 9.5 report: 80
#[test]
fn names_titles_and_descriptions_stay_within_what_clients_take() {
    let mut lengths = Vec::new();
    for tool in all() {
        let plain = tool.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        assert!(plain && tool.name.len() <= 40, "{}", tool.name);
        assert!(tool.title.as_ref().is_some_and(|title| !title.is_empty()), "{}", tool.name);
        let length = tool.description.as_ref().map_or(0, |text| text.chars().count());
        assert!((10..=600).contains(&length), "{}: {length}", tool.name);
        lengths.push(length);
    }
    lengths.sort_unstable();
    assert!(lengths[lengths.len() / 2] <= 200, "{lengths:?}");
}

// contract: 9.5
#[test]
fn a_tool_is_described_by_what_its_operation_does() {
    use clap::Subcommand as _;
    let help = clap::Command::new("x").disable_help_subcommand(true);
    let mut help = glass_proto::op::OperationCommand::augment_subcommands(help);
    help.build();
    let tools = all();
    for (facts, command) in OPERATIONS.iter().zip(help.get_subcommands()) {
        // Some are listed under no set.
        let Some(tool) = tools.iter().find(|tool| tool.name == facts.name) else { continue };
        let about = command.get_about().unwrap().to_string();
        let first = about.split([' ', ',']).next().unwrap();
        assert!(
            tool.description.as_ref().unwrap().starts_with(first),
            "{}: {:?}",
            facts.name,
            tool.description
        );
    }
}

// contract: 9.5
#[test]
fn the_core_stays_within_its_budget() {
    let tools = Tools::new(&Listed::default(), false);
    let bytes = serde_json::to_string(tools.listed()).unwrap().len();
    assert!(tools.listed().len() <= 24, "{} tools", tools.listed().len());
    assert!(bytes <= 20 * 1024, "{bytes} bytes");
}

// contract: 9.5
#[test]
fn annotations_are_true_to_what_the_operation_does() {
    for tool in all() {
        let Some(facts) = OPERATIONS.iter().find(|facts| facts.name == tool.name) else {
            assert!(own::has(&tool.name), "{}", tool.name);
            continue;
        };
        let annotations = tool.annotations.unwrap();
        let reads = facts.effect == Effect::Read;
        assert_eq!(annotations.read_only_hint, Some(reads), "{}", tool.name);
        if reads {
            assert_eq!(annotations.destructive_hint, Some(false), "{}", tool.name);
        }
        for hint in [annotations.destructive_hint, annotations.idempotent_hint, annotations.open_world_hint] {
            assert!(hint.is_some(), "{} leaves a hint out", tool.name);
        }
        if ["navigate", "click", "evaluate", "submit", "upload", "batch", "closeTarget"].contains(&facts.name)
        {
            assert_eq!(annotations.destructive_hint, Some(true), "{}", tool.name);
        }
    }
}

#[test]
fn sets_are_listed_by_name_and_everything_can_be_called() {
    assert_eq!("core,files".parse::<Listed>().unwrap().to_string(), "core,files");
    assert!("core,nothing".parse::<Listed>().is_err());
    let core = Tools::new(&Listed::default(), false);
    for facts in OPERATIONS {
        assert!(core.get(facts.name).is_some(), "{}", facts.name);
    }
    let seed = Tools::new(&Listed::Seed, false);
    assert!(seed.listed().iter().all(|tool| table::in_seed(&tool.name)));
    assert_eq!(core.nearest("clik"), Some("click"));
    assert_eq!(core.nearest("zzz"), None);
}

#[test]
fn the_list_is_the_same_every_time() {
    let text = |tools: &Tools| serde_json::to_string(tools.listed()).unwrap();
    assert_eq!(text(&Tools::new(&Listed::All, false)), text(&Tools::new(&Listed::All, false)));
}
