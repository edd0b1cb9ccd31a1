import type { Json } from "../client/deployment.ts";
import { device, writeAttributes } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

const name = "verify.time";
/** Beyond this difference the client's check of a fan, which compares both clocks, goes wrong. */
const skewMs = 2_000;

export const times: Row = {
  name: "times",
  group: "Users and devices",
  title: "Times rise, to the millisecond",
  proves:
    "Each change has its own, later time in milliseconds, and since gives all later changes: a poller misses nothing.",
  isEssential: true,
  needs: ["device"],
  after: ["write"],
  async run(context) {
    const { deployment, shared, input } = context;
    const deviceId = input.deviceId!;
    context.afterRow(() => writeAttributes(context, deviceId, { [name]: null }));
    const changes: number[] = [];
    let sentMs = 0;
    for (const value of ["1", "2", "3", "4"]) {
      sentMs = Date.now();
      await writeAttributes(context, deviceId, { [name]: value });
      changes.push((await device(context, deviceId, [name])).attributes[name]?.updateTime ?? Number.NaN);
    }
    ensure(changes.every(Number.isInteger) && changes.some((time) => time % 1_000 !== 0), () => ({
      seen: `The update times are ${changes.join(", ")}: whole seconds, not milliseconds.`,
      side: "between",
      next: "Pass numbers on unchanged: with whole seconds since skips changes and the fan's check fails.",
    }));
    ensure(
      changes.every((time, i) => i === 0 || time > changes[i - 1]!),
      () => ({
        seen: `Four writes, one after the other, have the times ${changes.join(", ")}, which don't rise.`,
        side: "service",
        next: "Check the clocks of the nodes and of the database, and compare the running version.",
      }),
    );
    const since = await deployment.v3(
      shared.tokens!.accessToken,
      `devices/${deviceId}?since=${changes[2]}&attribute=${name}`,
    );
    const later: Json = since.json?.attributes?.[name];
    const none = await deployment.v3(
      shared.tokens!.accessToken,
      `devices/${deviceId}?since=${changes[3]}&attribute=${name}`,
    );
    ensure(later?.value === "4" && Object.keys(none.json?.attributes ?? { none }).length === 0, () => ({
      seen: "since does not give exactly what changed after that time.",
      side: "service",
      next: "Check whether the whole query reaches the service; else compare the running version.",
    }));
    const aheadMs = changes[3]! - sentMs;
    shared.clockAheadMs = aheadMs;
    if (Math.abs(aheadMs) > skewMs) {
      return {
        seen: `Times rise, but the service's clock is ${(aheadMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's.`,
        next: "Synchronise both clocks with a time server: a client compares its own time with update times to tell whether a fan runs.",
      };
    }
    return { seen: "Four writes, four rising times; since gave exactly the later one." };
  },
};
