import type { Json } from "../client/deployment.ts";
import { device, write } from "../client/linked-account.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.time";
/** A client that compares its own clock with ours (the fan's check) goes wrong beyond this. */
const skewMs = 2_000;

export const times: Row = {
  name: "times",
  group: "Users and devices",
  title: "Times rise, to the millisecond",
  proves:
    "Each change has its own, later time in milliseconds, and since gives what came after: a poller misses nothing.",
  isEssential: true,
  needs: ["device"],
  after: ["write"],
  async run(context) {
    const { deployment, found, input } = context;
    const deviceId = input.deviceId!;
    context.afterwards(() => write(context, deviceId, { [name]: null }));
    const changes: number[] = [];
    let sentMs = 0;
    for (const value of ["1", "2", "3", "4"]) {
      sentMs = Date.now();
      await write(context, deviceId, { [name]: value });
      changes.push((await device(context, deviceId, [name])).attributes[name]?.updateTime ?? Number.NaN);
    }
    claim(changes.every(Number.isInteger) && changes.some((time) => time % 1_000 !== 0), () => ({
      seen: `The update times are ${changes.join(", ")}: whole seconds, not milliseconds.`,
      side: "between",
      next: "Let numbers through as they are: with whole seconds since skips changes and the fan's check fails.",
    }));
    claim(
      changes.every((time, i) => i === 0 || time > changes[i - 1]!),
      () => ({
        seen: `Four writes, one after the other, have the times ${changes.join(", ")}, which don't rise.`,
        side: "service",
        next: "Look at the clocks of the nodes and of the database, and compare the running version.",
      }),
    );
    const since = await deployment.v3(
      found.tokens!.accessToken,
      `devices/${deviceId}?since=${changes[2]}&attribute=${name}`,
    );
    const later: Json = since.json?.attributes?.[name];
    const none = await deployment.v3(
      found.tokens!.accessToken,
      `devices/${deviceId}?since=${changes[3]}&attribute=${name}`,
    );
    claim(later?.value === "4" && Object.keys(none.json?.attributes ?? { none }).length === 0, () => ({
      seen: "since does not give exactly what changed after that time.",
      side: "service",
      next: "Look whether the whole query reaches the service; else compare the running version.",
    }));
    const aheadMs = changes[3]! - sentMs;
    found.clockAheadMs = aheadMs;
    if (Math.abs(aheadMs) > skewMs) {
      return {
        seen: `Times rise, but the service's clock is ${(aheadMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's.`,
        next: "Let both follow a time server: a client compares its own time with update times to tell whether a fan runs.",
      };
    }
    return { seen: "Four writes, four rising times; since gave exactly the later one." };
  },
};
