//! `upload`: files of the file root reach an input or a chooser, and what the page made of them is told.

use std::fs;
use std::time::Duration;

use glass_tests::World;
use glass_tests::site::site;
use serde_json::Value;

const PAGE: &str = "<!doctype html><title>Files</title>
<input type=file id=hidden style='display:none' onchange=\"seen = [...this.files].map(f => [f.name, f.size])\">
<label for=one>One</label><input type=file id=one onchange=\"seen = [...this.files].map(f => [f.name, f.size])\">
<label for=many>Many</label><input type=file id=many multiple onchange=\"seen = [...this.files].map(f => [f.name, f.size])\">
<label for=picky>Picky</label><input type=file id=picky accept=.png onchange=\"if (!this.files[0].name.endsWith('.png')) this.value = ''\">
<label for=off>Off</label><input type=file id=off disabled>
<label for=dir>Dir</label><input type=file id=dir webkitdirectory>
<button onclick=\"document.getElementById('hidden').click()\">Opens hidden</button>
<button onclick=\"const made = document.createElement('input'); made.type = 'file'; made.multiple = true; made.onchange = () => { seen = [...made.files].map(f => [f.name, f.size]); made.files[0].text().then(t => text = t) }; made.click()\">Opens made</button>";

fn world() -> World {
    let world = World::new();
    for (name, content) in [("a.txt", "four"), ("отчёт №1 .pdf", "report"), ("b.png", "picture")] {
        let path = world.path("cwd").join(name);
        fs::write(&path, content).expect("a file");
        world.give(&path);
    }
    let visit = site().visit();
    visit.serve("files.html", PAGE);
    world.ok(&["navigate", &visit.url("files.html")]);
    world
}

fn seen(world: &World) -> Value {
    world.eval("window.seen ?? null")
}

// contract: 7.4 report: 24
#[test]
fn files_reach_inputs_hidden_ones_too_with_their_names_and_sizes() {
    let world = world();
    let result = world.ok(&["upload", "label=One", "a.txt"]);
    assert_eq!(result["held"], serde_json::json!([{ "name": "a.txt", "size": 4 }]));
    assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
    assert_eq!(result["files"][0]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(seen(&world), serde_json::json!([["a.txt", 4]]));
    world.ok(&["upload", "css=#hidden", "отчёт №1 .pdf"]);
    assert_eq!(seen(&world), serde_json::json!([["отчёт №1 .pdf", 6]]));
    world.ok(&["upload", "label=Many", "a.txt", "./отчёт №1 .pdf"]);
    assert_eq!(seen(&world), serde_json::json!([["a.txt", 4], ["отчёт №1 .pdf", 6]]));
}

// contract: 7.4 report: 24
#[test]
fn a_chooser_is_told_answered_once_and_blocks_nothing() {
    let world = world();
    for (button, want) in [
        ("Opens hidden", serde_json::json!([["a.txt", 4]])),
        ("Opens made", serde_json::json!([["a.txt", 4]])),
    ] {
        let clicked = world.ok(&["click", &format!("name={button}")]);
        let chooser = clicked["evidence"]["choosers"][0]["chooserId"]
            .as_str()
            .unwrap_or_else(|| panic!("{clicked}"))
            .to_owned();
        // Nobody has to answer it.
        assert_eq!(world.ok(&["observe"])["choosers"][0]["chooserId"], chooser.as_str());
        world.eval("window.seen = null");
        world.ok(&["upload", "--chooser-id", &chooser, "a.txt"]);
        assert_eq!(seen(&world), want);
        let error = world.fails("target_not_found", &["upload", "--chooser-id", &chooser, "a.txt"]);
        assert_eq!(error["reason"], "no_chooser", "{error}");
    }
    glass_tests::holds("the page reads it", Duration::from_secs(10), || {
        world.eval("window.text ?? ''") == "four"
    });
    // Its document goes, and the chooser with it.
    let clicked = world.ok(&["click", "name=Opens made"]);
    let chooser = clicked["evidence"]["choosers"][0]["chooserId"].as_str().expect("an id").to_owned();
    world.ok(&["reload"]);
    world.fails("target_not_found", &["upload", "--chooser-id", &chooser, "a.txt"]);
}

// contract: 7.4, 2.1 report: 25
#[test]
fn files_that_the_page_refuses_are_not_told_as_taken() {
    let world = world();
    let result = world.ok(&["upload", "label=Picky", "a.txt"]);
    assert_eq!(result["held"], serde_json::json!([]));
    assert_eq!(result["evidence"]["valueMatches"], false);
    assert!(result["warning"].is_string(), "{result}");
    let result = world.ok(&["upload", "label=Picky", "b.png"]);
    assert!(result["warning"].is_null() && result["evidence"]["valueMatches"] == true, "{result}");
}

// contract: 7.4, 10.5
#[test]
fn what_cannot_be_uploaded_is_refused_and_the_page_sees_nothing() {
    let world = world();
    fs::write(world.path("home/secret.txt"), "secret").expect("a file outside");
    std::os::unix::fs::symlink(world.path("home/secret.txt"), world.path("cwd/link.txt"))
        .expect("a link out");
    fs::create_dir(world.path("cwd/dir")).expect("a directory");
    for outside in ["../home/secret.txt", "link.txt", "/etc/hostname"] {
        let error = world.fails("denied", &["upload", "label=One", outside]);
        assert_eq!(error["reason"], "outside_file_root", "{error}");
    }
    for wrong in ["none.txt", "dir"] {
        assert_eq!(world.glassctl(["upload", "label=One", wrong]).code, Some(2), "{wrong}");
    }
    for (input, reason) in
        [("label=Off", "disabled"), ("label=Dir", "directory"), ("name=Opens made", "no_file_input")]
    {
        let error = world.fails("not_actionable", &["upload", input, "a.txt"]);
        assert_eq!(
            (error["reason"].clone(), error["dispatched"].clone()),
            (reason.into(), "no".into()),
            "{error}"
        );
    }
    let error = world.fails("not_actionable", &["upload", "label=One", "a.txt", "b.png"]);
    assert_eq!(error["reason"], "one_file", "{error}");
    assert_eq!(seen(&world), Value::Null);
}

// contract: 7.4, 4.2 report: 232
#[test]
fn a_large_file_and_one_in_a_frame_arrive_whole() {
    let world = world();
    let large = vec![7_u8; 3_000_000];
    fs::write(world.path("cwd/large.bin"), &large).expect("a file");
    world.give(&world.path("cwd/large.bin"));
    let visit = site().visit();
    visit.serve("inside.html", "<!doctype html><title>Inside</title><label for=in>Inside</label><input type=file id=in onchange='seen = this.files[0].size'>");
    visit.serve("outside.html", "<!doctype html><title>Outside</title><iframe title=Frame src='http://b.localhost:{{port}}/{{visit}}/inside.html'></iframe>");
    world.ok(&["navigate", &visit.url_at("a.localhost", "outside.html")]);
    world.ok(&["wait", "visible=label=Inside"]);
    let result = world.ok(&["upload", "label=Inside", "large.bin"]);
    assert_eq!(result["held"][0]["size"], 3_000_000, "{result}");
    assert_eq!(world.ok(&["evaluate", "window.seen", "--frame", "title=Frame"])["value"], 3_000_000);
}

const ZONE: &str = "<!doctype html><title>Zone</title><div id=zone role=region aria-label=Zone style='width:300px;height:120px;background:silver'>Drop <b>here</b></div>
<div id=deaf role=region aria-label=Deaf style='width:300px;height:60px;background:pink'>Not here</div><script>
window.events=[]; zone.ondragenter=event=>events.push(event.type); zone.ondragover=event=>{event.preventDefault();event.dataTransfer.dropEffect='copy'};
zone.ondrop=async event=>{event.preventDefault();events.push('drop');const files=[...event.dataTransfer.files];
 window.seen=await Promise.all(files.map(async file=>[file.name,file.size,await file.text()]));document.title='dropped '+files.length}</script>";

// contract: 7.4, 2.1 report: 24
#[test]
fn files_are_dropped_on_what_takes_them_alone_and_a_directory_reaches_what_takes_one() {
    let world = world();
    fs::create_dir_all(world.path("cwd/photos/sub")).expect("directories");
    for (path, content) in [("photos/a.txt", "one"), ("photos/sub/b.txt", "three")] {
        fs::write(world.path("cwd").join(path), content).expect("a file");
    }
    for path in ["cwd/photos", "cwd/photos/sub", "cwd/photos/a.txt", "cwd/photos/sub/b.txt"] {
        world.give(&world.path(path));
    }
    world.eval("document.getElementById('dir').onchange = event => { seen = [...event.target.files].map(f => [f.webkitRelativePath, f.size]).sort() }; 1");
    let given = world.ok(&["upload", "label=Dir", "photos"]);
    assert_eq!(given["evidence"]["valueMatches"], true, "{given}");
    assert_eq!(seen(&world), serde_json::json!([["photos/a.txt", 3], ["photos/sub/b.txt", 5]]));
    for (target, file, reason) in [("label=Dir", "a.txt", "directory"), ("label=Many", "photos", "directory")]
    {
        let error = world.fails("not_actionable", &["upload", target, file]);
        assert_eq!((&error["reason"], &error["dispatched"]), (&reason.into(), &"no".into()), "{error}");
    }
    // A link out of the root is not followed, and the browser is given nothing.
    std::os::unix::fs::symlink("/etc/hostname", world.path("cwd/photos/out")).expect("a link");
    world.fails("denied", &["upload", "label=Dir", "photos"]);
    let visit = site().visit();
    visit.serve("zone.html", ZONE);
    visit.serve("outer.html", "<!doctype html><title>Outer</title><iframe title=Inner width=400 height=250 style='margin:30px' src='http://b.localhost:{{port}}/{{visit}}/zone.html'></iframe>");
    world.ok(&["navigate", &visit.url("zone.html")]);
    let dropped = world.ok(&["upload", "name=Zone", "a.txt", "отчёт №1 .pdf", "--drop"]);
    assert_eq!(dropped["evidence"]["hitTarget"]["label"], "Zone", "{dropped}");
    glass_tests::holds("the page read them", Duration::from_secs(10), || {
        seen(&world) == serde_json::json!([["a.txt", 4, "four"], ["отчёт №1 .pdf", 6, "report"]])
    });
    assert_eq!(world.eval("events.join()"), "dragenter,drop", "once");
    let error = world.fails("not_actionable", &["upload", "name=Deaf", "a.txt", "--drop"]);
    assert_eq!((&error["reason"], &error["outcome"]), (&"not_dropped".into(), &"failed".into()), "{error}");
    assert_eq!(
        world.eval("[document.title, events.length].join()"),
        "dropped 2,2",
        "and the page is where it was"
    );
    // In a frame of another site.
    world.ok(&["navigate", &visit.url_at("a.localhost", "outer.html")]);
    world.ok(&["wait", "visible=Zone"]);
    world.ok(&["upload", "name=Zone", "b.png", "--drop"]);
    let read = || {
        world.ask(&["evaluate", "window.seen ?? null", "--frame", "title=Inner"]).result()["value"].clone()
    };
    glass_tests::holds("the frame read it", Duration::from_secs(10), || {
        read() == serde_json::json!([["b.png", 7, "picture"]])
    });
    assert_eq!(world.glassctl(["upload", "--chooser-id", "c1", "a.txt", "--drop"]).code, Some(2));
}
