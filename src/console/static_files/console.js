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
