"use strict";
(() => {
  const policy = window.trustedTypes ? trustedTypes.createPolicy("wk", { createHTML: (html) => html }) : { createHTML: (html) => html };
  const parse = (html) => new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  const main = () => document.querySelector("main");
  const language = document.documentElement.lang;
  const base = document.body.dataset.base;
  // A static copy of the page has the time that it shows; nothing in it follows the server.
  const copy = document.body.dataset.copy;

  // Times in the zone of the visitor; the title keeps the time in UTC.
  const localize = (root) => {
    const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    const exact = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (isNaN(at) || time.title) continue;
      time.title = time.textContent;
      time.textContent = (time.textContent.length > 20 ? exact : format).format(at);
    }
  };

  // The choice of colours is a part of the address: links to the other documents keep it.
  const choice = new URLSearchParams(location.search).get("appearance");
  const keepChoice = (root) => {
    if (!choice || copy) return;
    for (const link of root.querySelectorAll('a[href^="/"]')) {
      const url = new URL(link.href);
      url.searchParams.set("appearance", choice);
      link.href = url.pathname + url.search + url.hash;
    }
  };

  // Replaces an element without moving the focus, and without closing what the visitor has opened.
  const replace = (old, fresh) => {
    const focused = old.contains(document.activeElement) && document.activeElement;
    for (const details of old.querySelectorAll("details[id]")) {
      const same = fresh.querySelector("#" + CSS.escape(details.id));
      if (same) same.open = details.open;
    }
    localize(fresh);
    keepChoice(fresh);
    old.replaceWith(fresh);
    bars(fresh);
    if (!focused) return;
    const href = focused.getAttribute("href");
    const again = (focused.id && document.getElementById(focused.id)) || (href && fresh.querySelector(`[href="${CSS.escape(href)}"]`));
    if (again) again.focus({ preventScroll: true });
  };

  // Says below the page whether the server can be reached; screen readers hear it.
  const reached = (is) => {
    const notice = document.getElementById("away");
    const text = is ? "" : notice.dataset.text;
    if (notice.textContent !== text) notice.textContent = text;
  };

  let tag = null;
  // The revision that the last event told, and how many changes were applied.
  let wanted = null;
  let changes = 0;
  let loads = 0;
  const load = async () => {
    const before = changes;
    const number = ++loads;
    const answer = await fetch(location.href, { cache: "no-cache" });
    reached(answer.status < 500);
    // The page is protected now, or offline: the answer says so.
    if ([401, 403, 404].includes(answer.status)) return location.reload();
    if (!answer.ok || (tag && answer.headers.get("ETag") === tag)) return;
    const fresh = parse(await answer.text()).querySelector("main");
    // Later than this answer, a change came by the stream, or another answer.
    if (changes !== before || loads !== number) return;
    tag = answer.headers.get("ETag");
    if (fresh && fresh.innerHTML !== main().innerHTML) replace(main(), document.adoptNode(fresh));
  };
  const refresh = () => load().catch(() => reached(false));
  // A cache in between may answer with the page from before the change, for some seconds.
  const refreshAfterEvent = async () => {
    await refresh();
    const shown = main().dataset.revision;
    if (!shown || shown !== wanted) setTimeout(refresh, 6000);
  };

  const apply = (change) => {
    changes += 1;
    wanted = change.revision;
    if (!main().dataset.revision) return refreshAfterEvent();
    for (const { id, html } of change.fragments) {
      const old = document.getElementById(id);
      const fresh = parse(html).body.firstElementChild;
      if (!old || !fresh) return refreshAfterEvent();
      replace(old, document.adoptNode(fresh));
    }
    main().dataset.revision = change.revision;
  };

  // One stream for each browser: the tab that holds the lock passes the events on to the others.
  const channel = window.BroadcastChannel && navigator.locks && !copy ? new BroadcastChannel("wk" + base) : null;
  let source = null;
  let release = null;
  // Until the stream says something, and after it was cut, the page asks for changes: first soon, then every half minute.
  let poll = null;
  const startPolling = (wait) => {
    poll ||= setTimeout(() => {
      poll = null;
      startPolling(20000 + Math.random() * 20000);
      if (!document.hidden) refresh();
      if (source && source.readyState === EventSource.CLOSED) open();
    }, wait);
  };
  const stopPolling = () => { clearTimeout(poll); poll = null; };
  const lost = () => {
    delete document.body.dataset.live;
    startPolling(5000 + Math.random() * 10000);
  };
  // A stream that says nothing for a minute is dead, although nobody closed it.
  let watch = null;
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(() => (source ? open() : lost()), 60000);
  };
  const receive = (kind, data) => {
    if (kind === "lost") return lost();
    if (kind === "ask") {
      if (source && wanted && document.body.dataset.live === "") channel.postMessage(["hello", wanted]);
      return;
    }
    heard();
    stopPolling();
    document.body.dataset.live = "";
    reached(true);
    if (kind === "alive") return;
    if (kind === "change") return apply(JSON.parse(data));
    wanted = kind === "hello" ? data : null;
    if (!wanted || wanted !== main().dataset.revision) refreshAfterEvent();
  };
  const tell = (kind, data) => {
    receive(kind, data);
    if (channel) channel.postMessage([kind, data]);
  };
  const open = () => {
    if (source) source.close();
    source = new EventSource(base + "/events");
    source.onerror = () => tell("lost");
    for (const kind of ["hello", "alive", "change", "reload"]) source.addEventListener(kind, (event) => tell(kind, event.data));
    lost();
    heard();
  };
  const close = () => {
    clearTimeout(watch);
    if (source) source.close();
    source = null;
    if (release) release();
    release = null;
  };
  const start = () => {
    if (source || release) return;
    if (!navigator.locks || !channel) return open();
    const stop = new AbortController();
    release = () => stop.abort();
    navigator.locks.request("wk-live" + base, { signal: stop.signal }, () => new Promise((done) => {
      if (stop.signal.aborted) return done();
      release = done;
      open();
    })).catch(() => {});
    // Until another tab tells what the stream says, this one asks by itself.
    lost();
    channel.postMessage(["ask"]);
  };
  if (channel) channel.onmessage = (event) => receive(...event.data);
  let away = null;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(away);
    if (copy) return;
    if (document.hidden) away = setTimeout(close, 30000);
    else if (!source && !release) { start(); refresh(); }
  });

  // Bars: one stop of the tab key; the arrow keys, the pointer and a finger choose a day.
  const tables = new Map();
  const table = (address) => {
    // A browser reads no other files for a document on a disk.
    if (location.protocol === "file:") return Promise.resolve(new Map());
    if (!tables.has(address)) setTimeout(() => tables.delete(address), 60000);
    if (!tables.has(address)) tables.set(address, fetch(address).then((answer) => answer.text()).then((html) => {
      const found = parse(html).querySelector("table");
      const heads = [...found.querySelectorAll("thead th")].map((cell) => cell.textContent);
      const row = (line) => {
        const cells = [...line.children].map((cell) => cell.textContent.trim());
        const rest = cells.slice(3).map((text, place) => text && `${heads[place + 3]} ${text}`).filter(Boolean);
        return [cells[0], `${cells[0]}: ${[cells[1], cells[2], ...rest].filter(Boolean).join(", ")}`];
      };
      return new Map([...found.querySelectorAll("tbody tr")].map(row));
    }));
    tables.get(address).catch(() => tables.delete(address));
    return tables.get(address);
  };
  const DAYS = 90;
  const bars = (root) => {
    for (const bar of root.querySelectorAll("a.bar")) {
      const svg = bar.querySelector("svg");
      const ends = bar.nextElementSibling;
      const said = ends.querySelector("[role=status]");
      if (!svg || !said || bar.dataset.ready) continue;
      bar.dataset.ready = "";
      const usual = said.textContent;
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      mark.setAttribute("class", "chosen");
      mark.setAttribute("width", "5");
      mark.setAttribute("height", "34");
      let day = DAYS - 1;
      const choose = async (next) => {
        day = Math.max(0, Math.min(DAYS - 1, next));
        mark.setAttribute("x", String(day * 5 - 0.5));
        svg.append(mark);
        const date = new Date((copy ? Date.parse(copy) : Date.now()) - (DAYS - 1 - day) * 86400000).toISOString().slice(0, 10);
        const rows = await table(bar.href);
        if (mark.isConnected) said.textContent = rows.get(date) || date;
      };
      const leave = () => { mark.remove(); said.textContent = usual; };
      const at = (event) => {
        const box = svg.getBoundingClientRect();
        const share = (event.clientX - box.left) / box.width;
        const day = Math.floor((document.documentElement.dir === "rtl" ? 1 - share : share) * DAYS);
        return Math.max(0, Math.min(DAYS - 1, day));
      };
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7, Home: -DAYS, End: DAYS };
      bar.addEventListener("keydown", (event) => {
        const by = step[event.key];
        if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        choose(day + (document.documentElement.dir === "rtl" && Math.abs(by) === 1 ? -by : by)).catch(() => {});
      });
      bar.addEventListener("focus", () => { if (bar.matches(":focus-visible")) choose(day).catch(() => {}); });
      bar.addEventListener("blur", leave);
      bar.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") choose(at(event)).catch(() => {}); });
      bar.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
      // The first touch of a finger shows the day, the second one follows the link.
      bar.addEventListener("click", (event) => {
        if (event.pointerType !== "touch" || at(event) === day && mark.isConnected) return;
        event.preventDefault();
        choose(at(event)).catch(() => {});
      });
    }
  };

  localize(document);
  keepChoice(document);
  bars(document);
  if (!document.hidden && !copy) start();
})();
