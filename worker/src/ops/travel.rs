//! The pointer's way to where it acts, where `interaction` is `human` (contract 5.2). Nothing is pressed on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Interaction;

use crate::cdp::types::input::{DispatchMouseEvent, MouseEventType};
use crate::context::{Context, halted};
use crate::input::way;
use crate::page::{EngineError, Halt};

/// Numbers the ways of this worker, so that no two are alike.
static WAYS: AtomicU64 = AtomicU64::new(0);

/// Whether the pointer goes as a hand moves it.
pub(super) fn wanted(context: &Context) -> bool {
    context.options.interaction == Some(Interaction::Human)
}

/// Moves the pointer along a curve to a point and lets it rest there. Takes no more than a third of the time that is left.
///
/// # Errors
/// When the page is closed or the browser refuses.
pub(super) async fn travel(context: &Context, to: (f64, f64)) -> Result<(), OpError> {
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let until = Instant::now() + context.left() / 3;
    let (from, modifiers) = {
        let mut state = context.pages.state();
        (state.pointer(&session), state.device(&context.target).map_or(0, |device| device.bits()))
    };
    let way = way(from, to, WAYS.fetch_add(1, Ordering::Relaxed).wrapping_mul(7919));
    context.dispatching().await;
    for (x, y) in way.points {
        let event = DispatchMouseEvent {
            modifiers: Some(modifiers),
            ..DispatchMouseEvent::new(MouseEventType::MouseMoved, x, y)
        };
        let sent = context.pages.client().start_send(Some(&session), event);
        context.pages.state().note_pointer(&session, (x, y));
        match context.pages.or_halt(&context.target, sent).await {
            Ok(_) => {}
            // A page that opened a dialog on the way: what comes next says so.
            Err(EngineError::Halted(_) | EngineError::Gone) => return Ok(()),
            Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
        }
        if Instant::now() >= until {
            return Ok(());
        }
        tokio::time::sleep(way.pause).await;
    }
    tokio::time::sleep(way.rest.min(until.saturating_duration_since(Instant::now()))).await;
    Ok(())
}
