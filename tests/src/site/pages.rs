//! The pages of `tests/site/`, built in.

/// The script that pages report their events with.
pub(super) const LEDGER: &str = include_str!("../../site/ledger.js");

macro_rules! pages {
    ($($name:literal,)*) => { &[$(($name, include_str!(concat!("../../site/", $name))),)*] };
}

const PAGES: &[(&str, &str)] = pages![
    "alert-on-load.html",
    "broken-link.html",
    "cards.html",
    "changes.html",
    "clobbered.html",
    "collapsed.html",
    "covered.html",
    "cross-deep.html",
    "cross-inner.html",
    "cross-turned.html",
    "cross.html",
    "dialogs.html",
    "disabled.html",
    "far-down.html",
    "form.html",
    "frames.html",
    "inner-2.html",
    "inner.html",
    "moving.html",
    "names.html",
    "never-loads.html",
    "odd-names.html",
    "popups.html",
    "regions.html",
    "renames.html",
    "replaced.html",
    "replaces.html",
    "reverts.html",
    "rewrites.html",
    "roles.html",
    "sections.html",
    "shadow.html",
    "slips.html",
    "smooth.html",
    "spin.html",
    "sticky.html",
    "to-files.html",
    "traces.html",
    "turned.html",
    "twins.html",
    "watched.html",
];

/// The names of all pages.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(name, _)| *name)
}

/// The page of that name.
pub(super) fn find(name: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
