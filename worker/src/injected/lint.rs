//! The lint over the engine's text.
//!
//! Owns the rules that keep page nodes behind captured members and the page free of our traces. They are checked on
//! words, not by a parser: a variable that holds a page node has a name of `NODE_NAMES`, so that a dot after one is a
//! fault, and members that only nodes have are a fault everywhere but after the captured tables.

use super::ENGINE;

/// Part name and text, in the order of the engine.
const PARTS: &[(&str, &str)] = &[
    ("captured.js", include_str!("captured.js")),
    ("text.js", include_str!("text.js")),
    ("tree.js", include_str!("tree.js")),
    ("visible.js", include_str!("visible.js")),
    ("area.js", include_str!("area.js")),
    ("names.js", include_str!("names.js")),
    ("fallback.js", include_str!("fallback.js")),
    ("states.js", include_str!("states.js")),
    ("labels.js", include_str!("labels.js")),
    ("refs.js", include_str!("refs.js")),
    ("facts.js", include_str!("facts.js")),
    ("walk.js", include_str!("walk.js")),
    ("rows.js", include_str!("rows.js")),
    ("live.js", include_str!("live.js")),
    ("revision.js", include_str!("revision.js")),
    ("history.js", include_str!("history.js")),
    ("observe.js", include_str!("observe.js")),
    ("serialize.js", include_str!("serialize.js")),
    ("dom.js", include_str!("dom.js")),
    ("frames.js", include_str!("frames.js")),
    ("point.js", include_str!("point.js")),
    ("actionable.js", include_str!("actionable.js")),
    ("semantic.js", include_str!("semantic.js")),
    ("locate.js", include_str!("locate.js")),
    ("textlocate.js", include_str!("textlocate.js")),
    ("inspect.js", include_str!("inspect.js")),
    ("consent.js", include_str!("consent.js")),
    ("guard.js", include_str!("guard.js")),
    ("edit.js", include_str!("edit.js")),
    ("files.js", include_str!("files.js")),
    ("caret.js", include_str!("caret.js")),
    ("choose.js", include_str!("choose.js")),
    ("scroll.js", include_str!("scroll.js")),
    ("forms.js", include_str!("forms.js")),
    ("wait.js", include_str!("wait.js")),
    ("reveal.js", include_str!("reveal.js")),
    ("api.js", include_str!("api.js")),
    ("session.js", include_str!("session.js")),
];

/// Names that variables holding page nodes have.
const NODE_NAMES: &[&str] = &[
    "el",
    "n",
    "node",
    "root",
    "parent",
    "child",
    "owner",
    "target",
    "hit",
    "slot",
    "doc",
    "field",
    "labelEl",
    "control",
    "option",
    "region",
    "scope",
    "cover",
    "active",
    "anchor",
    "textNode",
    "holder",
    "innermost",
    "ancestor",
    "holding",
    "moved",
];

/// The tables of captured members; what follows them is a name in a table, not a member of a node.
const TABLES: &[&str] = &["G", "S", "M", "VALUE", "LABELS", "MESSAGE", "MAX_LENGTH"];

/// Members of nodes that no value of our own has.
const NODE_MEMBERS: &[&str] = &[
    "activeElement",
    "appendChild",
    "assignedSlot",
    "attachShadow",
    "attributes",
    "body",
    "checkVisibility",
    "childElementCount",
    "childNodes",
    "children",
    "classList",
    "className",
    "clientHeight",
    "clientWidth",
    "cloneNode",
    "closest",
    "computedName",
    "computedRole",
    "contentDocument",
    "contentWindow",
    "dataset",
    "dispatchEvent",
    "documentElement",
    "elementFromPoint",
    "firstChild",
    "firstElementChild",
    "getAttribute",
    "getBoundingClientRect",
    "getClientRects",
    "getContext",
    "getRootNode",
    "hasAttribute",
    "innerHTML",
    "innerText",
    "insertAdjacentHTML",
    "insertBefore",
    "insertRule",
    "isConnected",
    "isContentEditable",
    "lastChild",
    "localName",
    "matches",
    "namespaceURI",
    "nextElementSibling",
    "nextSibling",
    "nodeName",
    "nodeType",
    "outerHTML",
    "ownerDocument",
    "parentElement",
    "parentNode",
    "previousSibling",
    "querySelector",
    "querySelectorAll",
    "removeAttribute",
    "removeChild",
    "replaceChild",
    "replaceWith",
    "scrollIntoView",
    "selectedIndex",
    "setAttribute",
    "shadowRoot",
    "showModal",
    "style",
    "tagName",
    "textContent",
    "toggleAttribute",
];

/// What would leave a trace in the page, or runs text as code. Not even the captured tables have them.
const TRACES: &[&str] = &[
    "appendChild",
    "attachShadow",
    "classList",
    "cloneNode",
    "createElement",
    "dataset",
    "document",
    "eval",
    "getContext",
    "innerHTML",
    "insertAdjacentHTML",
    "insertBefore",
    "insertRule",
    "localStorage",
    "outerHTML",
    "postMessage",
    "removeAttribute",
    "removeChild",
    "replaceChild",
    "replaceWith",
    "sessionStorage",
    "setAttribute",
    "toggleAttribute",
    "window",
];

/// Calls with an effect on the page, and the parts whose purpose it is.
const EFFECTS: &[(&str, &[&str])] = &[
    ("addEventListener", &["guard.js", "wait.js", "session.js", "forms.js"]),
    ("removeEventListener", &["wait.js", "session.js"]),
    ("dispatchEvent", &["edit.js"]),
    ("focusHtml", &["edit.js"]),
    ("focusSvg", &["edit.js"]),
    ("selectInput", &["edit.js", "caret.js"]),
    ("selectArea", &["edit.js"]),
    ("selectAllChildren", &["edit.js", "caret.js"]),
    ("scrollIntoView", &["actionable.js", "frames.js", "scroll.js", "forms.js"]),
    ("defineProperty", &["api.js"]),
];

/// The part without comments and the content of strings and regular expressions; lines stay where they are.
fn code_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = '\n';
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|&next| next != '\n') {
                    chars.next();
                }
            }
            '\'' | '"' | '`' => {
                skip_to(&mut chars, c, false);
                out.push_str("\"\"");
                before = '"';
            }
            '/' if "(,=:[!&|?{};\n".contains(before) => {
                skip_to(&mut chars, '/', true);
                out.push_str("\"\"");
                before = '"';
            }
            _ => {
                out.push(c);
                if !c.is_whitespace() || c == '\n' {
                    before = c;
                }
            }
        }
    }
    out
}

fn skip_to(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char, classes: bool) {
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' if classes => in_class = true,
            ']' if classes => in_class = false,
            _ if c == end && !in_class => return,
            _ => {}
        }
    }
}

/// Words and single signs.
fn tokens(line: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !first.is_whitespace() {
            found.push(&rest[..end]);
        }
        rest = &rest[end..];
    }
    found
}

/// Faults of one part, as `part:line: what`.
fn faults(part: &str, text: &str) -> Vec<String> {
    let code = code_of(text);
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for (number, line) in code.lines().enumerate() {
        for word in tokens(line) {
            words.push(word);
            lines.push(number + 1);
        }
    }
    let mut found = Vec::new();
    for (at, &word) in words.iter().enumerate() {
        let mut fault = |what: String| found.push(format!("{part}:{}: {what}", lines[at]));
        let dots = words[..at].iter().rev().take_while(|&&sign| sign == "." || sign == "?").count();
        let is_member = dots > 0 && words[at - 1] == "." && !words[..at].ends_with(&[".", ".", "."]);
        let base = if is_member { words[..at - dots].last().copied() } else { None };
        let of_node = |base: &str, end| NODE_NAMES.contains(&base) && !base_is_member(&words, end);
        if base.is_some_and(|base| of_node(base, at - dots)) {
            fault(format!("member `{word}` read from a page node"));
        }
        if word == "[" && at > 0 && of_node(words[at - 1], at) {
            fault("index into a page node".to_owned());
        }
        let of_table = base.is_some_and(|base| TABLES.contains(&base));
        if is_member && !of_table && NODE_MEMBERS.contains(&word) {
            fault(format!("`.{word}` is not taken from a captured table"));
        }
        if TRACES.contains(&word) {
            fault(format!("`{word}` leaves traces or is not captured"));
        }
        if let Some((_, parts)) = EFFECTS.iter().find(|(name, _)| *name == word)
            && !parts.contains(&part)
        {
            fault(format!("`{word}` has an effect on the page and does not belong in this part"));
        }
    }
    found
}

/// Is the word before `end` itself a member, as `target` in `record.target`?
fn base_is_member(words: &[&str], end: usize) -> bool {
    end >= 2 && words[end - 2] == "."
}

#[test]
fn parts_touch_page_nodes_by_captured_members_only() {
    let all: Vec<String> = PARTS.iter().skip(1).flat_map(|(part, text)| faults(part, text)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_lint_sees_what_it_forbids() {
    for bad in [
        "const a = el.parentNode;",
        "if (node?.id) run();",
        "return list[0].getAttribute('x');",
        "doc.title = 'x';",
        "field['value'] = 1;",
        "M.setAttribute(el, 'x', '');",
        "const a = el\n  .closest('x');",
        "window.x = 1;",
        "M.addEventListener(win, 'click', run);",
    ] {
        assert!(!faults("text.js", bad).is_empty(), "not seen: {bad}");
    }
    for good in
        ["const a = G.parentNode(el); // el.id", "record.target.run", "f('el.id', /el.id/)", "run(...el)"]
    {
        assert_eq!(faults("text.js", good), Vec::<String>::new(), "seen: {good}");
    }
}

#[test]
fn the_engine_has_every_part() {
    let parts = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/injected"))
        .expect("the source folder is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".js"));
    for part in parts {
        let text = PARTS.iter().find(|(name, _)| *name == part).map(|(_, text)| *text);
        assert!(text.is_some_and(|text| ENGINE.contains(text)), "{part} is not in the engine");
    }
}
