//! `listFrames` and `selectFrame` (contract 7.1), from the model alone.

use glass_proto::error::OpError;
use glass_proto::escape::cut;
use glass_proto::op::{FrameId, SelectFrame};
use glass_proto::result::{FrameRow, Frames, TargetSelected};

use crate::act::frame_of;
use crate::context::{Context, halted};
use crate::execute::no_target;
use crate::page::{Halt, Selection};

pub(super) fn list(context: &Context) -> Result<Frames, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let selected = state.selection(&context.client).filter(|one| one.target == context.target);
    let selected = selected.and_then(|one| one.frame);
    let label = |frame: &str| target.frames.get(frame).map(|frame| FrameId(frame.label).to_string());
    let rows = target.keys().into_iter().filter_map(|key| {
        let frame = target.frames.get(&key.frame)?;
        let ready = match (frame.lifecycle.dom, frame.lifecycle.load) {
            (_, true) => "complete",
            (true, false) => "interactive",
            (false, false) => "loading",
        };
        let parent = frame.parent();
        Some(FrameRow {
            id: FrameId(key.label).to_string(),
            parent: parent.and_then(label),
            url: cut(&frame.url, 4096).into_owned(),
            name: cut(&frame.name, 256).into_owned(),
            ready_state: ready.to_owned(),
            other_process: frame.session() != &target.session,
            silent: frame.is_mute(),
            selected: match &selected {
                Some(chosen) => *chosen == key,
                None => key.label == 0,
            },
        })
    });
    Ok(Frames { target_id: target.id.clone(), frames: rows.collect(), left_out: target.frames_over })
}

pub(super) fn select(context: &Context, params: &SelectFrame) -> Result<TargetSelected, OpError> {
    if context.target.is_empty() {
        return Err(no_target(&context.pages, &context.options));
    }
    let key = frame_of(context, params.id)?;
    let mut state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let url = target.frames.get(&key.frame).map_or("", |frame| frame.url.as_str());
    let selected = TargetSelected {
        action: "selectFrame".to_owned(),
        target_id: target.id.clone(),
        frame_id: (key.label != 0).then(|| FrameId(key.label).to_string()),
        page_url: cut(url, 4096).into_owned(),
        page_title: cut(&target.title, 256).into_owned(),
    };
    // With the main frame chosen, locators look into every frame.
    let frame = (key.label != 0).then_some(key);
    state.select(&context.client, Selection { target: context.target.clone(), frame });
    Ok(selected)
}
