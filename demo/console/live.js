// Keeps the page up to date. While the current state is unknown, it shows the last known values with their time,
// without green and without countdowns.
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
  const parseHtml = (text) => new DOMParser().parseFromString(text, "text/html");
  root.classList.add("has-script");

  // The last page that the service sent, and the HTML of each part that is in the document.
  let latest = parseHtml(root.outerHTML);
  let drawn = new Map(parts(document).map((part) => [part.id, part.outerHTML]));
  let isDrawnAsOf = false;
  let noticeUntil = 0;

  /** Draws the latest page; with `isAsOf`, its parts from the template for an unknown state. */
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

  // Why the last read failed; undefined if it returned the page.
  let failure;
  let readAt = performance.now();
  let readStartedAt = readAt;
  let isReading = false;
  let isReadPending = false;

  /** Stores a response as the latest page, or the reason why it is not the page. Returns whether it is the page. */
  async function accept(answer) {
    const text = await answer.text();
    const next = parseHtml(text);
    if (!next.getElementById("as-of")) {
      failure = answer.ok ? { kind: "other" } : { kind: "refused", status: answer.status };
      return false;
    }
    failure = undefined;
    readAt = performance.now();
    latest = next;
    return true;
  }

  // Single-flight: a call during a read starts one more read after it.
  async function read() {
    if (isReading) {
      isReadPending = true;
      return;
    }
    isReading = true;
    readStartedAt = performance.now();
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      if (await accept(await fetch("/demo/", { headers: { accept: "text/html" }, signal }))) draw(isDrawnAsOf);
    } catch {
      failure = { kind: "silent" };
    }
    isReading = false;
    tick();
    if (isReadPending) {
      isReadPending = false;
      read();
    }
  }

  let stream;
  let lastId = "";
  let lastEventAt = performance.now();
  let connectedAt = lastEventAt;
  let isStreamLost = false;
  let reconnecting;
  function connect() {
    clearTimeout(reconnecting);
    stream?.close();
    connectedAt = performance.now();
    const opened = new EventSource(`/demo/events${lastId ? `?lastEventId=${encodeURIComponent(lastId)}` : ""}`);
    stream = opened;
    const onEvent = (event) => {
      isStreamLost = false;
      lastEventAt = performance.now();
      lastId = event.lastEventId;
      read();
    };
    for (const name of [
      "attribute",
      "thing",
      "thingCommand",
      "alert",
      "link",
      "command",
      "device",
      "heartbeat",
      "resync",
    ]) {
      opened.addEventListener(name, onEvent);
    }
    opened.onerror = () => {
      isStreamLost = true;
      read();
      // The browser does not reconnect when the response is not an event stream.
      if (opened.readyState === EventSource.CLOSED) reconnecting = setTimeout(connect, 1000);
    };
  }

  /** Since when and why the current state is unknown; undefined while it is known. */
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
    if (isStreamLost || now - lastEventAt > silentAfterMs) {
      return [Date.now() - (now - lastEventAt), "The stream of events is silent. The page tries again by itself."];
    }
    if (stale === "yes") {
      return [
        Number(confirmed),
        "The service receives nothing from the home ecosystem. It tries again by itself.",
        true,
      ];
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
    if (stream.readyState !== EventSource.CLOSED && now - Math.max(lastEventAt, connectedAt) > silentAfterMs) connect();
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
      isKnown ? "" : `Unknown since ${clock(sinceMs)} UTC. ${why} The page shows the state at that time.`,
    );
    for (const time of document.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Math.round((Date.parse(time.dataset.until) - Date.now()) / 1000));
      write(time, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
    }
  }

  function filter() {
    const text = byId("filter").value.toLowerCase();
    for (const row of byId("attributes").rows) {
      const [name, value] = row.cells;
      row.hidden = !`${name.textContent} ${value.textContent}`.toLowerCase().includes(text);
    }
  }

  // A pressed button only shows "Sending": no effect is shown before the service confirms it.
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
    // Removes "Sending" and `aria-busy` even if the new part equals the one before the press.
    drawn.delete(form.closest("[data-part]").id);
    try {
      const body = new URLSearchParams(new FormData(form, button));
      const answer = await fetch(form.action, { method: "POST", body, signal: AbortSignal.timeout(noticeMs) });
      if (await accept(answer)) {
        draw(isDrawnAsOf);
        if (byId("notice").textContent !== "") noticeUntil = performance.now() + noticeMs;
      } else reportFailure(`The service answered ${answer.status}. Whether it was done is unknown: look at the house.`);
    } catch {
      reportFailure("No answer came. Whether it was done is unknown: look at the house.");
    }
    function reportFailure(sentence) {
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
