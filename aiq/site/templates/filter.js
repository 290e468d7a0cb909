// Shows only the attempts whose question, id, tags or status contain the words typed.
const box = document.getElementById("filter");
const rows = [...document.querySelectorAll("#attempts > details")];
const count = document.getElementById("shown");
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const hit = words.every((word) => row.dataset.text.includes(word));
    row.hidden = !hit;
    shown += hit;
  }
  count.textContent = `${shown} of ${rows.length}`;
});
