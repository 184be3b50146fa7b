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
// What is shown follows the present state: the same document is asked for again, and only what differs is changed. Rows stay
// where they are; nothing that is in use is changed.
(() => {
  const EVERY_MS = 5000;
  const regions = () => [...document.querySelectorAll("[data-live]")];
  if (!regions().length) return;
  const policy = window.trustedTypes
    ? trustedTypes.createPolicy("wk", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  let tag = "", isAsking = false, movedAt = 0;
  document.addEventListener("pointermove", () => { movedAt = Date.now(); }, { passive: true });

  const isInUse = (region) =>
    region.contains(document.activeElement) || (region.matches(":hover") && Date.now() - movedAt < EVERY_MS);

  function updateRow(row, fresh) {
    [...row.cells].forEach((cell, place) => {
      const other = fresh.cells[place];
      if (other && !cell.querySelector("input") && cell.innerHTML !== other.innerHTML) {
        cell.replaceChildren(...other.childNodes);
      }
    });
  }

  function update(region, fresh) {
    if (region.tagName === "TABLE") {
      region.querySelectorAll("tr[id]").forEach((row) => {
        const other = fresh.querySelector(`#${CSS.escape(row.id)}`);
        if (other && !row.contains(document.activeElement)) updateRow(row, other);
      });
    } else if (!isInUse(region)) {
      region.replaceChildren(...fresh.childNodes);
    }
  }

  async function refresh() {
    if (document.hidden || isAsking) return;
    isAsking = true;
    try {
      const answer = await fetch(location.href, { headers: { "If-None-Match": tag }, cache: "no-store" });
      if (answer.status !== 200 || answer.redirected) return;
      tag = answer.headers.get("ETag") ?? "";
      const text = policy.createHTML(await answer.text());
      const fresh = new DOMParser().parseFromString(text, "text/html");
      for (const region of regions()) {
        const other = fresh.getElementById(region.id);
        if (other) update(region, other);
      }
    } catch {
      // The server is away; the next round asks again.
    } finally {
      isAsking = false;
    }
  }

  setInterval(refresh, EVERY_MS);
  document.addEventListener("visibilitychange", refresh);
})();
