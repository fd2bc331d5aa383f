//! What is done in each stack, and what its own state must hold afterwards.

/// A page of `pages/`.
pub(crate) struct Stack {
    /// Its file.
    pub(crate) name: &'static str,
    /// The packages it stands for.
    pub(crate) what: &'static str,
    /// Whether `make test` takes it.
    pub(crate) quick: bool,
    /// Whether it makes events of its own, which the ledger hears as well.
    pub(crate) makes_events: bool,
    pub(crate) steps: &'static [Step],
}

/// One command.
pub(crate) struct Step {
    /// What glassctl is given.
    pub(crate) command: &'static [&'static str],
    /// True in the page afterwards.
    pub(crate) then: &'static str,
    /// The kind of the error that it is to end with.
    pub(crate) fails: Option<&'static str>,
}

const fn does(command: &'static [&'static str], then: &'static str) -> Step {
    Step { command, then, fails: None }
}

const fn fails(command: &'static [&'static str], kind: &'static str, then: &'static str) -> Step {
    Step { command, then, fails: Some(kind) }
}

pub(crate) const STACKS: &[Stack] = &[
    Stack {
        name: "react",
        what: "React 19, controlled inputs",
        quick: true,
        makes_events: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Name", "Bob"], "state.name === 'Bob'"),
            does(&["type", "--target", "label=Name", " B.", "--mode", "keys"], "state.name === 'Bob B.'"),
            does(&["fill", "label=Notes", "one\n\ntwo"], "state.notes === 'one\\n\\ntwo'"),
            does(&["clear", "label=Notes"], "state.notes === ''"),
            does(&["fill", "label=Count", "42"], "state.count === '42'"),
            fails(&["fill", "label=Shout", "loud"], "verification_failed", "state.shout === 'LOUD'"),
            does(&["fill", "label=Day", "2026-11-30"], "state.day === '2026-11-30'"),
            does(&["fill", "label=Level", "7"], "state.level === '7'"),
            does(&["select", "label=Land", "--label", "Sweden"], "state.land === 'se'"),
            does(
                &["select", "role=listbox;name=Extras", "--values", "s", "c"],
                "state.extras.join() === 's,c'",
            ),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["uncheck", "label=I accept"], "state.terms === false"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(
                &["drag", "role=listitem;name=One", "role=listitem;name=Three"],
                "state.order.join() === 'Two,Three,One'",
            ),
            does(&["submit", "label=Name"], "state.sent === 1"),
            does(&["click", "role=button;name=Send"], "state.sent === 2"),
        ],
    },
    Stack {
        name: "vue",
        what: "Vue 3, v-model",
        quick: true,
        makes_events: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo\n"], "state.notes === 'one\\ntwo\\n'"),
            does(&["fill", "label=Count", "42"], "state.count === 42"),
            does(&["fill", "label=Day", "2026-11-30"], "state.day === '2026-11-30'"),
            does(&["select", "label=Land", "se"], "state.land === 'se'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "label=red"], "state.tags.join() === 'red'"),
            does(&["check", "label=blue"], "state.tags.join() === 'red,blue'"),
            does(&["uncheck", "label=red"], "state.tags.join() === 'blue'"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["fill", "label=Lazy", "late"], "document.querySelectorAll('input')[1].value === 'late'"),
            does(&["fill", "label=Trimmed", "word"], "state.trimmed === 'word' && state.lazy === 'late'"),
            does(&["click", "role=button;name=Send"], "state.sent === 1"),
            does(&["submit", "label=Name"], "state.sent === 2"),
        ],
    },
    Stack {
        name: "lit",
        what: "Lit 3, shadow roots and form-associated elements",
        quick: true,
        makes_events: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["fill", "label=Slotted", "light"], "state.slotted === 'light'"),
            does(&["select", "label=Land", "--label", "Sweden"], "state.land === 'se'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "role=switch;name=Dark"], "state.dark === true"),
            does(&["uncheck", "role=switch;name=Dark"], "state.dark === false"),
            does(&["click", "role=button;name=Send"], "state.sent === 1 && state.form.name === 'Ann é 😀'"),
        ],
    },
    Stack {
        name: "tiptap",
        what: "TipTap 3 on ProseMirror",
        quick: true,
        makes_events: false,
        steps: &[
            does(
                &["fill", "role=textbox;name=Story", "a line\nanother é 😀"],
                "state.text === 'a line\\nanother é 😀'",
            ),
            does(
                &["type", "--target", "role=textbox;name=Story", " more"],
                "state.text === 'a line\\nanother é 😀 more'",
            ),
            does(
                &["select-text", "role=textbox;name=Story", "--text", "another"],
                "getSelection().toString() === 'another'",
            ),
            does(&["check", "role=button;name=Bold"], "state.html.includes('<strong>another</strong>')"),
            does(&["fill", "role=textbox;name=Story", "plain"], "state.text === 'plain'"),
            does(&["clear", "role=textbox;name=Story"], "state.text === ''"),
        ],
    },
];
