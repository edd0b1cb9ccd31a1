import type { Connector, StreamEnd, StreamListener } from "../ecosystems/connector.ts";
import type { Home } from "../home/home.ts";
import { EcosystemUnreachable } from "../model/errors.ts";
import { type Cancel, type Timers, within } from "../runtime/runtime.ts";

/** How long a connector may take to end a call after its signal has aborted. */
const graceMs = 5_000;
/** Time limit of a read; longer than that of any connector. */
const readLimitMs = 180_000;

type Clock = Pick<Timers, "after">;

/** Follows the account. Ends soon after the signal aborts, also when the connector ignores the signal. */
export function followAccount(
  connector: Pick<Connector, "follow">,
  token: string,
  listener: StreamListener,
  signal: AbortSignal,
  timers: Clock,
): Promise<StreamEnd> {
  // What the connector reported since the abort was not heard.
  const end: StreamEnd = { reason: "stopped", detail: "the connector did not end its stream", unheardMs: graceMs };
  const late = async () => end;
  return orLate(connector.follow(token, listener, signal), signal, timers, late);
}

/** Reads the account. Ends soon after its time limit or an abort, also when the connector ignores the signal. */
export function readAccount(
  connector: Pick<Connector, "read" | "name">,
  token: string,
  signal: AbortSignal,
  timers: Clock,
): Promise<Home> {
  const late = () =>
    Promise.reject(new EcosystemUnreachable(`${connector.name} could not be read: no answer in time.`));
  return within(timers, readLimitMs, signal, (inTime) => orLate(connector.read(token, inTime), inTime, timers, late));
}

/** Settles as the call does, or as `late` when the call goes on for longer than the grace after the signal aborted. */
function orLate<Result>(
  call: Promise<Result>,
  signal: AbortSignal,
  timers: Clock,
  late: () => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let cancel: Cancel = () => undefined;
    const abort = () => {
      cancel = timers.after(graceMs, () => resolve(late()));
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    const ended = () => {
      cancel();
      signal.removeEventListener("abort", abort);
    };
    call.finally(ended).then(resolve, reject);
  });
}
