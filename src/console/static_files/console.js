"use strict";
// Shortcuts, which a user can switch off (WCAG 2.1.4); single letters never act while something is entered. Words are in the
// document. Browsers that know `blocking` show nothing before this has run, so that a chosen colour scheme holds from the start.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  /** The colour scheme that was chosen for this session of the browser; null for that of the system. */
  const scheme = {
    read() {
      try { return sessionStorage.getItem("theme"); } catch { return null; }
    },
    choose(theme) {
      root.dataset.theme = theme;
      try { sessionStorage.setItem("theme", theme); } catch { /* It holds for this document only. */ }
    },
    switch() {
      const shown = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      this.choose(shown === "dark" ? "light" : "dark");
    },
  };
  const chosen = scheme.read();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  const hasShortcuts = () => "shortcuts" in document.body.dataset;
  const isEntering = (target) =>
    target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "checkbox";

  const rows = () => all("[data-row]");
  let place = -1;

  function move(step) {
    const found = rows();
    if (!found.length) return;
    found[place]?.classList.remove("here");
    place = Math.min(Math.max(place + step, 0), found.length - 1);
    found[place].classList.add("here");
    found[place].querySelector("a").focus();
  }

  const link = (key, within) => one(`${within} [data-key="${CSS.escape(key)}"]`);

  /** The search over the links of the document: sections, rows, actions. */
  const palette = {
    options: [],
    at: 0,
    open() {
      const input = one("#palette input");
      input.value = "";
      one("#palette").showModal();
      this.show();
      input.focus();
    },
    links() {
      const entry = (element) => ({ text: element.textContent.trim(), address: element.href });
      const found = all("#sections a, [data-row] a, main .heading a, main .actions a, main .tabs a").map(entry);
      const addresses = new Set();
      return found.filter(({ text, address }) => text && !addresses.has(address) && addresses.add(address));
    },
    show() {
      const text = one("#palette input").value.trim(), words = text.toLowerCase().split(/\s+/);
      const list = one("#found");
      this.options = this.links().filter((entry) => words.every((word) => entry.text.toLowerCase().includes(word)));
      this.options.length = Math.min(this.options.length, 12);
      if (text && one("#sections [href='/console/services']")) {
        this.options.push({
          text: `${list.dataset.search} ${text}`,
          address: `/console/services?q=${encodeURIComponent(text)}`,
        });
      }
      this.at = 0;
      list.replaceChildren(...this.options.map((entry, index) => {
        const item = document.createElement("li");
        item.id = `found-${index}`;
        item.setAttribute("role", "option");
        item.textContent = entry.text;
        item.addEventListener("click", () => location.assign(entry.address));
        return item;
      }));
      const status = one("#palette [role=status]");
      status.textContent = this.options.length ? "" : status.dataset.nothing;
      this.mark();
    },
    mark() {
      const items = all("#found > li");
      items.forEach((item, index) => item.setAttribute("aria-selected", String(index === this.at)));
      items[this.at]?.scrollIntoView({ block: "nearest" });
      one("#palette input").setAttribute("aria-activedescendant", items.length ? `found-${this.at}` : "");
    },
    receive(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && this.options.length) {
        this.at = (this.at + step + this.options.length) % this.options.length;
        this.mark();
      } else if (event.key === "Enter") {
        all("#found > li")[this.at]?.click();
      } else {
        return;
      }
      event.preventDefault();
    },
  };

  document.addEventListener("input", (event) => {
    if (event.target.matches("#palette input")) palette.show();
  });

  /** What a letter does; false if it does nothing here. */
  const letters = {
    j: () => move(1),
    k: () => move(-1),
    o() {
      const anchor = rows()[place]?.querySelector("a");
      if (!anchor) return false;
      window.open(anchor.href, "_blank", "noopener");
    },
    x() {
      const box = rows()[place]?.querySelector("[type=checkbox]");
      if (!box) return false;
      box.click();
    },
    "/"() {
      const search = one("[type=search]");
      if (!search) return false;
      search.focus();
      search.select();
    },
    "?": () => one("#keys").showModal(),
    d: () => scheme.switch(),
    ".": () => location.reload(),
  };

  let isGoing = false;

  document.addEventListener("keydown", (event) => {
    if (!hasShortcuts() || event.isComposing || event.defaultPrevented) return;
    const dialog = one("dialog[open]");
    if (dialog?.id === "palette") return palette.receive(event);
    if (dialog) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return palette.open();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isEntering(event.target)) return event.target.blur();
    if (isEntering(event.target)) return;
    let acted;
    if (isGoing) {
      isGoing = false;
      const section = link(event.key, "#sections");
      section?.click();
      acted = section !== null;
    } else if (event.key === "g") {
      acted = isGoing = true;
    } else if (Object.hasOwn(letters, event.key)) {
      acted = letters[event.key]() !== false;
    } else {
      const action = event.key.length === 1 && link(event.key, "main");
      if (action) action.click();
      acted = Boolean(action);
    }
    if (acted) event.preventDefault();
  });
})();
// The time zone of the browser is offered where none was chosen.
(() => {
  const field = document.querySelector("[data-own-zone]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (field && zone) field.value = zone;
})();
// What is shown follows the present state: when the server tells of a change, the content of the document is asked for again,
// and only what differs is changed. Rows stay where they are; nothing that is in use is changed. One tab of the browser has the
// stream of events, and tells the others. Without a stream, the content is asked for every few seconds.
(() => {
  const POLL_MS = 5000, AGE_MS = 30000, QUIET_MS = 60000, HIDDEN_MS = 30000;
  const regions = () => [...document.querySelectorAll("[data-live]")];
  if (!regions().length) return;
  // Screens for which much is read are asked for less often.
  const PACE_MS = Number(document.querySelector("[data-pace]")?.dataset.pace ?? 250);
  const policy = window.trustedTypes
    ? trustedTypes.createPolicy("wk", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  let tag = "", change = 0, isAsking = false, isWanted = false, hasSkipped = false, askedAt = Date.now(), movedAt = 0;
  document.addEventListener("pointermove", () => { movedAt = Date.now(); }, { passive: true });

  const isInUse = (region) =>
    region.contains(document.activeElement) || (region.matches(":hover") && Date.now() - movedAt < POLL_MS);

  function updateRow(row, fresh) {
    [...row.cells].forEach((cell, place) => {
      const other = fresh.cells[place];
      if (other && !cell.querySelector("input") && cell.innerHTML !== other.innerHTML) {
        cell.replaceChildren(...other.childNodes);
      }
    });
  }

  function updateTable(table, fresh) {
    const rows = (within) => [...within.querySelectorAll("tr[id]")];
    rows(table).forEach((row) => {
      const other = fresh.querySelector(`#${CSS.escape(row.id)}`);
      if (!other) return;
      if (row.contains(document.activeElement) && document.activeElement.type !== "checkbox") hasSkipped = true;
      else updateRow(row, other);
    });
    const order = (within) => rows(within).map((row) => row.id).join();
    const note = document.getElementById("other-rows");
    if (note) note.hidden = order(table) === order(fresh);
  }

  function update(region, fresh) {
    if (region.tagName === "TABLE") updateTable(region, fresh);
    else if (region.innerHTML === fresh.innerHTML) return;
    else if (isInUse(region)) hasSkipped = true;
    else {
      region.className = fresh.className;
      region.replaceChildren(...fresh.childNodes);
    }
  }

  /** Says that the server does not answer; a later round asks again. */
  function away(isAway) {
    const note = document.getElementById("away");
    if (note && note.hidden === isAway) note.hidden = !isAway;
  }

  async function refresh() {
    isWanted = true;
    if (document.hidden || isAsking) return;
    isAsking = true;
    isWanted = false;
    askedAt = Date.now();
    try {
      const headers = { "Console-Change": String(change), "If-None-Match": hasSkipped ? "" : tag };
      const answer = await fetch(location.href, { headers, cache: "no-store" });
      // The session has ended: the sign-in screen says so.
      if (answer.redirected) return location.reload();
      away(answer.status >= 500);
      if (answer.status !== 200) return;
      tag = answer.headers.get("ETag") ?? "";
      hasSkipped = false;
      const fresh = new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
      for (const region of regions()) {
        const other = fresh.getElementById(region.id);
        if (other) update(region, other);
      }
    } catch {
      away(true);
    } finally {
      setTimeout(() => {
        isAsking = false;
        if (isWanted) refresh();
      }, PACE_MS);
    }
  }

  const channel = window.BroadcastChannel && new BroadcastChannel("wk-console");
  let source = null, release = null, heardAt = 0, hiddenSince = 0;
  const isLive = () => Date.now() - heardAt < QUIET_MS;

  /** Takes what the stream says: the number of the last change, or null if it is silent. */
  function receive(number) {
    heardAt = number === null ? 0 : Date.now();
    if (!number || number === change) return;
    change = number;
    refresh();
  }

  function tell(number) {
    receive(number);
    channel?.postMessage(number);
  }

  function open() {
    source?.close();
    source = new EventSource("/console/events");
    source.onerror = () => tell(null);
    // A browser that was too slow has missed a change.
    const read = ({ type, data }) => tell(type === "reload" ? change + 1 : Number(data) || change);
    for (const kind of ["hello", "change", "alive", "reload"]) source.addEventListener(kind, read);
  }

  function close() {
    source?.close();
    source = null;
    release?.();
    release = null;
  }

  function start() {
    if (release) return;
    if (!navigator.locks || !channel) {
      release = () => {};
      return open();
    }
    const stop = new AbortController();
    release = () => stop.abort();
    navigator.locks.request("wk-console", { signal: stop.signal }, () => new Promise((done) => {
      release = done;
      open();
    })).catch(() => {});
    channel.postMessage("ask");
  }

  if (channel) {
    channel.onmessage = ({ data }) => {
      if (data !== "ask") receive(data);
      else if (source && isLive()) channel.postMessage(change);
    };
  }

  setInterval(() => {
    const now = Date.now();
    if (document.hidden) {
      hiddenSince ||= now;
      if (now - hiddenSince >= HIDDEN_MS) close();
      return;
    }
    hiddenSince = 0;
    if (source && source.readyState === EventSource.CLOSED) open();
    if (!isLive() || hasSkipped || now - askedAt >= AGE_MS) refresh();
  }, POLL_MS);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    start();
    if (isWanted || !isLive()) refresh();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted && !document.hidden) start(); });
  if (!document.hidden) start();
})();
