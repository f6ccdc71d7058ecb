"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  root.classList.add("script");

  // Theme: the system's until the button is pressed; remembered where the browser allows it for files.
  const memory = {
    get: () => { try { return localStorage.getItem("sinkproof-theme"); } catch { return null; } },
    set: (value) => { try { localStorage.setItem("sinkproof-theme", value); } catch { /* private window */ } },
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => byId("theme").setAttribute("aria-pressed", String(dark()));
  if (["dark", "light"].includes(memory.get())) root.dataset.theme = memory.get();
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    memory.set(root.dataset.theme);
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  // Filters hide rows of the table and the claims themselves.
  const body = byId("table").tBodies[0];
  const rows = [...body.rows];
  const fields = ["family", "headline", "grade"];
  const filter = () => {
    const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = fields.every((name) => !byId(name).value || row.dataset[name] === byId(name).value)
        && words.every((word) => row.dataset.search.includes(word));
      row.hidden = !fits;
      byId(row.dataset.claim).hidden = !fits;
      shown += fits;
    }
    byId("count").textContent = `${shown} of ${rows.length} claims`;
    byId("none").hidden = shown > 0;
  };
  byId("query").addEventListener("input", filter);
  fields.forEach((name) => byId(name).addEventListener("change", filter));
  const form = document.querySelector(".filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));

  // Sorting: numbers as numbers, words as words; a second press turns the order round.
  const order = (row, column) => row.cells[column].dataset.order;
  const compare = (a, b) => (a === b ? 0 : isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  for (const button of all(".sort")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      all("th[aria-sort]", byId("table")).forEach((cell) => cell.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const column = Number(button.dataset.column);
      const by = (place) => (a, b) => compare(order(a, place), order(b, place));
      const sorted = [...rows].sort((a, b) => by(column)(a, b) || by(0)(a, b));
      body.append(...(down ? sorted.reverse() : sorted));
    });
  }

  // Deep links: #G1 opens the claim, clears filters that hide it, and takes the keyboard there.
  const follow = () => {
    let name;
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const claim = name && byId(name);
    if (!claim || !claim.matches("details.claim")) return;
    if (claim.hidden) { form.reset(); filter(); }
    claim.open = true;
    claim.scrollIntoView();
    claim.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  addEventListener("load", follow); // going to the fragment, the browser takes the keyboard away again
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    // the same link twice changes no hash, and still has to open the claim
    if (link && (link.getAttribute("href") || link.href.baseVal) === location.hash) follow();
  });
  follow();

  const claims = all("details.claim");
  byId("open-all").addEventListener("click", () => claims.forEach((claim) => { claim.open = !claim.hidden; }));
  byId("close-all").addEventListener("click", () => claims.forEach((claim) => { claim.open = false; }));
  byId("plain").addEventListener("click", () => {
    byId("plain").setAttribute("aria-pressed", String(root.classList.toggle("as-text")));
  });

  // The arrows of the claim under the pointer or the keyboard.
  const edges = all(".edge");
  for (const node of all(".node")) {
    const mark = (on) => () => edges.forEach((edge) => edge.classList.toggle(
      "near", on && [edge.dataset.used, edge.dataset.user].includes(node.dataset.node)));
    ["mouseenter", "focus"].forEach((name) => node.addEventListener(name, mark(true)));
    ["mouseleave", "blur"].forEach((name) => node.addEventListener(name, mark(false)));
  }

  // Paper shows everything, and the screen is afterwards as it was.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((item) => { item.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((item) => { item.open = false; }));
})();
