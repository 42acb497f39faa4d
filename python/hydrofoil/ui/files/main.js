// The page: its views by address, its keys, and the token that it asks for.

import { ApiError, getQuietly, onLogin, setToken } from "./api.js";
import { CONTROLS, RequestsView, ResourcesView, TestsView, WatchesView } from "./figures.js";
import { make } from "./dom.js";
import { ObjectView } from "./object.js";
import { find } from "./resources.js";
import { listen } from "./search.js";
import { StreamView } from "./stream.js";
import { TableView } from "./table.js";

const VIEWS = { "!/stream": StreamView, "!/watches": WatchesView, "!/requests": RequestsView, "!/tests": TestsView };
const main = document.getElementById("main");
let current = null;
let number = 0;

/** Return the view of an address. Throw ApiError. */
async function viewOf(address) {
  if (address in VIEWS) return new VIEWS[address]();
  const [name, ...rest] = address.replace(/^\//, "").split("/").map(decode);
  if (!name) return new ResourcesView();
  const resource = await find(name);
  if (!resource) throw new ApiError(404, `the server has no resource ${name}`);
  if (!resource.namespaced) return rest[0] ? new ObjectView(resource, "", rest[0]) : new TableView(resource, "");
  return rest[1] ? new ObjectView(resource, rest[0], rest[1]) : new TableView(resource, rest[0] ?? "");
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Show the view of the present address. */
async function show() {
  const own = ++number;
  const address = location.hash.slice(1);
  current?.stop();
  current = null;
  let view;
  try {
    view = await viewOf(address);
  } catch (error) {
    if (own !== number) return;
    main.replaceChildren(make("h1", { tabindex: -1 }, decode(address)), make("p", { class: "error", role: "alert" }, String(error)));
    return;
  }
  if (own !== number) {
    view.stop();
    return;
  }
  current = view;
  main.replaceChildren(...view.elements);
  document.title = `${view.title} · Hydrofoil`;
  for (const link of document.querySelectorAll("nav a")) {
    const target = link.getAttribute("href").slice(1);
    if (target === address || (target === "/" && !address.startsWith("!"))) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  view.start();
  view.focus();
}

/** Ask for a token. Throw the reason if there is none. */
function login(reason) {
  const dialog = document.getElementById("login");
  const field = document.getElementById("token");
  document.getElementById("login-why").textContent = String(reason);
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve, reject) => {
    dialog.addEventListener("close", () => {
      const text = field.value.trim();
      field.value = "";
      if (dialog.returnValue === "use" && text) resolve(text);
      else reject(reason);
    }, { once: true });
  });
}

/** Show the version of the server, and the view of tests if it has their controls. */
async function describe() {
  const version = await getQuietly("/version");
  document.getElementById("about").textContent = version?.gitVersion ?? "";
  document.getElementById("tests").hidden = !(await getQuietly(`${CONTROLS}/clock`));
}

function begin() {
  const key = /^#key=([\w-]+)/.exec(location.hash);
  if (key) {
    // The address would stay in the history of the browser.
    setToken(key[1]);
    history.replaceState(null, "", "#/");
  }
  onLogin(login);
  document.getElementById("login-cancel").addEventListener("click", () => document.getElementById("login").close());
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    current?.focus();
  });
  window.addEventListener("hashchange", show);
  listen();
  show().then(describe);
}

begin();
