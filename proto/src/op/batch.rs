//! `batch`: several operations, one after the other (contract 6).

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AnyOperation, CallOptions, Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, TextInput,
    seconds,
};
use crate::result::Batched;
use crate::secret::SecretName;

/// Do several operations one after the other
///
/// The file has a command on each line, as glassctl takes it, or a JSON list of steps: [{"operation": "click",
/// "target": "Save"}, …]. Files that steps read and write lie where those of the commands do. The first step that does not
/// complete ends it; the answer has what came of each, and what was not run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Args)]
#[serde(from = "Given", into = "Given")]
pub struct Batch {
    /// The file with the steps; `-` reads standard input
    #[arg(value_name = "FILE|-", required = true)]
    pub file: Option<PathBuf>,
    /// What the file held, until it is read into steps.
    #[arg(skip)]
    pub text: String,
    /// 1 to 32 steps.
    #[arg(skip)]
    pub steps: Vec<Step>,
    /// Which revision the steps require
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,
    /// Find every element before the first step runs
    #[arg(long)]
    pub atomic: bool,
    /// Begin no step after so many milliseconds (1 to 120000, otherwise 60000)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=120_000))]
    pub budget_ms: Option<u32>,
}

/// One operation of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Its name
    pub operation: String,
    /// What it takes, the options of its call too.
    #[serde(flatten)]
    pub arguments: Map<String, Value>,
}

/// Which revision the guarded steps of a batch require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// None
    #[default]
    Unguarded,
    /// All of them the expected revision
    Fixed,
    /// The first the expected revision, each later one that of the step before it
    Chain,
}

/// Do several operations one after the other
///
/// A step has its operation and what that takes: {"operation": "click", "target": "Save"}. The first one that does not
/// complete ends it; the answer has what came of each.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Given {
    /// 1 to 32 operations, each with what it takes beside its name
    #[schemars(length(min = 1, max = 32))]
    steps: Vec<Step>,
    /// Which revision the steps require
    #[serde(default)]
    mode: Mode,
    /// Find every element before the first step runs
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    atomic: bool,
    /// Begin no step after so many milliseconds (60000)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 120_000))]
    budget_ms: Option<u32>,
}

impl From<Batch> for Given {
    fn from(batch: Batch) -> Self {
        let Batch { steps, mode, atomic, budget_ms, .. } = batch;
        Self { steps, mode, atomic, budget_ms }
    }
}

impl From<Given> for Batch {
    fn from(given: Given) -> Self {
        let Given { steps, mode, atomic, budget_ms } = given;
        Self { steps, mode, atomic, budget_ms, ..Self::default() }
    }
}

impl JsonSchema for Batch {
    fn schema_name() -> Cow<'static, str> {
        "Batch".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Given::json_schema(generator)
    }
}

/// The names of the options that every call takes. No operation has a parameter of such a name.
static SHARED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema = super::codec::schema::<CallOptions>();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
});

/// An `action` names the operation where nothing else does; beside `operation` it is a parameter, such as that of
/// `clipboard`.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut arguments: Map<String, Value> = Map::deserialize(from)?;
        let named = arguments.remove("operation").or_else(|| arguments.remove("action"));
        match named.ok_or_else(|| D::Error::missing_field("operation"))? {
            Value::String(operation) => Ok(Self { operation, arguments }),
            _ => Err(D::Error::custom("the operation of a step is a text")),
        }
    }
}

impl Step {
    /// A step that is this operation.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn of(operation: &AnyOperation, options: &CallOptions) -> serde_json::Result<Self> {
        let mut arguments: Map<String, Value> = serde_json::from_slice(&operation.encode()?)?;
        arguments.extend(serde_json::from_slice::<Map<String, Value>>(&options.encode()?)?);
        Ok(Self { operation: operation.name().to_owned(), arguments })
    }

    /// The operation's name on the wire, whichever way it was given; what is no operation as it was given.
    pub fn name(&self) -> &str {
        Facts::of(&self.operation).map_or(&self.operation, |facts| facts.name)
    }

    /// The operation and the options of its call.
    ///
    /// # Errors
    /// What is wrong with them; never a value.
    pub fn decode(&self) -> Result<(AnyOperation, CallOptions), InvalidParams> {
        let name = self.name();
        let (options, params): (Map<_, _>, Map<_, _>) =
            self.arguments.clone().into_iter().partition(|(key, _)| SHARED.contains(key));
        let invalid = |error: super::DecodeError| InvalidParams(error.to_string());
        let operation = AnyOperation::decode(name, Value::Object(params).to_string().as_bytes());
        let operation = operation.map_err(invalid)?;
        let options = CallOptions::decode(Value::Object(options).to_string().as_bytes()).map_err(invalid)?;
        operation.check_options(&options).map_err(|error| InvalidParams(error.to_string()))?;
        match &operation {
            AnyOperation::Batch(_) => return Err(InvalidParams("a batch holds no batch".to_owned())),
            AnyOperation::CaptureSecrets(_)
            | AnyOperation::ListSecrets(_)
            | AnyOperation::DeleteSecrets(_) => {
                return Err(InvalidParams(format!("{name} is about the vault, and no step of a batch is")));
            }
            _ => {}
        }
        Ok((operation, options))
    }
}

impl Batch {
    /// Most steps (contract 6).
    pub const MAX_STEPS: usize = 32;
    /// Most bytes of the files of its answer that are held, those of pictures, pages and scripts.
    pub const MAX_FILES: usize = 64 * 1024 * 1024;
    /// Time after which no step begins, when the call does not say.
    pub const BUDGET_MS: u32 = 60_000;

    /// Time after which no step begins.
    pub fn budget(&self) -> Duration {
        Duration::from_millis(self.budget_ms.unwrap_or(Self::BUDGET_MS).into())
    }

    /// Each step with its number from 1.
    ///
    /// # Errors
    /// The first step that is wrong, by its number.
    pub fn decoded(&self) -> Result<Vec<(AnyOperation, CallOptions)>, InvalidParams> {
        let numbered = (1..).zip(&self.steps);
        let decoded = numbered.map(|(number, step)| {
            step.decode().map_err(|error: InvalidParams| InvalidParams(format!("step {number}: {error}")))
        });
        decoded.collect()
    }
}

impl Operation for Batch {
    const FACTS: Facts = Facts {
        name: "batch",
        // What its steps need is asked for each of them.
        capability: Capability::Read,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::StartsSession,
        timeout: seconds(60),
        guarded: true,
        targeted: true,
        framed: false,
    };
    type Output = Batched;

    fn timeout(&self) -> Duration {
        Self::FACTS.timeout.max(self.budget())
    }

    fn needs(&self) -> Needs {
        // It begins on what its first step can begin on; what is wrong with that `check` says.
        let first = self.steps.first().and_then(|step| step.decode().ok());
        first.map_or(Needs::OpenPage, |(operation, _)| operation.needs())
    }

    fn secrets(&self) -> Vec<SecretName> {
        let steps = self.steps.iter().filter_map(|step| step.decode().ok());
        steps.flat_map(|(operation, _)| operation.secrets()).collect()
    }

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        if self.file.as_ref().is_some_and(|file| file.as_os_str() == "-") {
            self.file = None;
            "-".clone_into(&mut self.text);
        }
        Some(TextInput { text: &mut self.text, file: &mut self.file })
    }

    fn check(&self) -> Result<(), InvalidParams> {
        if !(1..=Self::MAX_STEPS).contains(&self.steps.len()) {
            let (most, given) = (Self::MAX_STEPS, self.steps.len());
            return Err(InvalidParams(format!("a batch has 1 to {most} steps, not {given}")));
        }
        super::in_range("budgetMs", self.budget_ms.unwrap_or(Self::BUDGET_MS), 1..=120_000)?;
        self.decoded().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(steps: &str) -> Result<Batch, String> {
        let json = format!("{{\"steps\":{steps}}}");
        let batch: Batch = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        batch.check().map_err(|error| error.to_string())?;
        Ok(batch)
    }

    #[test]
    fn steps_are_operations_with_their_options() {
        let batch =
            batch(r#"[{"operation":"click","target":"Save","timeoutMs":5},{"action":"get-text"}]"#).unwrap();
        let json = serde_json::to_string(&batch).unwrap();
        let again: Batch = serde_json::from_str(&json).unwrap();
        let steps = again.decoded().unwrap();
        assert_eq!((steps[0].0.name(), steps[0].1.timeout_ms), ("click", Some(5)));
        assert_eq!(steps[1].0.name(), "getText");
        let own = self::batch(
            r#"[{"operation":"clipboard","action":"read"},{"operation":"cookies","action":"get"}]"#,
        );
        assert_eq!(own.unwrap().decoded().unwrap().len(), 2);
        let same = Step::of(&steps[0].0, &steps[0].1).unwrap();
        assert_eq!(same.decode().unwrap(), steps[0].clone());
        assert_eq!(again.needs(), Needs::OpenPage);
    }

    #[test]
    fn what_a_step_takes_is_an_option_of_its_call_or_a_parameter_and_never_both() {
        assert!(SHARED.iter().any(|name| name == "timeoutMs") && SHARED.iter().any(|name| name == "expect"));
        for facts in super::super::OPERATIONS {
            let (params, _) = AnyOperation::schemas(facts.name).unwrap();
            let own = params.get("properties").and_then(Value::as_object);
            for name in own.into_iter().flat_map(Map::keys) {
                assert!(!SHARED.contains(name), "{} has a parameter {name}", facts.name);
            }
            // Both of its names are the same step.
            for name in [facts.name.to_owned(), facts.command()] {
                let step = Step { operation: name, arguments: Map::new() };
                assert_eq!(step.name(), facts.name);
            }
        }
    }

    #[test]
    fn it_begins_a_session_where_its_first_step_does() {
        let begins = batch(r#"[{"operation":"navigate","url":"http://x/"},{"operation":"back"}]"#).unwrap();
        assert_eq!(begins.needs(), Needs::StartsSession);
        let longer = Batch { budget_ms: Some(90_000), ..begins };
        assert_eq!(longer.timeout(), Duration::from_secs(90));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_step_and_without_values() {
        let many = format!("[{}]", [r#"{"operation":"back"}"#; 33].join(","));
        for (steps, part) in [
            ("[]", "1 to 32"),
            (&many, "1 to 32"),
            (r#"[{"target":"x"}]"#, "operation"),
            (r#"[{"operation":"fly"}]"#, "step 1"),
            (r#"[{"operation":"back"},{"operation":"click","target":"hunter2=x"}]"#, "step 2"),
            (r#"[{"operation":"batch","steps":[]}]"#, "step 1"),
            (r#"[{"operation":"evaluate","expression":"1","scope":"css=p"}]"#, "scope"),
        ] {
            let error = batch(steps).unwrap_err();
            assert!(error.contains(part) && !error.contains("hunter2"), "{steps}: {error}");
        }
    }
}
