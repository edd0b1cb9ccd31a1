import { EventStream } from "../client/event-stream.ts";
import { device, writeAttributes } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.event";

export const events: Row = {
  name: "events",
  group: "Events",
  title: "A change is delivered at once",
  proves: "The event stream delivers a change with the value and time that a read shows.",
  isEssential: false,
  needs: ["device"],
  after: ["write", "times"],
  async run(context) {
    const deviceId = context.input.deviceId!;
    context.afterRow(() => writeAttributes(context, deviceId, { [name]: null }));
    const stream = await EventStream.open(context, deviceId);
    try {
      const startMs = performance.now();
      await writeAttributes(context, deviceId, { [name]: "told" });
      const { data } = await stream.until(
        context,
        (event) => event.name === "attribute" && event.data?.name === name,
        "the change",
      );
      const tookMs = Math.round(performance.now() - startMs);
      const shown = (await device(context, deviceId, [name])).attributes[name];
      ensure(data.value === "told" && data.deviceId === deviceId && data.updateTime === shown?.updateTime, () => ({
        seen: `The event says ${data.value} at ${data.updateTime}, a read says ${shown?.value} at ${shown?.updateTime}.`,
        side: "between",
        next: "Pass events and answers on unchanged.",
      }));
      return { seen: `The change was delivered ${tookMs} ms after it was written.` };
    } finally {
      stream.close();
    }
  },
};
