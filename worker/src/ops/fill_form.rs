//! `fillForm`: fields one after the other, each found anew, checked and read back. The first that fails ends it, and the
//! error says which were done (contract 5.3).

use glass_proto::error::OpError;
use glass_proto::op::{FillForm, FormField, Select};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, Evidence, FieldFilled, FormFilled};

use super::begin;
use super::{check, fill, select};
use crate::act::{Before, guard_revision, look, measure};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &FillForm) -> Result<FormFilled, OpError> {
    begin::page(context)?;
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let mut fields: Vec<FieldFilled> = Vec::new();
    // What the fields before changed is not what the caller guards against.
    let each = context.unguarded();
    for field in &params.fields {
        let acted = one(&each, field).await;
        match acted.and_then(filled) {
            Ok(done) => fields.push(done),
            Err(error) => return Err(stopped(context, error, fields)),
        }
    }
    let (evidence, revision) = measure(context, &before, None).await?;
    Ok(FormFilled {
        action: "fillForm".to_owned(),
        target_id: context.target.clone(),
        previous_revision: before.revision,
        revision,
        fields,
        evidence,
    })
}

async fn one(context: &Context, field: &FormField) -> Result<Acted, OpError> {
    let target = &field.target;
    match (&field.text, field.checked, &field.option) {
        (Some(text), ..) => fill::whole(context, "fill", target, text).await,
        (_, Some(wanted), _) => check::set(context, "check", target, wanted).await,
        (.., label) => {
            let choice = Select {
                target: target.clone(),
                value: None,
                label: label.clone(),
                index: None,
                values: None,
            };
            select::run(context, &choice).await
        }
    }
}

fn filled(acted: Acted) -> Result<FieldFilled, OpError> {
    let Evidence { value_matches, already, native_setter, .. } = acted.evidence;
    let target = acted.target.ok_or_else(|| {
        OpError::unknown("transport", "a field was filled and is not known any more", "observe the page")
    })?;
    Ok(FieldFilled { target, value_matches, already, native_setter })
}

/// A field failed: the others before it were done.
fn stopped(context: &Context, error: OpError, done: Vec<FieldFilled>) -> OpError {
    let place = done.len();
    let refs: Vec<String> = done.into_iter().map(|field| field.target.reference).collect();
    let error = error.detail("field", place).detail("done", refs);
    // Nothing of this field was sent, but of those before it.
    if error.outcome == Outcome::Rejected && context.is_dispatched() {
        return error.ended(Outcome::Failed, Dispatched::Yes);
    }
    error
}
