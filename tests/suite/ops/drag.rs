//! `drag`: by the pointer and by the browser's own drag and drop; the button is let go whatever happens.

use glass_tests::Stage;

// contract: 5.3 report: 216
#[test]
fn a_list_that_is_sorted_by_pointer_events_is_sorted() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>Sort</title><style>li{height:30px;list-style:none;user-select:none}</style>
        <ul id="list"></ul><script>
          for (let n = 1; n < 6; n++) { const li = document.createElement('li'); li.id = 'i' + n; li.tabIndex = 0; li.role = 'button'; li.textContent = 'Item ' + n; list.append(li) }
          let item = null, start = null, moves = 0; buttons = new Set();
          list.addEventListener('pointerdown', (e) => { item = e.target.closest('li'); start = [e.clientX, e.clientY]; item.setPointerCapture(e.pointerId) });
          list.addEventListener('pointermove', (e) => { if (!item) return; buttons.add(e.buttons);
            if (Math.hypot(e.clientX - start[0], e.clientY - start[1]) < 8) return;
            const over = document.elementsFromPoint(e.clientX, e.clientY).find((n) => n.tagName === 'LI' && n !== item);
            moves = over ? moves + 1 : 0; if (over && moves >= 2) over.after(item) });
          list.addEventListener('pointerup', () => { item = null });
        </script>"#,
    );
    let result = stage.ok(&["drag", "name=Item 1", "name=Item 4"]);
    assert_eq!(result["evidence"]["drag"], "pointer", "{result}");
    assert_eq!(stage.eval("[...list.children].map((li) => li.id).join() "), "i2,i3,i4,i1,i5", "{result}");
    assert_eq!(stage.eval("[...buttons]"), serde_json::json!([1]), "the button is down at every step");
    stage.ok(&["hover", "name=Item 2"]);
    assert_eq!(stage.eval("[...buttons]"), serde_json::json!([1]), "and up afterwards");
}

const NATIVE: &str = r#"<!doctype html><title>Drop</title><style>div{height:60px;margin:10px;border:1px solid}</style>
<div id="card" draggable="true" role="button" tabindex="0" aria-label="Card">Card</div>
<div id="bin" role="region" aria-label="Bin">Bin</div><div id="wall" role="region" aria-label="Wall">Wall</div>
<script>
  trusted = [];
  card.addEventListener('dragstart', (e) => { e.dataTransfer.setData('text/plain', 'card-1'); trusted.push(e.isTrusted) });
  bin.addEventListener('dragover', (e) => e.preventDefault());
  bin.addEventListener('drop', (e) => { e.preventDefault(); got = e.dataTransfer.getData('text/plain'); trusted.push(e.isTrusted) });
  card.addEventListener('dragend', () => { ended = (window.ended ?? 0) + 1 });
</script>"#;

// contract: 5.3
#[test]
fn the_browsers_own_drag_and_drop_carries_its_data() {
    let stage = Stage::take();
    let _visit = stage.show(NATIVE);
    let result = stage.ok(&["drag", "name=Card", "name=Bin"]);
    assert_eq!(result["evidence"]["drag"], "native", "{result}");
    assert_eq!(result["evidence"]["hitTarget"]["label"], "Bin", "{result}");
    assert_eq!(stage.eval("[got, trusted]"), serde_json::json!(["card-1", [true, true]]));
    stage.ok(&["click", "name=Card"]);
}

// contract: 2.1, 5.7
#[test]
fn a_destination_that_takes_no_drop_is_no_success() {
    let stage = Stage::take();
    let _visit = stage.show(NATIVE);
    let error = stage.fails("verification_failed", &["drag", "name=Card", "name=Wall"]);
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("failed"), Some("not_dropped")),
        "{error}"
    );
    assert_eq!(stage.eval("window.got"), serde_json::Value::Null);
}

// contract: 5.3, 5.7 report: 217
#[test]
fn a_destination_that_the_drag_makes_is_found_and_one_that_never_comes_cancels_it() {
    let stage = Stage::take();
    let _visit = stage.show(NATIVE);
    stage.eval(
        "card.addEventListener('dragstart', () => setTimeout(() => { const zone = document.createElement('div'); zone.role = 'region'; zone.ariaLabel = 'Delete'; zone.ondragover = (e) => e.preventDefault(); zone.ondrop = () => { deleted = 1 }; document.body.prepend(zone) }, 50)); 1",
    );
    stage.ok(&["drag", "name=Card", "name=Delete"]);
    assert_eq!(stage.eval("deleted"), 1);
    let error = stage.fails("target_not_found", &["drag", "name=Card", "name=Nowhere"]);
    assert_eq!(
        (error["outcome"].as_str(), error["dispatched"].as_str()),
        (Some("failed"), Some("yes")),
        "{error}"
    );
    stage.ok(&["click", "name=Card"]);
}

// contract: 5.3 report: 216
#[test]
fn a_list_that_heeds_no_move_for_a_while_after_each_place_is_sorted_to_the_end() {
    let stage = Stage::take();
    stage.show(
        r#"<!doctype html><title>Deaf</title><style>li{height:30px;list-style:none}</style><ul id="list"></ul><script>
          for (const name of ['One', 'Two', 'Three', 'Four']) { const li = document.createElement('li'); li.textContent = name; li.draggable = true; list.append(li) }
          let item = null, deaf = false;
          list.ondragstart = (e) => { item = e.target };
          list.ondragover = (e) => { e.preventDefault(); const over = e.target.closest('li'); if (deaf || !over || over === item) return;
            const order = [...list.children]; if (order.indexOf(over) > order.indexOf(item)) over.after(item); else over.before(item);
            deaf = true; setTimeout(() => { deaf = false }, 30) };
          list.ondrop = (e) => e.preventDefault();
        </script>"#,
    );
    stage.ok(&["drag", "text=One", "text=Four"]);
    assert_eq!(stage.eval("[...list.children].map((li) => li.textContent).indexOf('One')"), 3);
}

// contract: 5.3 report: 216
#[test]
fn a_list_that_looks_every_50_ms_is_sorted_to_the_end_both_ways() {
    let stage = Stage::take();
    stage.show(
        r#"<!doctype html><title>Looks</title><style>li{height:30px;list-style:none;user-select:none}</style><ul id="list"></ul><script>
          for (const name of ['Ape', 'Bee', 'Cat']) { const li = document.createElement('li'); li.textContent = name; list.append(li) }
          let item = null, at = null, seen = null;
          list.onpointerdown = (e) => { item = e.target };
          document.onpointermove = (e) => { at = [e.clientX, e.clientY] };
          document.onpointerup = () => { item = null };
          setInterval(() => { if (!item || !at || String(at) === String(seen)) return; seen = at;
            const over = document.elementFromPoint(...at).closest('li'); if (!over || over === item) return;
            const order = [...list.children]; if (order.indexOf(over) > order.indexOf(item)) over.after(item); else over.before(item) }, 50);
        </script>"#,
    );
    let order = "[...list.children].map((li) => li.textContent).join()";
    stage.ok(&["drag", "text=Ape", "text=Cat"]);
    assert_eq!(stage.eval(order), "Bee,Cat,Ape");
    stage.ok(&["drag", "text=Ape", "text=Bee"]);
    assert_eq!(stage.eval(order), "Ape,Bee,Cat");
}
