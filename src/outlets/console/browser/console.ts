import { sendFormsInPlace } from "./forms.ts";
import { type Problem, serviceNow, setButtons, setServiceTime, showAges, showFreshness } from "./freshness.ts";
import { openJumpByKey } from "./jump.ts";
import { showLocalTimes } from "./local-times.ts";
import { readParts } from "./page-parts.ts";
import { showCurrentEntry } from "./rail.ts";
import { followSentence } from "./sentence.ts";
import { type Change, followStream } from "./stream.ts";

/** The stream has a heartbeat every 2 seconds. */
const silentAfterMs = 4_000;
/** A page that is not live tries again at this interval. */
const retryEveryMs = 2_000;
/** Changes within this time are read together. */
const togetherMs = 150;

const main = document.querySelector("main")!;
/**
 * What the log does not tell is read at this interval: the time of the last confirmation, and that the service can't
 * answer any more, which must show within 5 seconds.
 */
const readEveryMs = Number(main.dataset.every ?? 4) * 1_000;
let asOfMs = Number(main.dataset.time);
setServiceTime(asOfMs);
let readProblem: Problem | undefined;
let heardAt = performance.now();
let isStreamLost = false;
let isBehind = false;
let readAt = performance.now();
let isReading = false;
let isReadWanted = false;
let isPaused = false;

function problem(): Problem | undefined {
  if (readProblem) return readProblem;
  if (isStreamLost || performance.now() - heardAt > silentAfterMs) {
    return { sentence: "The stream of changes is silent. The page tries again by itself." };
  }
  if (isBehind) return { sentence: "This page catches up with changes that it missed." };
  if (isPaused) return { sentence: "You have paused this page." };
  return undefined;
}

/** Single-flight: a call during a read starts one more read after it. */
async function read(): Promise<void> {
  if (isReading || isPaused) {
    isReadWanted = !isPaused;
    return;
  }
  isReading = true;
  isReadWanted = false;
  readAt = performance.now();
  readProblem = await readParts((timeMs) => {
    asOfMs = timeMs;
    setServiceTime(timeMs);
  });
  isReading = false;
  tick();
  if (problem() !== undefined) setButtons(true);
  if (isReadWanted) readSoon();
}

let isPlanned = false;
function readSoon(): void {
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(() => {
    isPlanned = false;
    void read();
  }, togetherMs);
}

function tick(): void {
  const now = performance.now();
  const found = problem();
  if (found === undefined && !isReading) asOfMs = Math.max(asOfMs, serviceNow() - (now - heardAt));
  showFreshness(found, asOfMs);
  showAges();
  const everyMs = readProblem === undefined && !isStreamLost ? readEveryMs : retryEveryMs;
  if (!document.hidden && now - readAt > everyMs) void read();
}

/** Whether a change concerns what this page shows. */
function isShown(change: Change): boolean {
  const { hears = "", user, tenant } = main.dataset;
  return (
    hears.split(" ").includes(change.kind) &&
    (user === undefined || String(change.userId) === user) &&
    (tenant === undefined || change.tenantId === null || String(change.tenantId) === tenant)
  );
}

followStream((news) => {
  const wasSilent = isStreamLost || isBehind || performance.now() - heardAt > silentAfterMs;
  isStreamLost = news.kind === "lost";
  isBehind = news.kind === "behind";
  if (news.kind === "lost") void read();
  else heardAt = performance.now();
  if (news.kind === "change" ? isShown(news.change) : news.kind === "resync" || (wasSilent && news.kind === "beat")) {
    readSoon();
  }
  tick();
});

sendFormsInPlace(() => void read());
openJumpByKey();
followSentence();
showLocalTimes();
showCurrentEntry();

document.addEventListener("click", async (event) => {
  const target = event.target as HTMLElement;
  if (target.dataset.pauses !== undefined) {
    isPaused = !isPaused;
    target.textContent = isPaused ? "Go on" : "Pause";
    if (!isPaused) void read();
    tick();
    return;
  }
  const copied = target.dataset.copies;
  if (copied === undefined) return;
  const source = document.getElementById(copied);
  try {
    await navigator.clipboard.writeText(source?.textContent ?? "");
    target.textContent = "Copied";
  } catch {
    if (source) getSelection()?.selectAllChildren(source);
    target.textContent = "Selected: copy it";
  }
});
document.addEventListener("visibilitychange", () => void read());
setInterval(tick, 500);
tick();
