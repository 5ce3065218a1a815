// Search, filters and order of the table of cases. Without scripts the page shows all cases.
const table = document.getElementById("cases");
const rows = [...table.tBodies[0].rows];
const form = document.getElementById("filter");
form.hidden = false;

function show() {
  const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const outcome = form.elements.outcome.value;
  const tier = form.elements.tier.value;
  let count = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    const isShown = fits && (!tier || row.dataset.tier === tier) && (!outcome || row.dataset.outcomes.split(" ").includes(outcome));
    row.hidden = !isShown;
    count += isShown;
  }
  document.getElementById("count").textContent = `${count} of ${rows.length} cases`;
}

function sort(head) {
  const at = head.cellIndex;
  const isUp = head.getAttribute("aria-sort") !== "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  const value = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent;
  const order = (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
  rows.sort((a, b) => (isUp ? order(a, b) : order(b, a)));
  table.tBodies[0].append(...rows);
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
for (const head of table.tHead.rows[0].cells) head.addEventListener("click", () => sort(head));
show();
