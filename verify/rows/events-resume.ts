import { EventStream } from "../client/event-stream.ts";
import { writeAttributes } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.resume";

export const eventsResume: Row = {
  name: "events-resume",
  group: "Events",
  title: "A stream resumes where it ended",
  proves: "With Last-Event-ID a new stream delivers every change since the last event, each once.",
  isEssential: false,
  needs: ["device"],
  after: ["events"],
  async run(context) {
    const deviceId = context.input.deviceId!;
    context.afterRow(() => writeAttributes(context, deviceId, { [name]: null }));
    const first = await EventStream.open(context, deviceId);
    const lastEventId = first.received.at(-1)!.id;
    first.close();
    for (const value of ["1", "2"]) await writeAttributes(context, deviceId, { [name]: value });
    const second = await EventStream.open(context, deviceId, lastEventId);
    try {
      await writeAttributes(context, deviceId, { [name]: "3" });
      const isChange = (value: string) => (event: { name: string; data: { name?: string; value?: string } }) =>
        event.name === "attribute" && event.data.name === name && event.data.value === value;
      await second.until(context, isChange("3"), "a change after the new stream was open");
      const values = second.received.filter((event) => event.data?.name === name).map(({ data }) => data.value);
      ensure(values.join(" ") === "1 2 3" && second.received.every((event) => event.name !== "resync"), () => ({
        seen: `A stream resumed after the last id delivered ${values.join(", ") || "nothing"} of the changes 1, 2, 3.`,
        side: "between",
        next: "Pass the header Last-Event-ID on; clients that lose their connection rely on it.",
      }));
      return { seen: "Each change between the two streams was delivered once." };
    } finally {
      second.close();
    }
  },
};
