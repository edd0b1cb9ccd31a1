import { summaryOf } from "../client/answer-summary.ts";
import { device, writeAttributes } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const write: Row = {
  name: "write",
  group: "Users and devices",
  title: "A written value is read back",
  proves:
    "The service answers a write with OK, the next read shows the values as text, and null or an empty text erases them.",
  isEssential: true,
  needs: ["device"],
  after: ["exchange"],
  async run(context) {
    const deviceId = context.input.deviceId!;
    const names = ["verify.text", "verify.number", "verify.flag"];
    const [text = "", number = "", flag = ""] = names;
    const read = async () => {
      const { attributes } = await device(context, deviceId, names);
      return names.map((name) => attributes[name]?.value ?? null);
    };
    // Fails when the device can't be read: then nothing is written.
    await read();
    context.afterRow(() => writeAttributes(context, deviceId, Object.fromEntries(names.map((name) => [name, null]))));
    const written = `grüße, "${Math.random().toString(36).slice(2)}"`;
    const answer = await writeAttributes(context, deviceId, { [text]: written, [number]: 7, [flag]: true });
    ensure(answer.status === 200 && answer.json?.status === "OK", () => ({
      seen: `PUT /v3/devices/${deviceId} was ${summaryOf(answer)}, not {"status":"OK"}.`,
      side: "service",
      next: "Check that --device is an ordinary device of the user who signed in.",
    }));
    const shown = await read();
    ensure(shown[0] === written && shown[1] === "7" && shown[2] === "true", () => ({
      seen: `After a write was answered with OK, a read showed ${shown[0] === written ? "something other than the texts 7 and true" : "an older state"}.`,
      side: "between",
      next: "No proxy may cache answers of /v3: stale values look like live ones. Call the service directly to compare.",
    }));
    await writeAttributes(context, deviceId, { [text]: null, [number]: "", [flag]: null });
    const erased = await read();
    ensure(
      erased.every((value) => value === null),
      () => ({
        seen: "Attributes that were erased are still shown.",
        side: "between",
        next: "No proxy may cache answers of /v3. Call the service directly to compare.",
      }),
    );
    return { seen: "Text, number and boolean were read back as text, and erased." };
  },
};
