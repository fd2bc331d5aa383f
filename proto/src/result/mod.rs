//! What operations answer (contract 2.4, 3.1, 12.7), and how an answer reads for a person or a model.

mod acted;
mod after;
mod batched;
mod capabilities;
mod delta;
mod diagnostics;
mod element;
mod emulated;
mod events;
mod exported;
mod files;
mod health;
mod kept;
mod network;
mod observation;
mod read;
mod routes;
mod secrets;
mod targets;
mod text;

pub use acted::{
    Acted, ChooserSeen, ConsentChoice, ConsentSeen, DialogAnswered, DialogSeen, DownloadSeen, DragKind,
    Evidence, FieldFilled, FormFilled, Hit, Navigated, NavigationSeen, PageLine, Pane, PopupSeen,
    SemanticDiff, Target,
};
pub use after::{After, Expected, Unobserved};
pub use batched::{Batched, StepDone};
pub use capabilities::Capabilities;
pub use delta::{Delta, NodeChanged, NodeGone, Reconciled, ReferenceNow, ReferenceStatus};
pub use diagnostics::{Diagnostic, DiagnosticKind, DiagnosticLevel, Diagnostics, RequestSummary};
pub use element::{Attribute, Choice, Element, Inspected, Preflighted, Relation, Removed};
pub use emulated::{Emulated, ViewportSet};
pub use events::{Event, EventKind, EventOf, Events, row as event_row};
pub use exported::{Asset, Exported};
pub use files::{
    DownloadEnded, DownloadRow, DownloadState, Downloaded, Downloads, FileGiven, FileHeld, Uploaded,
};
pub use health::{Health, QuotaRow, Recovered, RunningRow, TargetHealth};
pub use kept::{ClipboardAnswered, Cookie, CookiesAnswered, NotMoved, OriginMoved, Partition, StorageMoved};
pub use network::NetworkBody;
pub use observation::{LeftOut, Node, Observation, Queried, size};
pub use read::{ArtifactKept, DomRead, Evaluated, Found, Mark, SeenPart, Shot, TextRead, Verified, Waited};
pub use routes::{RouteMade, RouteRemoved, RouteRow, Routes};
pub use secrets::{SecretRow, SecretsCaptured, SecretsDeleted, SecretsListed};
pub use targets::{FrameRow, Frames, TargetClosed, TargetMade, TargetRow, TargetSelected, Targets};
pub use text::{Answer, error_text};
