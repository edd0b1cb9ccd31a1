import { summaryOf } from "../client/answer-summary.ts";
import { ensure, type Observation } from "../outcome.ts";
import type { Row } from "../row.ts";
import type { RowContext } from "../row-context.ts";

const maxPages = 10_000;

export const paging: Row = {
  name: "paging",
  group: "Users and devices",
  title: "The device list is complete",
  proves: "Following the cursors gives every device once, in ascending order, and ends.",
  isEssential: true,
  needs: [],
  after: ["exchange"],
  async run(context): Promise<Observation> {
    const ids: number[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { json } = await page(context, cursor);
      pages += 1;
      for (const { deviceId } of json.devices) {
        ensure(ids.length === 0 || deviceId > ids.at(-1)!, () => ({
          seen: `Page ${pages} has device ${deviceId} ${ids.includes(deviceId) ? "a second time" : "out of order"}.`,
          side: "between",
          next: "Pass the whole query on, and do not cache /v3/devices: the cursor must reach the service unchanged.",
        }));
        ids.push(deviceId);
      }
      cursor = json.cursor;
    } while (cursor !== undefined && pages < maxPages);
    ensure(cursor === undefined, () => ({
      seen: `The list has more than ${maxPages} pages, with ${ids.length} devices.`,
      side: "between",
      next: "Pass the whole query on, and do not cache /v3/devices: the cursor must reach the service unchanged.",
    }));
    if (pages === 1) {
      return {
        seen: `One page holds all devices (${ids.length}): there are no further pages to check.`,
        next: "Give a user with more than 100 devices to see the pages. With SQLite, verify creates such a user itself when it runs on the service's machine.",
      };
    }
    return { seen: `${ids.length} devices on ${pages} pages, each once.` };
  },
};

/** Reads one page of the device list. The row fails unless the answer is a list of devices. */
export async function page({ deployment, shared }: RowContext, cursor?: string) {
  const query = cursor === undefined ? "" : `?${new URLSearchParams({ cursor })}`;
  const answer = await deployment.v3(shared.tokens!.accessToken, `devices${query}`);
  ensure(answer.status === 200 && Array.isArray(answer.json?.devices), () => ({
    seen: `GET /v3/devices was ${summaryOf(answer)}, not a list of devices.`,
    side: answer.status === 400 && cursor === undefined ? "client" : "service",
    next:
      answer.status === 400 && cursor === undefined
        ? "Enterprise tokens must name a type; give verify a client of kind user."
        : "Look for the answer's request id in the service's log.",
  }));
  return answer;
}
