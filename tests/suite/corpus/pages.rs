//! The pages. Each has the same button and field, and something that breaks tools which read or drive pages.

/// One file of a page.
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) text: String,
    pub(super) headers: Vec<(&'static str, &'static str)>,
}

/// A page; its first file is the one that is loaded.
pub(super) struct Hostile {
    pub(super) name: &'static str,
    pub(super) files: Vec<File>,
    /// Whether `GLASS_CORPUS=quick` takes it.
    pub(super) quick: bool,
    /// Whether operations may fail, as long as what they say is true.
    pub(super) loose: bool,
    /// The deadline of each operation.
    pub(super) seconds: u64,
    /// The event that shows a press.
    pub(super) press: &'static str,
}

const LEDGER: &str = r#"<script src="ledger.js"></script>"#;
const CONTROLS: &str = r#"<button id="go">Go on</button> <label>Your name <input id="name"></label>"#;

fn html(head: &str, body: &str) -> String {
    format!(
        "<!doctype html><meta charset=utf-8><title>Hostile</title>{LEDGER}{head}<body>{CONTROLS}{body}</body>"
    )
}

fn file(path: &'static str, text: String) -> File {
    File { path, text, headers: vec![] }
}

fn page(name: &'static str, head: &str, body: &str) -> Hostile {
    let files = vec![file("page.html", html(head, body))];
    Hostile { name, files, quick: false, loose: false, seconds: 12, press: "click" }
}

fn script(name: &'static str, script: &str) -> Hostile {
    page(name, &format!("<script>{script}</script>"), "")
}

fn later(name: &'static str, script: &str) -> Hostile {
    page(name, "", &format!("<script>{script}</script>"))
}

impl Hostile {
    fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    fn loose(self) -> Self {
        Self { loose: true, ..self }
    }

    /// Chromium itself takes long over it.
    fn patient(self) -> Self {
        Self { seconds: 90, ..self }
    }

    fn press(self, press: &'static str) -> Self {
        Self { press, ..self }
    }

    fn with(mut self, headers: &[(&'static str, &'static str)]) -> Self {
        self.files[0].headers.extend(headers);
        self
    }

    fn and(mut self, other: File) -> Self {
        self.files.push(other);
        self
    }
}

pub(super) fn all() -> Vec<Hostile> {
    let mut pages = names();
    pages.extend(built_ins());
    pages.extend(policies());
    pages.extend(restless());
    pages.extend(huge());
    pages.extend(traps());
    pages.extend(documents());
    pages
}

fn names() -> Vec<Hostile> {
    let clobber = "parentNode nodeType tagName attributes getAttribute matches closest querySelector \
        getBoundingClientRect shadowRoot style id className elements length value checked focus submit constructor";
    let inputs: String =
        clobber.split_whitespace().map(|name| format!(r#"<input type=hidden name="{name}">"#)).collect();
    vec![
        page("clobbered-names", "", &format!(
            "<form>{inputs}<img name=body><img name=querySelector></form><form name=documentElement></form><form name=activeElement></form>"
        )).quick(),
        page("surrogates", "", r#"<p id=p></p><button id=odd></button><script>
            p.textContent = 'lone \ud800 and \udfff'; odd.textContent = '\udc00'; odd.title = '\ud83d'; document.title = '\udbff';</script>"#),
        page("direction", "", "<button>\u{202e}no oG\u{202c}</button><p>\u{2066}\u{202e}evil\u{2069}</p><button>Go\u{2060} off</button>"),
        Hostile { files: vec![file("page.html", html("", "").replace("Your name", "Your\u{200b} \u{ad}na\u{feff}me"))], ..page("zero-width", "", "") },
        page("same-ids", "", "<p id=other>x</p><p id=other>y</p><a name=other>z</a><output for=other></output><label for=nothing>Your\u{a0}surname</label>"),
    ]
}

fn built_ins() -> Vec<Hostile> {
    vec![
        script("replaced-built-ins", r"
            const bad = () => { throw new Error('replaced'); };
            for (const name of ['map', 'filter', 'forEach', 'push', 'slice', 'join', 'indexOf', 'includes', 'some', 'find', 'concat', Symbol.iterator])
              Array.prototype[name] = bad;
            for (const name of ['replace', 'trim', 'split', 'slice', 'toLowerCase', 'normalize', 'startsWith']) String.prototype[name] = bad;
            for (const name of ['get', 'set', 'has', 'delete']) { Map.prototype[name] = bad; WeakMap.prototype[name] = bad; Set.prototype[name] = bad; }
            JSON.stringify = bad; JSON.parse = bad; Promise.prototype.then = bad; Object.keys = bad; Function.prototype.call = bad;
            Function.prototype.apply = bad; Function.prototype.bind = bad; window.requestAnimationFrame = bad; window.setTimeout = bad;
            window.MutationObserver = bad; window.getComputedStyle = bad; Element.prototype.getBoundingClientRect = bad;
            Document.prototype.elementFromPoint = bad; Document.prototype.createTreeWalker = bad; Node.prototype.contains = bad;").quick(),
        script("polluted-prototypes", r"
            for (const name of ['ref', 'role', 'name', 'value', 'id', 'type', 'nodes', 'frame', 'get', 'set', 'then', 'toJSON', 'next', 'done', 'ok', 'error', 'reason'])
              Object.defineProperty(Object.prototype, name, { get() { return 'polluted'; }, set(value) { throw new Error('set'); }, configurable: true });").quick(),
        script("frozen-prototypes", r"
            for (const name of Object.getOwnPropertyNames(window)) try { const it = window[name];
              if (typeof it === 'function' && it.prototype) { Object.freeze(it.prototype); Object.freeze(it); } } catch {}
            Object.freeze(Object.prototype); Object.freeze(Array.prototype);"),
        script("proxies", r"
            const trap = (it) => new Proxy(it, { get() { throw new Error('trap'); }, apply() { throw new Error('trap'); }, construct() { throw new Error('trap'); }, has() { throw new Error('trap'); } });
            for (const name of ['Element', 'HTMLElement', 'Node', 'Document', 'Event', 'MouseEvent', 'MutationObserver', 'Array', 'Object', 'Promise', 'Map', 'WeakMap', 'WeakRef', 'JSON', 'Reflect'])
              try { window[name] = trap(window[name]); } catch {}"),
        later("own-members", r"
            for (const node of document.querySelectorAll('*')) for (const name of ['getBoundingClientRect', 'getAttribute', 'matches', 'focus', 'scrollIntoView', 'contains', 'isConnected', 'parentNode', 'textContent'])
              Object.defineProperty(node, name, { get() { throw new Error('own'); } });"),
        script("custom-elements", r"
            class Bad extends HTMLElement { static observedAttributes = ['id', 'class', 'title'];
              constructor() { super(); } connectedCallback() { this.textContent = 'x'; throw new Error('c'); } attributeChangedCallback() { throw new Error('a'); }
              get role() { throw new Error('r'); } get ariaLabel() { throw new Error('l'); } }
            customElements.define('x-bad', Bad);
            addEventListener('DOMContentLoaded', () => { for (let n = 0; n < 500; n += 1) { const it = document.createElement('x-bad'); it.id = n; document.body.append(it); } });"),
        script("window-members", r"
            for (const name of ['innerWidth', 'innerHeight', 'scrollX', 'scrollY', 'devicePixelRatio', 'visualViewport', 'performance', 'name', 'length', 'parent', 'frames', 'opener', 'event'])
              try { Object.defineProperty(window, name, { get() { throw new Error('member'); }, configurable: true }); } catch {}"),
    ]
}

fn policies() -> Vec<Hostile> {
    vec![
        page("content-policy", "", "").with(&[("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")]).quick(),
        page("trusted-types", "", "").with(&[("Content-Security-Policy", "require-trusted-types-for 'script'; trusted-types 'none'; script-src 'self'")]),
        page("isolated-origin", "", "").with(&[("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"), ("Origin-Agent-Cluster", "?1"), ("Permissions-Policy", "clipboard-read=(), fullscreen=()")]),
        later("service-worker", "navigator.serviceWorker.register('worker.js');").and(File {
            path: "worker.js",
            text: "oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim()); onfetch = (event) => { if (/image/.test(event.request.url)) event.respondWith(new Promise(() => {})); };".into(),
            headers: vec![("Content-Type", "text/javascript")],
        }),
    ]
}

fn restless() -> Vec<Hostile> {
    vec![
        later("rewrites-itself", &format!(r"setTimeout(() => {{ document.open(); document.write('<title>Written</title>{}{}'); document.close(); }}, 300);",
            LEDGER.replace("</script>", r"<\/script>"), CONTROLS)),
        later("detaches-itself", r"
            go.addEventListener('pointerdown', () => { const parent = go.parentNode; go.remove(); setTimeout(() => parent.prepend(go), 50); });").loose().press("mousedown"),
        later("mutation-storm", r"
            const box = document.createElement('div'); document.body.append(box);
            setInterval(() => { box.textContent = ''; for (let n = 0; n < 200; n += 1) { const it = document.createElement('span'); it.textContent = Math.random(); it.setAttribute('aria-label', n); box.append(it); } }, 0);").quick(),
        later("attribute-storm", r"let n = 0; setInterval(() => { for (const it of document.querySelectorAll('*')) { it.className = 'c' + n; it.setAttribute('data-n', n); } n += 1; }, 0);"),
        later("busy-frames", r"const spin = () => { const end = performance.now() + 40; while (performance.now() < end); requestAnimationFrame(spin); }; spin();").quick(),
        later("long-tasks", r"setInterval(() => { const end = performance.now() + 700; while (performance.now() < end); }, 1000);"),
        later("history-spam", r"let n = 0; setInterval(() => history.pushState(n, '', '?n=' + (n += 1)), 5);"),
        later("hash-spam", r"let n = 0; setInterval(() => { location.hash = n += 1; }, 20);"),
        later("title-spam", r"const long = 'x'.repeat(1 << 20); let n = 0; setInterval(() => { document.title = n += 1; document.title = long + n; }, 10);"),
        page("meta-refresh", r#"<meta http-equiv="refresh" content="1">"#, "").loose(),
        page("moving", "<style>#go { position: absolute; animation: go .3s linear infinite alternate } @keyframes go { from { left: 0 } to { left: 400px } } body { padding-top: 3em }</style>", "").loose(),
        page("spinning", "<style>p { animation: turn .2s linear infinite } @keyframes turn { to { transform: rotate(1turn) } }</style>", &"<p>round</p>".repeat(300)),
        later("focus-thief", r"const thief = document.createElement('input'); thief.id = 'thief'; document.body.append(thief); setInterval(() => thief.focus(), 5);").loose(),
        later("scroll-thief", r"
            go.style.marginTop = '4000px'; go.style.display = 'block'; addEventListener('scroll', () => scrollTo(0, 0)); setInterval(() => scrollTo(0, 0), 5);").loose(),
        later("endless-fetches", r"setInterval(() => { fetch('hang').catch(() => {}); }, 200);"),
    ]
}

fn huge() -> Vec<Hostile> {
    vec![
        later("hundred-thousand", r"let text = ''; for (let n = 0; n < 100000; n += 1) text += '<i>' + n + '</i>'; document.body.insertAdjacentHTML('beforeend', text);"),
        later("giant-attributes", r"
            const long = 'a'.repeat(5 << 20); for (const name of ['title', 'aria-label', 'data-x', 'class', 'href']) {
              const it = document.createElement('a'); it.textContent = name; it.setAttribute(name, long); document.body.append(it); }"),
        later("giant-text", r"const it = document.createElement('p'); it.textContent = 'word '.repeat(2 << 20); document.body.append(it);"),
        later("thousand-frames", r"for (let n = 0; n < 1000; n += 1) { const it = document.createElement('iframe'); it.srcdoc = '<button>f' + n + '</button>'; document.body.append(it); }").patient(),
        later("deep-nesting", r"let at = document.body; for (let n = 0; n < 2000; n += 1) { const it = document.createElement('div'); at.append(it); at = it; } at.textContent = 'bottom';"),
        later("deeper-than-chromium", r"let at = document.body; for (let n = 0; n < 10000; n += 1) { const it = document.createElement('div'); at.append(it); at = it; } at.textContent = 'bottom';").loose(), // its renderer crashes, also without Glass
        later("deep-shadows", r"let at = document.body; for (let n = 0; n < 200; n += 1) { const it = document.createElement('div'); at.append(it); at = it.attachShadow({ mode: n % 2 ? 'open' : 'closed' }); }
            at.innerHTML = '<button>Bottom</button>';").quick(),
        later("many-options", r"const it = document.createElement('select'); for (let n = 0; n < 20000; n += 1) it.append(new Option('o' + n)); document.body.append(it);"),
        later("giant-table", r"let text = '<table>'; for (let n = 0; n < 5000; n += 1) text += '<tr><td colspan=1000 rowspan=65534>' + n + '<th scope=row>h'; document.body.insertAdjacentHTML('beforeend', text);"),
        later("label-cycles", r"
            let text = ''; for (let n = 0; n < 500; n += 1) text += `<div id=l${n} role=button aria-labelledby='l${(n + 1) % 500} l${(n + 7) % 500}' aria-owns=l${(n + 3) % 500} tabindex=0>x</div>`;
            document.body.insertAdjacentHTML('beforeend', text);"),
    ]
}

fn traps() -> Vec<Hostile> {
    vec![
        later("alert-loop", r"setInterval(() => alert('again'), 50);").loose(),
        later("alert-on-everything", r"for (const kind of ['pointerdown', 'mouseup', 'click', 'focusin', 'input']) addEventListener(kind, () => alert(kind));").loose(),
        later("print-loop", r"setInterval(() => print(), 100);").quick(),
        later("beforeunload-trap", r"addEventListener('beforeunload', (event) => { event.preventDefault(); event.returnValue = 'stay'; }); addEventListener('pagehide', () => { for (;;) { if (performance.now() > 1e12) break; if (Math.random() < 1e-7) break; } });"),
        later("grabs-everything", r"addEventListener('click', () => { document.documentElement.requestFullscreen().catch(() => {}); document.body.requestPointerLock(); navigator.keyboard?.lock?.(); });"),
        later("popup-storm", r"const storm = () => { for (let n = 0; n < 60; n += 1) open('plain.html?' + n, '_blank'); }; storm(); go.addEventListener('click', storm);"),
        later("asks-for-everything", r"
            Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}); navigator.mediaDevices?.getUserMedia({ audio: true, video: true }).catch(() => {});
            navigator.clipboard.readText().catch(() => {}); navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16) } }).catch(() => {});
            navigator.registerProtocolHandler('web+x', location.href + '?%s'); navigator.storage.persist(); document.requestStorageAccess?.().catch(() => {});"),
        later("stops-events", r"
            for (const kind of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'keydown', 'keypress', 'beforeinput', 'input', 'focusin'])
              addEventListener(kind, (event) => event.stopImmediatePropagation(), true);").quick(),
        page("base-tricks", "", r#"<base href="javascript:alert(1)//" target="_blank"><a href="x">Go</a><form action="y"><button formaction="javascript:alert(2)">Send</button></form>"#),
        later("dialog-over-all", r"const it = document.createElement('dialog'); it.append(...document.body.childNodes); document.body.append(it); it.showModal(); it.addEventListener('cancel', (event) => event.preventDefault());"),
        later("downloads", r"setInterval(() => { const it = document.createElement('a'); it.href = 'data:application/octet-stream,x'; it.download = '../../\u202egpj.exe'; it.click(); }, 300);"),
        later("window-close", r"setInterval(() => { close(); self.close(); history.go(5); history.forward(); stop(); }, 50);"),
        later("design-mode", "document.designMode = 'on';").loose(),
    ]
}

fn documents() -> Vec<Hostile> {
    let xhtml = format!(
        r#"<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title><script src="ledger.js"></script></head><body>{}</body></html>"#,
        CONTROLS.replace(r#"<input id="name">"#, r#"<input id="name"/>"#)
    );
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml" width="600" height="300"><h:script src="ledger.js"></h:script>
        <g id="go" role="button" tabindex="0" aria-label="Go on"><rect width="100" height="40" fill="teal"/><text y="20">Go on</text></g>
        <foreignObject y="60" width="500" height="60"><body xmlns="http://www.w3.org/1999/xhtml"><label>Your name <input id="name"/></label></body></foreignObject></svg>"#
        .to_owned();
    let text = |name, kind: &'static str, text: String| {
        let mut page = page(name, "", "");
        page.files = vec![File { path: "page.html", text, headers: vec![("Content-Type", kind)] }];
        page
    };
    vec![
        text("xhtml", "application/xhtml+xml", xhtml).quick(),
        text("svg", "image/svg+xml", svg),
        text(
            "broken-xml",
            "application/xhtml+xml",
            "<html xmlns='http://www.w3.org/1999/xhtml'><p>cut".to_owned(),
        )
        .loose(),
        text("plain-text", "text/plain", "Go on\u{0}\u{1b}[2J\u{202e}".to_owned()).loose(),
        page("quirks-frameset", "", "<frameset><frame src='plain.html'></frameset>"),
        page("plaintext", "", "<plaintext>&lt;b&gt;</b></body></html>"),
    ]
}
