import { homeOf, largeStrings, linkedDevice } from "../client/linked-account.ts";
import { Failure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const cutStream: Row = {
  name: "cut-stream",
  group: "The linked account",
  title: "A cut stream recovers, and its values are stale until then",
  proves: "While the ecosystem cannot be reached, the device is stale; afterwards it has all changes.",
  isEssential: true,
  needs: [],
  after: ["mirror"],
  async run(context) {
    const { simulator, shared } = context;
    const accountId = shared.account!.id;
    const { structureId } = await homeOf(context);
    const away = `d.structures[${(await largeStrings(context)).identifiers[structureId][0]}].a.away`;
    const endFault = await simulator!.addFault(accountId, { fault: "server-error", status: 503, requests: "all" });
    let isFaultEnded = false;
    try {
      await simulator!.drop(accountId);
      await simulator!.play(accountId, { scene: "leave" });
      await context.eventually(
        async () => {
          const { presenceInfo, stale } = await linkedDevice(context, [away]);
          return presenceInfo === 0 && stale === true ? true : undefined;
        },
        () => ({
          seen: "10 seconds after the ecosystem dropped the stream, the device is still shown as present and fresh.",
          side: "between",
          next: "No proxy may cache or change answers of /v3. If the service itself answers this, do not deploy this version: users would trust values that are out of date.",
        }),
      );
      await endFault();
      isFaultEnded = true;
      // From here on every read must be stale or current.
      await context.eventually(
        async () => {
          const { presenceInfo, stale, attributes } = await linkedDevice(context, [away]);
          const isFresh = presenceInfo === 1 && stale === false;
          if (isFresh && attributes[away]?.value !== "away") throw new Failure(falselyFresh);
          return isFresh ? true : undefined;
        },
        () => ({
          seen: "60 seconds after the ecosystem came back, the device is still stale.",
          side: "service",
          next: "GET federatedtokens shows the state of the link and its reason; the service's log has its attempts.",
        }),
        60_000,
      );
    } finally {
      if (!isFaultEnded) await endFault().catch(() => undefined);
      await simulator!.play(accountId, { scene: "come-home" }).catch(() => undefined);
    }
    return { seen: "Stale while the stream was cut; then fresh again, with the changes of that time." };
  },
};

const falselyFresh = {
  seen: "After the stream came back the device was shown as fresh with the old value.",
  side: "service",
  next: "Stale values must never be shown as fresh: do not deploy this version.",
} as const;
