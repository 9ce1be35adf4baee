// Opens what a link leads to, and narrows the table of cases to the rows that hold every word of the filter.
const open = () => {
  const element = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (element instanceof HTMLDetailsElement) element.open = true;
};
addEventListener("hashchange", open);
open();
const filter = document.getElementById("filter");
if (filter) {
  const rows = [...document.querySelectorAll("#cases tbody tr")];
  const texts = rows.map((row) => row.dataset.text.toLowerCase());
  const count = document.getElementById("count");
  filter.parentElement.hidden = false; // without a script there is nothing to type into
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length} cases`;
  });
}
