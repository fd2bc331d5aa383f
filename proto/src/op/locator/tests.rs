//! Locators: examples, and that whatever is printed parses to the same.
use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Step, InvalidLocator> {
    text.parse::<Locator>().map(|l| {
        assert!(l.scopes.is_empty());
        l.step
    })
}

fn text(value: &str) -> Text {
    Text { value: value.to_owned(), substring: false }
}

#[test]
fn reads_every_form() {
    assert_eq!(parse("Save"), Ok(Step::Bare("Save".into())));
    assert_eq!(parse("e4"), Ok(Step::Ref("e4".parse().unwrap())));
    assert_eq!(parse("ref=r7:f2e4"), Ok(Step::Ref("r7:f2e4".parse().unwrap())));
    assert_eq!(parse("name=Save all"), Ok(Step::Keyed(Key::Name, text("Save all"))));
    assert_eq!(parse("name=~sav"), Ok(Step::Keyed(Key::Name, Text { value: "sav".into(), substring: true })));
    assert_eq!(
        parse(r#"name="a | b; c >> d=\"e\"""#),
        Ok(Step::Keyed(Key::Name, text("a | b; c >> d=\"e\"")))
    );
    assert_eq!(parse("text=Don't stop"), Ok(Step::Keyed(Key::Text, text("Don't stop"))));
    assert_eq!(parse(r#"css=a[href="x;y=1"]"#), Ok(Step::Keyed(Key::Css, text(r#"a[href="x;y=1"]"#))));
    assert_eq!(parse("css=a[href='x;y >> 1']"), Ok(Step::Keyed(Key::Css, text("a[href='x;y >> 1']"))));
    assert_eq!(parse(r"css=a[title=\'\;]"), Ok(Step::Keyed(Key::Css, text(r"a[title=\'\;]"))));
    assert_eq!(parse(r#"css="a; b""#), Ok(Step::Keyed(Key::Css, text("a; b"))));
    assert_eq!(
        parse(r#"xpath=//a[.='\' and @t="x;y"]"#),
        Ok(Step::Keyed(Key::Xpath, text(r#"//a[.='\' and @t="x;y"]"#)))
    );
    assert_eq!(parse("ordinal= 3"), Ok(Step::Ordinal(3)));
    let Ok(Step::Role(role)) = parse("role=button;name=Save;disabled=false;level=2") else {
        panic!("a role")
    };
    assert_eq!((role.role.as_str(), role.name, role.level), ("button", Some(text("Save")), Some(2)));
    assert_eq!(role.states, [(Flag::Disabled, false)]);
}

#[test]
fn a_name_like_a_ref_is_reached_by_its_key() {
    assert_eq!(parse("name=e42"), Ok(Step::Keyed(Key::Name, text("e42"))));
    assert_eq!(parse("\"e42\""), Ok(Step::Bare("e42".into())));
}

#[test]
fn scopes_come_from_the_outside_in() {
    let locator: Locator = "role=dialog;name=Cookies >> css=form >> Save".parse().unwrap();
    assert_eq!(locator.scopes.len(), 2);
    assert_eq!(locator.step, Step::Bare("Save".into()));
    let inner: Locator = "css=p >> Save".parse().unwrap();
    let outer: Locator = "css=main >> role=dialog".parse().unwrap();
    assert_eq!(inner.within(&outer), "css=main >> role=dialog >> css=p >> Save".parse().unwrap());
    // An apostrophe is a quote in a selector and a letter in a name.
    let locator: Locator = "Don't >> css=a[title='a >> b'] >> It's".parse().unwrap();
    assert_eq!(locator.scopes.len(), 2);
}

#[test]
fn says_what_is_wrong() {
    use InvalidLocator as E;
    for (input, error) in [
        ("", E::Empty),
        ("  ", E::Empty),
        ("a >> ", E::Empty),
        ("id=foo", E::UnknownKey),
        ("a=b", E::UnknownKey),
        ("name=", E::NoValue("name")),
        ("css=", E::NoValue("css")),
        ("xpath=", E::NoValue("xpath")),
        ("css=a; b", E::Trailing),
        ("ordinal=0", E::Ordinal),
        ("ordinal=first", E::Ordinal),
        ("role=", E::NoValue("role")),
        ("ref=foo", E::Ref),
        ("name=\"a", E::Quote),
        ("name=\"a\" b", E::Quote),
        ("role=button;nam=a", E::State),
        ("role=button;name=a;name=b", E::State),
        ("role=checkbox;checked=yes", E::Flag("checked")),
        ("role=heading;level=two", E::Level),
        ("text=a;b", E::Trailing),
        ("Save; now", E::Trailing),
    ] {
        assert_eq!(input.parse::<Locator>(), Err(error), "{input}");
    }
    assert_eq!("x".repeat(5000).parse::<Locator>(), Err(E::TooLong));
}

fn any_text() -> impl Strategy<Value = Text> {
    (any::<String>(), any::<bool>()).prop_filter_map("a value", |(value, substring)| {
        (!value.is_empty() && value.len() < 200).then_some(Text { value, substring })
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let reference = (proptest::option::of(any::<u64>()), any::<u32>(), any::<u32>())
        .prop_map(|(revision, frame, node)| Step::Ref(Ref { revision, frame, node }));
    let keyed = (proptest::sample::select(Key::ALL.to_vec()), any_text()).prop_map(|(key, text)| {
        let substring = text.substring && !key.is_selector();
        Step::Keyed(key, Text { substring, ..text })
    });
    let ordinal = (1..u32::MAX).prop_map(Step::Ordinal);
    let bare = any_text().prop_map(|text| Step::Bare(text.value));
    let role =
        ("[a-z]{1,12}", proptest::option::of(any_text()), proptest::option::of(1..=99_u32), any::<bool>())
            .prop_map(|(role, name, level, on)| {
                Step::Role(RoleStep { role, name, level, states: vec![(Flag::Checked, on)] })
            });
    prop_oneof![reference, keyed, bare, role, ordinal]
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(scopes in proptest::collection::vec(any_step(), 0..3), step in any_step()) {
        let locator = Locator { scopes, step };
        let printed = locator.to_string();
        prop_assume!(printed.len() <= MAX_LOCATOR);
        prop_assert_eq!(printed.parse::<Locator>(), Ok(locator));
    }

    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = text.parse::<Locator>();
    }
}
