import { EventStream } from "../client/event-stream.ts";
import { device, write } from "../client/linked-account.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.event";

export const events: Row = {
  name: "events",
  group: "Events",
  title: "A change is told at once",
  proves: "A stream of events is open, and brings a change with the value and time that a read shows.",
  isEssential: false,
  needs: ["device"],
  after: ["write", "times"],
  async run(context) {
    const deviceId = context.input.deviceId!;
    context.afterwards(() => write(context, deviceId, { [name]: null }));
    const stream = await EventStream.open(context, deviceId);
    try {
      const startMs = performance.now();
      await write(context, deviceId, { [name]: "told" });
      const { data } = await stream.until(
        context,
        (event) => event.name === "attribute" && event.data?.name === name,
        "the change",
      );
      const tookMs = Math.round(performance.now() - startMs);
      const shown = (await device(context, deviceId, [name])).attributes[name];
      claim(data.value === "told" && data.deviceId === deviceId && data.updateTime === shown?.updateTime, () => ({
        seen: `The event tells ${data.value} at ${data.updateTime}, a read ${shown?.value} at ${shown?.updateTime}.`,
        side: "between",
        next: "Let events and answers through as they are.",
      }));
      return { seen: `The change was told ${tookMs} ms after it was written.` };
    } finally {
      stream.close();
    }
  },
};
