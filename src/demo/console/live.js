// Keeps the page as the service would draw it now: each event of the stream lets it fetch itself and put in what differs.
(() => {
  const byId = (id) => document.getElementById(id);
  const parts = (from) => [...from.querySelectorAll("[data-part]")];
  document.documentElement.classList.add("has-script");

  // What the service drew last, before the script touched it.
  let drawn = new Map(parts(document).map((part) => [part.id, part.outerHTML]));
  let heardAt = performance.now();
  let isConnected = false;

  function show(text) {
    const next = new DOMParser().parseFromString(text, "text/html");
    const names = (from) =>
      parts(from)
        .map(({ id }) => id)
        .join();
    const focused = document.activeElement?.id;
    if (names(next) !== names(document)) {
      for (const whole of ["header.top", "main"]) {
        document.querySelector(whole).replaceWith(document.adoptNode(next.querySelector(whole)));
      }
      drawn = new Map(parts(document).map((part) => [part.id, part.outerHTML]));
    } else {
      for (const part of parts(next)) {
        if (drawn.get(part.id) === part.outerHTML) continue;
        drawn.set(part.id, part.outerHTML);
        part.classList.add("is-changed");
        byId(part.id).replaceWith(document.adoptNode(part));
      }
    }
    if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
    tick();
    filter();
  }

  // One at a time; what happens meanwhile is read by one more.
  let isReading = false;
  let isAskedAgain = false;
  async function read() {
    if (isReading) {
      isAskedAgain = true;
      return;
    }
    isReading = true;
    try {
      const answer = await fetch("/console/", { headers: { accept: "text/html" } });
      if (answer.ok) show(await answer.text());
    } catch {
      // The stream notices too, and comes back.
    }
    isReading = false;
    if (isAskedAgain) {
      isAskedAgain = false;
      read();
    }
  }

  let lastId = "";
  function connect() {
    const stream = new EventSource(`/console/events${lastId ? `?lastEventId=${encodeURIComponent(lastId)}` : ""}`);
    const hear = (event) => {
      isConnected = true;
      heardAt = performance.now();
      lastId = event.lastEventId;
      tick();
      read();
    };
    for (const name of ["attribute", "alert", "link", "command", "device", "heartbeat", "resync"]) {
      stream.addEventListener(name, hear);
    }
    stream.onopen = () => {
      isConnected = true;
      heardAt = performance.now();
      tick();
    };
    stream.onerror = () => {
      isConnected = false;
      tick();
      // The browser comes back by itself, unless it was answered with something that is no stream.
      if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
    };
  }

  const ago = (ms) => (ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);
  // The service sends a heartbeat every 15 seconds.
  const quietMs = 20_000;

  function freshness() {
    const silent = performance.now() - heardAt;
    if (!isConnected) return ["reconnecting", "Reconnecting"];
    const { stale, confirmed } = byId("fresh").dataset;
    if (stale === "yes") return ["stale", `Stale ${ago(Math.max(0, Date.now() - Number(confirmed)))}`];
    return silent > quietMs ? ["stale", `Stale ${ago(silent)}`] : ["live", `Live · ${ago(silent)} ago`];
  }

  function tick() {
    const [look, words] = freshness();
    const live = byId("live");
    live.dataset.look = look;
    if (live.textContent !== words) live.textContent = words;
    for (const time of document.querySelectorAll("[data-until]")) {
      const seconds = Math.max(0, Math.round((Date.parse(time.dataset.until) - Date.now()) / 1000));
      const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (time.textContent !== left) time.textContent = left;
    }
  }

  function filter() {
    const wanted = byId("filter").value.toLowerCase();
    for (const row of byId("attributes").rows) {
      const [name, value] = row.cells;
      row.hidden = !`${name.textContent} ${value.textContent}`.toLowerCase().includes(wanted);
    }
  }

  // Nothing is shown as done before the service says so: a pressed button only says that it was pressed.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form.act")) {
      if (form.getAttribute("role") === "search") event.preventDefault();
      return;
    }
    event.preventDefault();
    const button = event.submitter;
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    const says = form.closest(".tile")?.querySelector(".outcome");
    if (says) says.textContent = "Sending …";
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: new URLSearchParams(new FormData(form, button)),
      });
      // Drawn anew even where the answer looks as the page did before it was pressed.
      drawn.delete(form.closest("[data-part]").id);
      show(await answer.text());
    } catch {
      byId("notice").textContent = "The demo does not answer. Is it still running?";
      if (says) says.textContent = "Not sent.";
      button.removeAttribute("aria-busy");
    }
  });

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

  connect();
  setInterval(tick, 100);
})();
