"use strict";
(() => {
  const root = document.documentElement, tip = document.getElementById("tip"), theme = document.getElementById("theme");
  const make = (tag, attributes = {}, text = "") => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.textContent = text;
    return made;
  };

  // light or dark: the system's choice until the reader presses the button
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Show in ${dark() ? "light" : "dark"} colours`); };
  try { const kept = localStorage.getItem("manykernels-theme"); if (kept === "dark" || kept === "light") root.dataset.theme = kept; } catch { /* not kept */ }
  theme.hidden = false;
  label();
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("manykernels-theme", root.dataset.theme); } catch { /* not kept */ }
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);

  // the text of a mark, next to the pointer, or next to the mark for the arrow keys
  let shown = null;
  const hide = () => { tip.hidden = true; if (shown) shown.classList.remove("on"); shown = null; };
  const said = (mark) => {
    const row = mark.parentNode;
    if (row.dataset.n === undefined) return mark.dataset.t;
    const k = [...row.children].indexOf(mark), other = row.parentNode.querySelectorAll("[data-n]")[k];
    return row === other ? row.dataset.n : `${row.dataset.n} – ${other.dataset.n}: ${mark.dataset.t}`;
  };
  const show = (mark, x, y) => {
    if (shown !== mark) { hide(); shown = mark; mark.classList.add("on"); tip.textContent = said(mark); tip.hidden = false; }
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
  };
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest ? event.target.closest("[data-t]") : null;
    if (mark) show(mark, event.clientX, event.clientY); else if (shown && !shown.closest(":focus")) hide();
  });
  for (const chart of document.querySelectorAll("svg[data-marks]")) {
    const marks = [...chart.querySelectorAll("[data-t]")], across = Math.round(Math.sqrt(marks.length));
    const square = chart.classList.contains("square-chart");
    let at = -1;
    chart.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: square ? across : 1, ArrowUp: square ? -across : -1 };
      if (event.key === "Escape") hide();
      if (!(event.key in steps) || !marks.length) return;
      event.preventDefault();
      at = at < 0 ? 0 : Math.max(0, Math.min(marks.length - 1, at + steps[event.key]));
      const box = marks[at].getBoundingClientRect();
      show(marks[at], box.right, box.bottom);
    });
    chart.addEventListener("blur", hide);
  }

  // buttons that sort, filter and save tables
  const value = (row, k) => {
    const cell = row.cells[k];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === "number" ? 1 : typeof b === "number" ? -1 : a.localeCompare(b, undefined, { numeric: true });
  for (const table of document.querySelectorAll("table[data-tools]")) {
    const body = table.tBodies[0], rows = [...body.rows], caption = table.caption.firstElementChild.textContent;
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      if (head.dataset.sort === undefined) return;
      const span = head.querySelector("span"), button = make("button", { type: "button" });
      if (span.className === "unseen") return;
      button.append(...span.childNodes);
      span.replaceWith(button);
      button.addEventListener("click", () => {
        const numeric = rows.some((row) => row.cells[k].dataset.v !== undefined);
        const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric;
        for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...[...rows].sort((a, b) => (down ? -1 : 1) * compare(value(a, k), value(b, k))));
      });
    });
    const tools = make("div", { className: "tools" });
    if (rows.length > 8 && !table.closest(".pair")) {
      const field = make("label", {}, "Filter"), input = make("input", { type: "search" }), told = make("output");
      input.setAttribute("aria-label", `Filter: ${caption}`);
      field.append(input);
      tools.append(field, told);
      input.addEventListener("input", () => {
        const wanted = input.value.trim().toLowerCase();
        for (const row of rows) {
          const first = row.querySelector(".name");
          const text = ((first && first.title) || "") + " " + row.textContent;
          row.hidden = !text.toLowerCase().includes(wanted);
        }
        told.textContent = wanted ? `${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
      });
    } else tools.append(make("output"));
    const save = make("button", { type: "button" }, "TSV");
    save.setAttribute("aria-label", `Save as TSV: ${caption}`);
    save.addEventListener("click", () => {
      const line = (row) => [...row.cells].map((cell) => (cell.dataset.v !== undefined ? cell.dataset.v
        : (cell.querySelector("button") || cell).textContent).replace(/\s+/g, " ").trim()).join("\t");
      const text = [table.tHead.rows[0], ...body.rows].filter((row) => !row.hidden).map(line).join("\n") + "\n";
      const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" })), download: "report.tsv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    tools.append(save);
    table.parentNode.before(tools);
  }
})();
