/** What the stream of the console tells all tabs of a browser. */
export type StreamNews =
  | { readonly kind: "change"; readonly change: Change }
  /** Changes may have been missed: every page reads again. */
  | { readonly kind: "resync" }
  | { readonly kind: "beat" }
  /** The stream tells what happened in the past, and nothing of now. */
  | { readonly kind: "behind" }
  | { readonly kind: "lost" };

export interface Change {
  readonly kind: string;
  readonly tenantId: number | null;
  readonly userId: number | null;
  readonly deviceId: number | null;
}

const lockName = "breezeway-console-stream";
const channelName = "breezeway-console-changes";
/** The tab that holds the stream may hang: after this time without news another tab takes over. */
const takeOverMs = 8_000;
const retryMs = 1_000;

/**
 * One stream for each browser: browsers allow few connections to one server. The tab that holds the lock reads the stream
 * and tells the others. When it is closed, the browser gives the lock to the next tab.
 */
export function followStream(hear: (news: StreamNews) => void): void {
  const channel = new BroadcastChannel(channelName);
  let heardAt = performance.now();
  let close: (() => void) | undefined;
  const hearAt = (news: StreamNews) => {
    heardAt = performance.now();
    hear(news);
  };
  channel.onmessage = ({ data }) => hearAt(data as StreamNews);
  /** The lock is held until the tab is closed, or another tab takes it. */
  const hold = () => {
    close = readStream((news) => {
      hearAt(news);
      channel.postMessage(news);
    });
    return new Promise<void>(() => undefined);
  };
  const request = async (options: LockOptions): Promise<void> => {
    try {
      await navigator.locks.request(lockName, options, hold);
    } catch {
      // Another tab has taken the lock: this one waits for its turn again.
      close?.();
      close = undefined;
      void request({});
    }
  };
  void request({});
  setInterval(() => {
    if (close !== undefined || document.hidden || performance.now() - heardAt < takeOverMs) return;
    heardAt = performance.now();
    void request({ steal: true });
  }, 1_000);
}

function readStream(tell: (news: StreamNews) => void): () => void {
  let source: EventSource;
  let isClosed = false;
  let isFirst = true;
  let isCatchingUp = false;
  /** The browser resumes a broken stream after its last event; a new one begins now. */
  let mayMiss = false;
  const tellNow = (news: StreamNews) => {
    if (isCatchingUp) return tell({ kind: "behind" });
    if (mayMiss) tell({ kind: "resync" });
    mayMiss = false;
    tell(news);
  };
  const open = () => {
    if (isClosed) return;
    source = new EventSource("/console/live");
    source.onopen = () => {
      // Told with the first message, which says whether the stream is behind.
      mayMiss ||= !isFirst;
      isFirst = false;
    };
    source.addEventListener("heartbeat", ({ data }) => {
      isCatchingUp = Boolean(JSON.parse(data).catchingUp);
      tellNow({ kind: "beat" });
    });
    source.addEventListener("resync", () => tellNow({ kind: "resync" }));
    source.addEventListener("change", ({ data }) => tellNow({ kind: "change", change: JSON.parse(data) }));
    source.onerror = () => {
      tell({ kind: "lost" });
      // The browser does not try again when the answer is no stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, retryMs);
    };
  };
  open();
  return () => {
    isClosed = true;
    source.close();
  };
}
