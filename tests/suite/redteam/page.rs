//! A hostile page: what it sends toward hosts that no rule allows, and what it does to the browser and to others.

use glass_tests::site::site;
use glass_tests::{World, holds};

use super::{Forbidden, LIMIT, only_the_site};

// contract: 10.3 DESIGN 5 report: 46, 252
#[test]
fn nothing_that_it_sends_reaches_a_host_that_no_rule_allows() {
    let world = World::new();
    only_the_site(&world);
    let forbidden = Forbidden::new();
    let port = forbidden.port();
    let visit = site().visit();
    visit.serve_with(
        "worker.js",
        &format!(
            "self.onfetch = (event) => {{ fetch('http://127.0.0.1:{port}/from-worker', {{mode: 'no-cors'}}); event.respondWith(fetch(event.request)); }};
            self.onactivate = () => clients.claim();
            fetch('http://127.0.0.1:{port}/worker-start', {{mode: 'no-cors'}});"
        ),
        &[("Content-Type", "text/javascript")],
    );
    let script = format!(
        "const p = {port}, at = 'http://127.0.0.1:' + p + '/';
        const add = (tag, members, into) => (into || document.head).append(Object.assign(document.createElement(tag), members));
        for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1', '2130706433', '0x7f.1', '0.0.0.0', 'x.localhost', 'user@127.0.0.1']) {{
            for (const scheme of ['http', 'https']) {{
                const url = scheme + '://' + host + ':' + p + '/';
                for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'preload', 'modulepreload', 'icon', 'manifest', 'stylesheet'])
                    add('link', {{rel, href: url + rel, as: 'image'}});
                for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'])
                    try {{ fetch(url, {{mode: 'no-cors', keepalive: true, method: method === 'GET' || method === 'POST' ? method : 'GET'}}).catch(() => 0); }} catch (_) {{}}
                navigator.sendBeacon(url, 'x');
                for (const tag of ['img', 'script', 'iframe', 'video', 'audio', 'embed', 'track']) add(tag, {{src: url + tag}}, document.body);
                add('object', {{data: url}}, document.body);
                add('form', {{action: url, method: 'post', target: 'f' + Math.random()}}, document.body);
                document.forms[document.forms.length - 1].submit();
                try {{ new WebSocket(url.replace('http', 'ws')); }} catch (_) {{}}
                try {{ new EventSource(url); }} catch (_) {{}}
                try {{ new WebTransport('https://' + host + ':' + p + '/'); }} catch (_) {{}}
                try {{ new SharedWorker(url); }} catch (_) {{}}
            }}
            try {{
                const rtc = new RTCPeerConnection({{iceServers: [{{urls: 'stun:' + host + ':' + p}}, {{urls: 'turn:' + host + ':' + p + '?transport=tcp', username: 'u', credential: 'c'}}]}});
                rtc.createDataChannel('x');
                rtc.createOffer().then((offer) => rtc.setLocalDescription(offer)).catch(() => 0);
            }} catch (_) {{}}
        }}
        const rules = document.createElement('script'); rules.type = 'speculationrules';
        rules.text = JSON.stringify({{prefetch: [{{source: 'list', urls: [at + 'speculated']}}], prerender: [{{source: 'list', urls: [at + 'prerendered']}}]}});
        document.head.append(rules);
        add('style', {{textContent: '@import \"' + at + 'css\"; @font-face {{font-family: f; src: url(' + at + 'font)}} body {{font-family: f; background: url(' + at + 'image)}}'}});
        add('meta', {{httpEquiv: 'Link', content: '<' + at + '>; rel=preconnect'}});
        navigator.serviceWorker.register('worker.js').then(() => navigator.serviceWorker.ready).then(() => fetch('through-worker')).catch(() => 0)
            .finally(() => setTimeout(() => document.title = 'done', 500));"
    );
    visit.serve_with(
        "hostile.html",
        &format!("<!doctype html><title>Hostile</title><body><a id=l ping='http://127.0.0.1:{port}/ping' href='#x'>Ping</a><script>{script}</script>"),
        &[("Link", &format!("<http://127.0.0.1:{port}/early>; rel=preload; as=script"))],
    );
    world.ok(&["navigate", &visit.url("hostile.html"), "--wait-until", "commit"]);
    world.ok(&["wait", "js=document.title === 'done'", "--timeout-ms", "30000"]);
    world.ok(&["click", "Ping"]);
    for code in ["302", "307"] {
        let away = visit.url(&format!("redirect?to=http://127.0.0.1:{port}/{code}"));
        world.fails("denied", &["navigate", &away]);
    }
    world.fails("denied", &["navigate", &format!("http://127.0.0.1:{port}/")]);
    forbidden.assert_untouched();
    world.ok(&["session", "close", "default"]);
    forbidden.assert_untouched();
}

// contract: 1.6, 1.7, 11 report: 76
#[test]
fn what_it_does_to_its_browser_is_bounded_and_no_other_session_feels_it() {
    let world = World::new();
    let visit = site().visit();
    let other = site().visit();
    visit.serve(
        "floods.html",
        "<!doctype html><title>Floods</title><button id=go>Go</button><script>
        addEventListener('click', () => {
            const often = (what) => setInterval(() => { try { what(); } catch (_) {} }, 1);
            often(() => open('about:blank'));
            often(() => open(location.href, '_blank', 'popup'));
            often(() => history.pushState(0, '', '?' + Math.random()));
            often(() => location.hash = Math.random());
            often(() => console.log('x'.repeat(10000)));
            often(() => { document.title = 'y'.repeat(100000) + Math.random(); });
            often(() => document.body.append(document.createElement('iframe')));
            often(() => postMessage('z'.repeat(10000)));
            const blob = URL.createObjectURL(new Blob(['b'.repeat(100000)]));
            often(() => { const a = document.createElement('a'); a.href = blob; a.download = 'f'; a.click(); });
            setTimeout(() => { for (;;) alert('again and again'); }, 300);
            onbeforeunload = () => 'stay';
        });
        </script>",
    );
    world.ok(&["navigate", &other.url("form.html"), "--session", "other"]);
    let daemon = world.daemon();
    world.ok(&["navigate", &visit.url("floods.html"), "--session", "hostile"]);
    world.ask(&["click", "name=Go", "--session", "hostile", "--timeout-ms", "5000"]);
    for _ in 0..5 {
        let answer = world.begin(&["click", "name=Save", "--session", "other"]).answer_within(LIMIT);
        answer.result();
        let answer = world.begin(&["list-targets", "--session", "hostile"]).answer_within(LIMIT);
        if answer.kind().is_none() {
            let targets = answer.result()["targets"].as_array().map_or(0, Vec::len);
            assert!(targets <= 32, "{targets} targets");
        }
        world.begin(&["observe", "--session", "hostile", "--timeout-ms", "2000"]).answer_within(LIMIT);
        world.begin(&["dismiss-dialog", "--session", "hostile"]).answer_within(LIMIT);
    }
    assert_eq!(other.clicks().len(), 5);
    let answer = world.begin(&["session", "close", "hostile"]).answer_within(LIMIT);
    answer.result();
    assert_eq!(world.daemon(), daemon);
    holds("its files are gone", glass_tests::GONE, || world.session_directories().len() == 1);
}
