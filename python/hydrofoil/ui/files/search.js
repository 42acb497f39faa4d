// The field of a search, which the key `/` goes to.

import { make } from "./dom.js";

/** Return a field that calls `change` with its text, at most once a frame; Escape empties it, Enter leaves it for `next`. */
export function searchField(label, change, next) {
  let frame = 0;
  const field = make("input", {
    type: "search", "aria-label": label, placeholder: `${label} ( / )`, autocomplete: "off", spellcheck: "false",
    input: () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => change(field.value));
    },
    keydown: (event) => {
      if (event.key === "Escape" && field.value) {
        event.preventDefault();
        field.value = "";
        change("");
      } else if (event.key === "Enter" || event.key === "Escape" || event.key === "ArrowDown") {
        event.preventDefault();
        next.focus();
      }
    },
  });
  return field;
}

/** Let the key `/` go to the search of the view, except where it is typed. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.querySelector("main input[type=search]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
