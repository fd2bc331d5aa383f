//! `inspect`: one element in full, hidden ones too.

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Inspect;
use glass_proto::result::{Element, Inspected};
use serde_json::{Value, json};

use super::begin;
use crate::act::{find_attached, page_line};
use crate::context::Context;
use crate::page::{EngineError, FrameKey, Step, reference};

pub(super) async fn run(context: &Context, params: &Inspect) -> Result<Inspected, OpError> {
    begin::page(context)?;
    let (found, looked) = find_attached(context, &params.target).await?;
    let fault = |error| context.engine(&error, Phase::Preflight);
    let mut args = json!({ "ref": found.node });
    if let Some(seq) = found.as_of {
        args["asOf"] = seq.into();
    }
    let mut call = context.pages.run(&found.key, vec![Step("inspect", args)]).await.map_err(fault)?;
    let element = element(&found.key, call.take().map_err(fault)?).map_err(fault)?;
    let page = page_line(context, looked.changes.revision).await.map_err(fault)?;
    let frame = (found.key.label != 0).then(|| format!("f{}", found.key.label));
    let mut inspected = Inspected { page, reference: found.reference(), frame, element, left_out: 0 };
    bound(&mut inspected);
    Ok(inspected)
}

/// The engine's answer, with refs as clients see them in place of the numbers of its document.
fn element(key: &FrameKey, mut answer: Value) -> Result<Element, EngineError> {
    let relations = answer.get_mut("relations").and_then(Value::as_array_mut);
    for relation in relations.into_iter().flatten() {
        let node = relation.get("ref").and_then(Value::as_u64).and_then(|node| u32::try_from(node).ok());
        if let Some(node) = node {
            relation["ref"] = reference(key, node).into();
        }
    }
    Ok(serde_json::from_value(answer)?)
}

/// Leaves out options, then relations, then attributes from their ends, until the answer is within its bound.
fn bound(inspected: &mut Inspected) {
    let chars =
        |inspected: &Inspected| serde_json::to_string(inspected).map_or(0, |text| text.chars().count());
    let total = inspected.element.options_total.unwrap_or(0);
    let shown = inspected.element.options.len() as u64;
    inspected.left_out = total.saturating_sub(shown);
    while chars(inspected) > Inspect::MAX_CHARS {
        let element = &mut inspected.element;
        let cut = element.options.pop().is_some()
            || element.relations.pop().is_some()
            || element.attributes.pop().is_some();
        if !cut {
            return;
        }
        inspected.left_out += 1;
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::result::{Attribute, PageLine};

    use super::*;

    #[test]
    fn a_large_element_is_cut_and_what_is_left_out_is_counted() {
        let long = Attribute { name: "x".repeat(200), value: Some("y".repeat(200)), length: None };
        let element = Element { attributes: vec![long; 64], ..Element::default() };
        let page = PageLine::default();
        let mut inspected = Inspected { page, reference: "e1".into(), frame: None, element, left_out: 0 };
        bound(&mut inspected);
        assert!(serde_json::to_string(&inspected).unwrap().chars().count() <= Inspect::MAX_CHARS);
        assert_eq!(inspected.left_out + inspected.element.attributes.len() as u64, 64);
        assert!(inspected.left_out > 0);
    }
}
