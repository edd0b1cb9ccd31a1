// Keeps the page as the service would draw it now. Where the page can't know that, it shows the last known values as of
// their time, without green and without countdowns.
(() => {
  const readEveryMs = 2_000;
  const answerWithinMs = 3_000;
  // The stream has a heartbeat every 2 seconds.
  const silentAfterMs = 4_000;
  const noticeMs = 10_000;

  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const parts = (from) => [...from.querySelectorAll("[data-part]")];
  const names = (from) =>
    parts(from)
      .map(({ id }) => id)
      .join();
  const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
  root.classList.add("has-script");

  // The last page that the service sent, and which of its parts are in the document.
  let latest = parsed(root.outerHTML);
  let drawn = new Map(parts(document).map((part) => [part.id, part.outerHTML]));
  let isDrawnAsOf = false;
  let noticeUntil = 0;

  /** Draws the latest page: as it is, or, when the page knows no more, its parts as of their time. */
  function draw(isAsOf) {
    const focused = document.activeElement?.id;
    if (names(latest) !== names(document)) {
      for (const whole of ["header.top", "main"]) {
        document.querySelector(whole).replaceWith(document.importNode(latest.querySelector(whole), true));
      }
      drawn = new Map(parts(document).map((part) => [part.id, part.outerHTML]));
    }
    const asOf = latest.getElementById("as-of").content;
    for (const part of parts(latest)) {
      const shown = (isAsOf && asOf.getElementById(part.id)) || part;
      if (drawn.get(part.id) === shown.outerHTML) continue;
      if (part.id === "notice" && performance.now() < noticeUntil) continue;
      drawn.set(part.id, shown.outerHTML);
      const copy = document.importNode(shown, true);
      if (!isAsOf && part.dataset.part !== "quiet") copy.classList.add("is-changed");
      byId(part.id).replaceWith(copy);
    }
    isDrawnAsOf = isAsOf;
    if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
    filter();
  }

  // What the last read came to: undefined when it was answered with the page.
  let failure;
  let readAt = performance.now();
  let readStartedAt = readAt;
  let isReading = false;
  let isAskedAgain = false;

  /** Takes an answer for the page, or notes why it is none. */
  async function take(answer) {
    const text = await answer.text();
    const next = parsed(text);
    if (!next.getElementById("as-of")) {
      failure = answer.ok ? { kind: "other" } : { kind: "refused", status: answer.status };
      return false;
    }
    failure = undefined;
    readAt = performance.now();
    latest = next;
    return true;
  }

  // One read at a time; a request that comes meanwhile leads to one more.
  async function read() {
    if (isReading) {
      isAskedAgain = true;
      return;
    }
    isReading = true;
    readStartedAt = performance.now();
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      if (await take(await fetch("/console/", { headers: { accept: "text/html" }, signal }))) draw(isDrawnAsOf);
    } catch {
      failure = { kind: "silent" };
    }
    isReading = false;
    tick();
    if (isAskedAgain) {
      isAskedAgain = false;
      read();
    }
  }

  let stream;
  let lastId = "";
  let heardAt = performance.now();
  let connectedAt = heardAt;
  let isStreamLost = false;
  let reconnecting;
  function connect() {
    clearTimeout(reconnecting);
    stream?.close();
    connectedAt = performance.now();
    const opened = new EventSource(`/console/events${lastId ? `?lastEventId=${encodeURIComponent(lastId)}` : ""}`);
    stream = opened;
    const hear = (event) => {
      isStreamLost = false;
      heardAt = performance.now();
      lastId = event.lastEventId;
      read();
    };
    for (const name of ["attribute", "alert", "link", "command", "device", "heartbeat", "resync"]) {
      opened.addEventListener(name, hear);
    }
    opened.onerror = () => {
      isStreamLost = true;
      read();
      // The browser gives up when the answer is no stream.
      if (opened.readyState === EventSource.CLOSED) reconnecting = setTimeout(connect, 1000);
    };
  }

  /** Why the page doesn't know how the house is, and since when; undefined when it knows. */
  function problem(now) {
    const { stale, confirmed, now: drawnAt } = latest.getElementById("fresh").dataset;
    const readTime = Number(drawnAt);
    if (failure?.kind === "refused" && [401, 403].includes(failure.status)) {
      return [
        readTime,
        "This browser is no longer signed in to the demo. Press Enter in the terminal where the demo runs, and open the link that it prints in this browser.",
      ];
    }
    if (failure?.kind === "refused") {
      return [readTime, `The service answers with an error (${failure.status}). The page tries again by itself.`];
    }
    if (failure?.kind === "other") return [readTime, "Something else answers at this address. Is the demo running?"];
    if (failure || now - readAt > silentAfterMs) {
      return [readTime, "The service does not answer. Is the demo running? The page tries again by itself."];
    }
    if (isStreamLost || now - heardAt > silentAfterMs) {
      return [Date.now() - (now - heardAt), "The stream of events is silent. The page tries again by itself."];
    }
    if (stale === "yes") {
      return [Number(confirmed), "The service can't hear the home ecosystem. It tries again by itself.", true];
    }
    return undefined;
  }

  const seconds = (ms) => (ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);
  const clock = (timeMs) => new Date(timeMs).toISOString().slice(11, 19);
  const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  function tick() {
    const now = performance.now();
    if (now - readStartedAt > readEveryMs) read();
    if (stream.readyState !== EventSource.CLOSED && now - Math.max(heardAt, connectedAt) > silentAfterMs) connect();
    const [sinceMs, why, isDrawnByService = false] = problem(now) ?? [];
    const isKnown = why === undefined;
    root.classList.toggle("is-unknown", !isKnown);
    const isAsOf = !isKnown && !isDrawnByService;
    if (isAsOf !== isDrawnAsOf) draw(isAsOf);
    const live = byId("live");
    live.dataset.look = isKnown ? "live" : "unknown";
    write(live, isKnown ? `Live · ${seconds(now - readAt)} ago` : `Not live since ${clock(sinceMs)} UTC`);
    write(
      byId("unknown"),
      isKnown ? "" : `Unknown since ${clock(sinceMs)} UTC. ${why} What you see is as it was then.`,
    );
    for (const time of document.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Math.round((Date.parse(time.dataset.until) - Date.now()) / 1000));
      write(time, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
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
    const outcome = form.closest(".tile")?.querySelector(".outcome");
    if (outcome) outcome.textContent = "Sending …";
    // Drawn anew even where the answer looks as the page did before the button was pressed.
    drawn.delete(form.closest("[data-part]").id);
    try {
      const body = new URLSearchParams(new FormData(form, button));
      const answer = await fetch(form.action, { method: "POST", body, signal: AbortSignal.timeout(noticeMs) });
      if (await take(answer)) {
        draw(isDrawnAsOf);
        if (byId("notice").textContent !== "") noticeUntil = performance.now() + noticeMs;
      } else notDone(`The service answered ${answer.status}. Whether it was done is unknown: look at the house.`);
    } catch {
      notDone("No answer came. Whether it was done is unknown: look at the house.");
    }
    function notDone(sentence) {
      byId("notice").textContent = sentence;
      drawn.delete("notice");
      noticeUntil = performance.now() + noticeMs;
      if (outcome) outcome.textContent = "No answer.";
      button.removeAttribute("aria-busy");
      read();
    }
  });

  document.addEventListener("input", (event) => event.target.id === "filter" && filter());
  document.addEventListener("visibilitychange", () => read());

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
  tick();
  setInterval(tick, 100);
})();
