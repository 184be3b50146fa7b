"use strict";
// Shortcuts by single letters, which a user can switch off (WCAG 2.1.4): none of them acts while something is entered.
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")];
  let place = -1, isGoing = false;

  const isEntering = (target) =>
    target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "checkbox";

  function move(step) {
    const all = rows();
    if (!all.length) return;
    all[place]?.classList.remove("here");
    place = Math.min(Math.max(place + step, 0), all.length - 1);
    all[place].classList.add("here");
    all[place].querySelector("a").focus();
  }

  const link = (key, root) => document.querySelector(`${root} [data-key="${CSS.escape(key)}"]`);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isEntering(event.target)) return event.target.blur();
    if (!("shortcuts" in document.body.dataset) || isEntering(event.target)) return;
    if (isGoing) {
      isGoing = false;
      const target = link(event.key, "#sections");
      if (target) { event.preventDefault(); target.click(); }
      return;
    }
    switch (event.key) {
      case "j": move(1); break;
      case "k": move(-1); break;
      case "g": isGoing = true; break;
      case "/": {
        const search = document.querySelector("[type=search]");
        if (!search) return;
        search.focus();
        break;
      }
      case "x": {
        const box = rows()[place]?.querySelector("[type=checkbox]");
        if (!box) return;
        box.checked = !box.checked;
        break;
      }
      case ".": location.reload(); break;
      default: {
        const target = link(event.key, "main");
        if (!target) return;
        target.click();
      }
    }
    event.preventDefault();
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
