//! `download`: a caught file is put where the client may write, whole, and replaces nothing.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use glass_tests::site::{Visit, site};
use glass_tests::{Stage, World};

use super::list_downloads::row;

const LIMIT: Duration = Duration::from_secs(30);

fn begin(world: &World, name: &str, content: &str) -> Visit {
    let visit = site().visit();
    let link = format!(
        "<!doctype html><title>Files</title><a id=link download='{name}' href='data:text/plain,{content}'>Get</a>"
    );
    visit.serve("files.html", &link);
    world.ok(&["navigate", &visit.url("files.html")]);
    world.ok(&["click", "name=Get"]);
    visit
}

fn names(world: &World, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(world.path("cwd").join(directory)).expect("the directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

// contract: 7.3, 10.5 report: 52
#[test]
fn the_file_is_where_the_answer_says_with_its_size_and_hash() {
    let world = World::new();
    begin(&world, "words.txt", "hello");
    let taken = world.ok(&["download"]);
    let path = PathBuf::from(taken["path"].as_str().expect("a path"));
    assert_eq!(path, world.path("cwd").canonicalize().expect("it is there").join("words.txt"));
    assert_eq!(fs::read(&path).expect("the file"), b"hello");
    assert_eq!((taken["state"].clone(), taken["bytes"].clone()), ("completed".into(), 5.into()));
    assert_eq!(taken["sha256"], "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(row(&world, "words.txt", "completed")["taken"], true);
    // The next one of that name is another file.
    world.ok(&["click", "name=Get"]);
    let again = world.ok(&["download", "."]);
    assert!(again["path"].as_str().is_some_and(|path| path.ends_with("words (1).txt")), "{again}");
    assert_eq!(names(&world, "."), ["words (1).txt", "words.txt"]);
}

// contract: 7.3
#[test]
fn a_large_file_arrives_whole() {
    let world = World::new();
    world.ok(&["navigate", "about:blank"]);
    world.eval("const made = document.createElement('a'); made.download = 'large.bin'; made.href = URL.createObjectURL(new Blob([new Uint8Array(5_000_000).fill(7)])); document.body.append(made); made.click(); 1");
    let taken = world.ok(&["download"]);
    let bytes = fs::read(taken["path"].as_str().expect("a path")).expect("the file");
    assert!(bytes.len() == 5_000_000 && bytes.iter().all(|byte| *byte == 7));
}

// contract: 7.3
#[test]
fn one_is_waited_for_by_its_id_or_as_the_next() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Files</title><a href=slow/one download=one.txt>One</a> <a href='data:text/plain,two' download=two.txt>Two</a>");
    stage.go(&visit, "page.html");
    let next = stage.begin(&["download", "--next", "--timeout-ms", "25000"]);
    glass_tests::holds("it waits", LIMIT, || {
        stage.ask(&["session", "show", "default"]).json.to_string().contains("download")
    });
    let clicked = stage.ok(&["click", "name=Two"]);
    let two = next.answer_within(LIMIT);
    assert_eq!(two.result()["downloadId"], clicked["evidence"]["downloads"][0]["downloadId"]);
    // One that has been taken is given again when it is named.
    let id = two.result()["downloadId"].as_str().expect("an id").to_owned();
    stage.ok(&["download", "--download-id", &id]);
    let error = stage.fails("timeout", &["download", "--next", "--timeout-ms", "500"]);
    assert_eq!(
        (error["reason"].clone(), error["dispatched"].clone()),
        ("no_download_ended".into(), "no".into())
    );
    let error = stage.fails("target_not_found", &["download", "--download-id", "nosuch"]);
    assert_eq!(error["reason"], "no_download");
    assert_eq!(stage.glassctl(["download", "--next", "--download-id", &id]).code, Some(2));
}

// contract: 7.3 report: 53
#[test]
fn a_long_name_keeps_its_ending() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with(
        "long",
        "words",
        &[("Content-Disposition", &format!("attachment; filename=\"{}.txt\"", "n".repeat(280)))],
    );
    visit.serve("long.html", "<!doctype html><title>Long</title><a href=long>Get</a>");
    stage.go(&visit, "long.html");
    let clicked = stage.ok(&["click", "name=Get"]);
    let id = clicked["evidence"]["downloads"][0]["downloadId"].as_str().expect("a download").to_owned();
    let taken = stage.ok(&["download", "--download-id", &id]);
    for (name, most) in [(&taken["path"], 4096), (&taken["pageFileName"], 256)] {
        let name = name.as_str().expect("a name");
        assert!(name.ends_with(".txt") && name.len() <= most, "{name}");
    }
}

// contract: 7.3, 10.5 report: 53
#[test]
fn nothing_is_written_outside_of_the_file_root_whatever_the_site_suggests() {
    let world = World::new();
    begin(&world, "..%2F..%2F.bashrc", "evil");
    std::os::unix::fs::symlink(world.path("home"), world.path("cwd/out")).expect("a link");
    fs::create_dir(world.path("cwd/in")).expect("a directory");
    world.give(&world.path("cwd/in"));
    for outside in ["..", "out", "/tmp", "in/../.."] {
        let error = world.fails("denied", &["download", outside]);
        assert_eq!(
            (error["reason"].clone(), error["dispatched"].clone()),
            ("outside_file_root".into(), "no".into())
        );
    }
    assert_eq!(world.glassctl(["download", "none"]).code, Some(2));
    let taken = world.ok(&["download", "in"]);
    let name = taken["path"].as_str().and_then(|path| path.rsplit('/').next()).expect("a name").to_owned();
    assert!(!name.starts_with('.') && !name.contains('/'), "{name}");
    assert_eq!(names(&world, "in"), [name]);
    assert!(fs::read_dir(world.path("home")).expect("home").next().is_none(), "home is as it was");
    // Another root can be named; a client that was started in / has none by itself.
    world.ok(&["click", "name=Get"]);
    let home = world.path("home");
    world.ok(&["download", ".", "--file-root", &home.to_string_lossy()]);
    let mut rootless = world.command("glassctl");
    rootless.args(["download"]).current_dir("/");
    assert_eq!(rootless.output().expect("it runs").status.code(), Some(5));
    assert_eq!(world.glassctl(["observe", "--file-root", "."]).code, Some(2), "nothing is ignored");
}

// contract: 9.5
#[test]
fn one_that_broke_off_is_told_and_leaves_no_file() {
    let world = World::new();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Files</title><a href=truncated download=cut.txt>Cut</a>");
    world.ok(&["navigate", &visit.url("page.html")]);
    let next = world.begin(&["download", "--next", "--timeout-ms", "25000"]);
    glass_tests::holds("it waits", LIMIT, || {
        world.ask(&["session", "show", "default"]).json.to_string().contains("\"download\"")
    });
    world.ok(&["click", "name=Cut"]);
    let answer = next.answer_within(LIMIT);
    assert_eq!(answer.result()["state"], "failed", "{}", answer.run);
    assert!(answer.result()["path"].is_null());
    assert_eq!(names(&world, "."), Vec::<String>::new());
}
