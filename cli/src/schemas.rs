//! The published JSON schemas (contract 12.7): parameters and results of operations, call options, and the answer that
//! holds a result or an error.

use glass_proto::op::{AnyOperation, CallOptions, schema, written_schema};
use serde_json::Value;

use crate::output::Envelope;

/// The schema of every answer of `--json`.
pub fn answer() -> Value {
    written_schema::<Envelope<'_>>().to_value()
}

/// The schema of the options that every operation takes.
pub fn options() -> Value {
    schema::<CallOptions>().to_value()
}

/// The schemas of the parameters and of the result of the operation called `name` on the wire.
///
/// # Panics
/// When there is none of that name.
pub fn operation(name: &str) -> (Value, Value) {
    let (params, result) = AnyOperation::schemas(name).expect("each operation has its schemas");
    (params.to_value(), result.to_value())
}
