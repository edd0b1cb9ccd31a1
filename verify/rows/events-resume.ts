import { EventStream } from "../client/event-stream.ts";
import { write } from "../client/linked-account.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.resume";

export const eventsResume: Row = {
  name: "events-resume",
  group: "Events",
  title: "A stream goes on where it ended",
  proves: "With Last-Event-ID a new stream brings what happened meanwhile: nothing missing, nothing twice.",
  isEssential: false,
  needs: ["device"],
  after: ["events"],
  async run(context) {
    const deviceId = context.input.deviceId!;
    context.afterwards(() => write(context, deviceId, { [name]: null }));
    const first = await EventStream.open(context, deviceId);
    const lastEventId = first.heard.at(-1)!.id;
    first.close();
    for (const value of ["1", "2"]) await write(context, deviceId, { [name]: value });
    const second = await EventStream.open(context, deviceId, lastEventId);
    try {
      await write(context, deviceId, { [name]: "3" });
      const mine = (value: string) => (event: { name: string; data: { name?: string; value?: string } }) =>
        event.name === "attribute" && event.data.name === name && event.data.value === value;
      await second.until(context, mine("3"), "a change after the new stream was open");
      const told = second.heard.filter((event) => event.data?.name === name).map(({ data }) => data.value);
      claim(told.join(" ") === "1 2 3" && second.heard.every((event) => event.name !== "resync"), () => ({
        seen: `A stream that went on behind the last id told ${told.join(", ") || "nothing"} of the changes 1, 2, 3.`,
        side: "between",
        next: "Let the header Last-Event-ID through; clients that lose their connection rely on it.",
      }));
      return { seen: "What happened between two streams was told, once each." };
    } finally {
      second.close();
    }
  },
};
