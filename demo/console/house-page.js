// What only the page of the house needs: the filter of its attributes, and the button that copies the command.
(() => {
  const byId = (id) => document.getElementById(id);

  function filter() {
    const text = byId("filter").value.toLowerCase();
    for (const row of byId("attributes").rows) {
      const [name, value] = row.cells;
      row.hidden = !`${name.textContent} ${value.textContent}`.toLowerCase().includes(text);
    }
  }

  document.addEventListener("drawn", filter);
  document.addEventListener("input", (event) => event.target.id === "filter" && filter());

  document.addEventListener("click", async (event) => {
    const source = byId(event.target.dataset?.copies);
    if (!source) return;
    try {
      await navigator.clipboard.writeText(source.textContent);
      event.target.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      event.target.textContent = "Selected: copy it";
    }
  });
})();
