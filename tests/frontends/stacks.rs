//! What is done in each stack, and what its own state must hold afterwards.

/// A page of `pages/`.
pub(crate) struct Stack {
    /// Its file.
    pub(crate) name: &'static str,
    /// The packages it stands for.
    pub(crate) what: &'static str,
    /// Whether `make test` takes it.
    pub(crate) quick: bool,
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
    Stack {
        name: "svelte",
        what: "Svelte 5, bind:",
        quick: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["fill", "label=Count", "42"], "state.count === 42"),
            does(&["fill", "label=Level", "7"], "state.level === 7"),
            does(&["select", "label=Land", "se"], "state.land === 'se'"),
            does(&["select", "label=Extras", "--values", "s", "c"], "state.extras.join() === 's,c'"),
            does(&["select", "label=Extras", "--label", "Chili"], "state.extras.join() === 'c'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "label=blue"], "state.tags.join() === 'blue'"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["fill", "role=textbox;name=Bio", "a life"], "state.bio === 'a life'"),
            does(&["click", "role=button;name=Send"], "state.sent === 1"),
        ],
    },
    Stack {
        name: "solid",
        what: "Solid, delegated events",
        quick: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["select", "label=Land", "se"], "state.land === 'se'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["fill", "label=Item", "Bread"], "state.items.length === 1"),
            does(&["click", "role=button;name=Add"], "state.items.join() === 'Milk,Bread'"),
            does(&["click", "role=button;name=Remove Milk"], "state.items.join() === 'Bread'"),
            does(&["click", "role=button;name=Send"], "state.sent === 1"),
        ],
    },
    Stack {
        name: "preact",
        what: "Preact, controlled inputs",
        quick: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            fails(&["fill", "label=Digits", "a1b2"], "verification_failed", "state.digits === '12'"),
            does(&["select", "label=Land", "se"], "state.land === 'se'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["click", "role=button;name=Send"], "state.sent === 1"),
        ],
    },
    Stack {
        name: "mui",
        what: "Material UI 9",
        quick: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["select", "role=combobox;name=Land", "--label", "Sweden"], "state.land === 'se'"),
            fails(
                &["select", "role=combobox;name=Land", "--label", "Denmark"],
                "not_actionable",
                "state.land === 'se'",
            ),
            does(&["key", "Escape"], "state.land === 'se'"),
            does(&["wait", "hidden=role=listbox"], "!document.querySelector('[role=listbox]')"),
            does(&["fill", "role=combobox;name=City", "ber"], "state.city === null"),
            does(&["click", "role=option;name=Bern"], "state.city === 'Bern'"),
            does(&["select", "role=combobox;name=City", "--label", "Oslo"], "state.city === 'Oslo'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "role=switch;name=Dark"], "state.dark === true"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["fill", "role=slider;name=Level", "70"], "state.level === 70"),
            does(&["click", "role=tab;name=SECOND"], "state.tab === 1"),
            does(&["click", "role=button;name=OPEN"], "state.open === true"),
            does(&["fill", "label=Inside", "within"], "state.inside === 'within'"),
            does(&["click", "role=button;name=DONE"], "state.open === false"),
        ],
    },
    Stack {
        name: "antd",
        what: "Ant Design 6",
        quick: false,
        steps: &[
            does(&["click", "role=button;name=Send"], "state.errors === 1"),
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Password", "horse"], "state.password === 'horse'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["fill", "label=Count", "42"], "state.count === 42"),
            does(&["select", "label=Land", "--label", "Land 3"], "state.land === 3"),
            does(&["fill", "label=City", "osl"], "state.city === undefined"),
            does(&["key", "Enter"], "state.city === 'o'"),
            does(&["select", "label=City", "--label", "Berlin"], "state.city === 'b'"),
            does(&["fill", "label=Day", "2026-11-30"], "state.day === undefined"),
            does(&["key", "Enter"], "state.day === '2026-11-30'"),
            does(&["check", "label=I accept"], "state.terms === true"),
            does(&["check", "role=switch;name=Dark"], "state.dark === true"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["drag", "role=slider;name=Level", "text=Plan B"], "state.level !== 30"),
            does(&["click", "role=button;name=Send"], "state.sent === 'Ann é 😀'"),
        ],
    },
    Stack {
        name: "headlessui",
        what: "Headless UI 2",
        quick: false,
        steps: &[
            does(&["select", "role=button;name=Person Ann", "--label", "Cleo"], "state.person === 'Cleo'"),
            does(&["fill", "role=combobox;name=Friend", "bo"], "state.friend === null"),
            does(&["click", "role=option;name=Bob"], "state.friend === 'Bob'"),
            does(&["check", "role=switch;name=Dark"], "state.dark === true"),
            does(&["check", "role=checkbox;name=I accept"], "state.terms === true"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["click", "role=button;name=More"], "document.querySelector('[role=menu]')"),
            does(&["click", "role=menuitem;name=Archive"], "state.done === 'Archive'"),
            does(&["click", "role=button;name=Open"], "state.open === true"),
            does(&["fill", "label=Answer", "yes"], "state.answer === 'yes'"),
            does(&["click", "role=button;name=Done"], "state.open === false"),
        ],
    },
    Stack {
        name: "radix",
        what: "Radix UI 1",
        quick: false,
        steps: &[
            does(&["select", "role=combobox;name=Land", "--label", "Sweden"], "state.land === 'se'"),
            does(&["check", "role=checkbox;name=I accept"], "state.terms === true"),
            does(&["check", "role=switch;name=Dark"], "state.dark === true"),
            does(&["check", "role=radio;name=Plan B"], "state.plan === 'b'"),
            does(&["check", "role=button;name=Bold"], "state.bold === true"),
            does(&["drag", "role=slider;name=Level", "role=button;name=Bold"], "state.level < 30"),
            does(&["click", "role=tab;name=Two"], "state.tab === 'two'"),
            does(&["click", "role=button;name=More"], "document.querySelector('[role=menu]')"),
            does(&["uncheck", "role=menuitemcheckbox;name=Night"], "state.dark === false"),
            does(&["click", "role=button;name=More"], "document.querySelector('[role=menu]')"),
            does(&["click", "role=menuitem;name=Archive"], "state.done === 'Archive'"),
            does(&["click", "role=button;name=Open"], "state.open === true"),
            does(&["fill", "label=Answer", "yes"], "state.answer === 'yes'"),
            does(&["click", "role=button;name=Done"], "state.open === false"),
        ],
    },
    Stack {
        name: "lexical",
        what: "Lexical, rich text",
        quick: false,
        steps: &[
            does(
                &["fill", "role=textbox;name=Story", "a line\nanother é 😀"],
                "state.text === 'a line\\nanother é 😀'",
            ),
            does(
                &["type", "--target", "role=textbox;name=Story", " more"],
                "state.text === 'a line\\nanother é 😀 more'",
            ),
            does(&["fill", "role=textbox;name=Story", "plain"], "state.text === 'plain'"),
            does(
                &["type", "--target", "role=textbox;name=Story", "--mode", "keys", " keys"],
                "state.text === 'plain keys'",
            ),
            does(&["clear", "role=textbox;name=Story"], "state.text === ''"),
        ],
    },
    Stack {
        name: "codemirror",
        what: "CodeMirror 6",
        quick: false,
        steps: &[
            does(
                &["fill", "role=textbox;name=Source", "const a = 1;\n\nlet é = \"😀\";"],
                "state.text === 'const a = 1;\\n\\nlet é = \"😀\";'",
            ),
            does(&["fill", "role=textbox;name=Source", "short"], "state.text === 'short'"),
            does(&["type", "--target", "role=textbox;name=Source", " more"], "state.text === 'short more'"),
            does(&["clear", "role=textbox;name=Source"], "state.text === ''"),
        ],
    },
    Stack {
        name: "quill",
        what: "Quill 2",
        quick: false,
        steps: &[
            does(
                &["fill", "role=textbox;name=Story", "a line\nanother é 😀"],
                "state.text === 'a line\\nanother é 😀\\n'",
            ),
            does(
                &["select-text", "role=textbox;name=Story", "--text", "another"],
                "getSelection().toString() === 'another'",
            ),
            does(&["check", "role=button;name=bold"], "state.html.includes('<strong>another</strong>')"),
            does(&["fill", "role=textbox;name=Story", "plain"], "state.text === 'plain\\n'"),
            does(&["clear", "role=textbox;name=Story"], "state.text === '\\n'"),
        ],
    },
    Stack {
        name: "flatpickr",
        what: "flatpickr 4",
        quick: false,
        steps: &[
            does(
                &["fill", "label=Day", "2026-11-30"],
                "document.getElementById('day').value === '2026-11-30'",
            ),
            does(&["key", "Enter"], "state.day === '2026-11-30'"),
            fails(
                &["fill", "label=Only", "2026-11-30", "--timeout-ms", "700"],
                "not_actionable",
                "!state.only",
            ),
            does(&["click", "label=Only"], "document.querySelector('.flatpickr-calendar.open')"),
            does(
                &["click", "css=.flatpickr-calendar.open >> name=November 20, 2026"],
                "state.only === '2026-11-20'",
            ),
        ],
    },
    Stack {
        name: "datepicker",
        what: "react-datepicker 9",
        quick: false,
        steps: &[
            does(&["fill", "label=Day", "2026-11-30"], "state.day === '2026-11-30'"),
            does(&["click", "label=Day"], "document.querySelector('.react-datepicker')"),
            does(&["click", "role=gridcell;name=~November 20th"], "state.day === '2026-11-20'"),
            does(&["clear", "label=Day"], "state.day === null"),
        ],
    },
    Stack {
        name: "reactselect",
        what: "react-select 5",
        quick: false,
        steps: &[
            does(&["select", "role=combobox;name=Colour", "--label", "Green"], "state.colour === 'green'"),
            does(&["select", "role=combobox;name=Colour", "--label", "Blue"], "state.colour === 'blue'"),
            does(&["fill", "role=combobox;name=Colour", "re"], "state.colour === 'blue'"),
            does(&["key", "Enter"], "state.colour === 'red'"),
            does(
                &["select", "role=combobox;name=Several", "--label", "Red"],
                "state.several.join() === 'red'",
            ),
            does(&["fill", "role=combobox;name=Made", "Pink"], "state.made === null"),
            does(&["key", "Enter"], "state.made === 'Pink'"),
        ],
    },
    Stack {
        name: "dndkit",
        what: "dnd-kit 6",
        quick: false,
        steps: &[
            does(
                &["drag", "role=button;name=One", "role=button;name=Three"],
                "state.order.join() === 'Two,Three,One,Four'",
            ),
            does(&["drag", "role=button;name=Card", "role=region;name=Bin"], "state.dropped === 'card:bin'"),
        ],
    },
    Stack {
        name: "angular",
        what: "Angular 22, reactive forms",
        quick: false,
        steps: &[
            does(&["fill", "label=Name", "Ann é 😀"], "state.name === 'Ann é 😀'"),
            does(&["fill", "label=Notes", "one\ntwo"], "state.notes === 'one\\ntwo'"),
            does(&["select", "label=Land", "--label", "Sweden"], "state.land === 'se'"),
            fails(
                &["click", "role=button;name=Send", "--timeout-ms", "700"],
                "not_actionable",
                "state.sent === 0",
            ),
            does(&["fill", "label=Mail", "ann"], "state.form.mail === 'ann' && !state.valid"),
            does(
                &["fill", "label=Mail", "ann@example.com"],
                "state.form.mail === 'ann@example.com' && state.valid",
            ),
            does(&["fill", "label=Late", "later"], "document.activeElement.value === 'later'"),
            does(&["fill", "label=Count", "42"], "state.form.count === 42 && state.form.late === 'later'"),
            does(&["fill", "label=Day", "2026-11-30"], "state.form.day === '2026-11-30'"),
            does(&["check", "label=I accept"], "state.form.terms === true"),
            does(&["check", "role=radio;name=Plan B"], "state.form.plan === 'b'"),
            does(&["check", "role=switch;name=Dark"], "state.form.dark === true"),
            does(&["click", "role=button;name=Send"], "state.sent === 1"),
            does(&["submit", "label=Mail"], "state.sent === 2"),
            does(&["fill", "label=New", "green"], "state.items.length === 2"),
            does(&["click", "role=button;name=Add"], "state.items.join() === 'red,blue,green'"),
            does(&["click", "role=button;name=Remove blue"], "state.items.join() === 'red,green'"),
        ],
    },
    Stack {
        name: "sortable",
        what: "SortableJS 1",
        quick: false,
        steps: &[
            does(
                &["drag", "text=One", "text=Zero"],
                "state.done.includes('One') && !state.todo.includes('One')",
            ),
            does(&["drag", "text=Ape", "text=Cat"], "state.fallback === 'Bee,Cat,Ape'"),
        ],
    },
];
