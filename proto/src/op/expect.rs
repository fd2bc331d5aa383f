//! The call option `expect`: what must hold after a mutation, and how long it may take to (contract 2.5).

use std::borrow::Cow;
use std::time::Duration;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{InvalidParams, Predicate};

// No doc comment: clap would take it as the text about every subcommand that flattens this struct.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct Expect {
    /// What must hold afterwards (exit code 4 otherwise): as JSON as verify takes it, or short, such as
    /// visible=LOCATOR, text-contains=TEXT, url-matches=GLOB or dialog-open. Several must all hold
    #[arg(id = "expect", long = "expect", value_name = "PREDICATE")]
    pub predicates: Vec<Predicate>,
    /// How long that may take to come true, in milliseconds beside the deadline (1 to 300000, otherwise 5000)
    #[arg(id = "expect_timeout_ms", long = "expect-timeout-ms", value_name = "MS", requires = "expect", value_parser = clap::value_parser!(u64).range(1..=300_000))]
    pub timeout_ms: Option<u64>,
}

impl Expect {
    /// How long it may take when the call does not say.
    pub const TIMEOUT_MS: u64 = 5000;

    /// Whether nothing is expected.
    pub fn is_none(&self) -> bool {
        self.predicates.is_empty() && self.timeout_ms.is_none()
    }

    /// What must hold: one predicate.
    pub fn whole(&self) -> Option<Cow<'_, Predicate>> {
        match self.predicates.as_slice() {
            [] => None,
            [one] => Some(Cow::Borrowed(one)),
            several => Some(Cow::Owned(Predicate::All(several.to_vec()))),
        }
    }

    /// How long that may take to come true; zero where nothing is expected.
    pub fn time(&self) -> Duration {
        match self.predicates.is_empty() {
            true => Duration::ZERO,
            false => Duration::from_millis(self.timeout_ms.unwrap_or(Self::TIMEOUT_MS)),
        }
    }

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Which bound is not kept, never the value.
    pub fn check(&self) -> Result<(), InvalidParams> {
        if self.timeout_ms.is_some_and(|ms| !(1..=super::MAX_TIMEOUT_MS).contains(&ms)) {
            return Err(InvalidParams(format!("timeoutMs of expect is 1 to {}", super::MAX_TIMEOUT_MS)));
        }
        match self.whole() {
            Some(predicate) => predicate.check(),
            None if self.timeout_ms.is_some() => Err(InvalidParams("expect names no predicate".to_owned())),
            None => Ok(()),
        }
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = match self.whole() {
            Some(predicate) => serde_json::to_value(predicate).map_err(S::Error::custom)?,
            None => json!({}),
        };
        if let Some(ms) = self.timeout_ms {
            object["timeoutMs"] = ms.into();
        }
        object.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut object = match Value::deserialize(from)? {
            Value::Object(object) => object,
            // The short form of the command line.
            Value::String(text) => {
                let predicate = text.parse().map_err(D::Error::custom)?;
                return Ok(Self { predicates: vec![predicate], timeout_ms: None });
            }
            _ => return Err(D::Error::custom("expect is an object with one predicate")),
        };
        let timeout_ms = object.remove("timeoutMs").map(serde_json::from_value::<u64>).transpose();
        let timeout_ms = timeout_ms.map_err(|_| D::Error::custom("timeoutMs of expect is a whole number"))?;
        // The form of `verify`'s own parameters.
        let predicate = match object.remove("predicate") {
            Some(inner) if object.is_empty() => inner,
            Some(_) => return Err(D::Error::custom("expect has one predicate")),
            None => Value::Object(object),
        };
        let predicate = serde_json::from_value(predicate)
            .map_err(|error| D::Error::custom(super::codec::shape_text(&error)))?;
        Ok(Self { predicates: vec![predicate], timeout_ms })
    }
}

impl JsonSchema for Expect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Predicate::json_schema(generator);
        for bound in ["minProperties", "maxProperties"] {
            schema.remove(bound);
        }
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| Map::new().into());
        properties["timeoutMs"] = json!({
            "description": "How long it may take to come true, beside the deadline (5000)",
            "type": "integer", "minimum": 1, "maximum": super::MAX_TIMEOUT_MS,
        });
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_predicate_with_a_time_of_its_own() {
        for (text, whole, ms) in [
            (r#"{"dialogOpen":true}"#, r#"{"dialogOpen":true}"#, 5000),
            (r#"{"dialogOpen":true,"timeoutMs":7}"#, r#"{"dialogOpen":true,"timeoutMs":7}"#, 7),
            (r#"{"predicate":{"targetCount":1},"timeoutMs":7}"#, r#"{"targetCount":1,"timeoutMs":7}"#, 7),
            (r#""target-count=2""#, r#"{"targetCount":2}"#, 5000),
        ] {
            let expect: Expect = serde_json::from_str(text).unwrap();
            expect.check().unwrap();
            assert_eq!(serde_json::to_string(&expect).unwrap(), whole);
            assert_eq!(expect.time(), Duration::from_millis(ms));
        }
        for wrong in [
            r#"{"dialogOpen":true,"targetCount":1}"#,
            r#"{"predicate":{"dialogOpen":true},"targetCount":1}"#,
            r#"{"timeoutMs":5}"#,
            "5",
            r#"{"fly":"hunter2"}"#,
            r#"{"visible":"hunter2=x"}"#,
            r#"{"dialogOpen":"hunter2"}"#,
            r#"{"dialogOpen":true,"timeoutMs":"hunter2"}"#,
        ] {
            let error = serde_json::from_str::<Expect>(wrong).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let never = serde_json::from_str::<Expect>(r#"{"dialogOpen":true,"timeoutMs":0}"#).unwrap();
        assert!(never.check().is_err());
        assert!(Expect::default().is_none() && Expect::default().time().is_zero());
    }

    #[test]
    fn several_must_all_hold() {
        let both = Expect { predicates: vec![Predicate::TargetCount(1); 2], timeout_ms: None };
        assert!(matches!(both.whole().as_deref(), Some(Predicate::All(parts)) if parts.len() == 2));
        let many = Expect { predicates: vec![Predicate::TargetCount(1); 9], timeout_ms: None };
        assert!(many.check().is_err());
    }
}
