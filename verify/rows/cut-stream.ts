import { homeOf, largeStrings, linked } from "../client/linked-account.ts";
import { Failure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const cutStream: Row = {
  name: "cut-stream",
  group: "The linked account",
  title: "A cut stream heals, and never looks fresh",
  proves: "While the ecosystem is gone the device says so; once it is back, what changed meanwhile is there.",
  isEssential: true,
  needs: [],
  after: ["mirror"],
  async run(context) {
    const { simulator, found } = context;
    const accountId = found.account!.id;
    const { structureId } = await homeOf(context);
    const away = `d.structures[${(await largeStrings(context)).identifiers[structureId][0]}].a.away`;
    const mend = await simulator!.break(accountId, { fault: "server-error", status: 503, requests: "all" });
    let isMended = false;
    try {
      await simulator!.drop(accountId);
      await simulator!.play(accountId, { scene: "leave" });
      await context.eventually(
        async () => {
          const { presenceInfo, stale } = await linked(context, [away]);
          return presenceInfo === 0 && stale === true ? true : undefined;
        },
        () => ({
          seen: "10 seconds after the ecosystem dropped the stream, the device is still shown as present and fresh.",
          side: "between",
          next: "Let nothing cache or complete answers of /v3; a service that says so itself must not be deployed: somebody would trust an alarm that nobody hears.",
        }),
      );
      await mend();
      isMended = true;
      // Whatever is read from here on is either called stale, or it is the truth.
      await context.eventually(
        async () => {
          const { presenceInfo, stale, attributes } = await linked(context, [away]);
          const isFresh = presenceInfo === 1 && stale === false;
          if (isFresh && attributes[away]?.value !== "away") throw new Failure(lied);
          return isFresh ? true : undefined;
        },
        () => ({
          seen: "60 seconds after the ecosystem came back, the mirror has not healed.",
          side: "service",
          next: "GET federatedtokens shows how the link stands and why; the service's log has its attempts.",
        }),
        60_000,
      );
    } finally {
      if (!isMended) await mend().catch(() => undefined);
      await simulator!.play(accountId, { scene: "come-home" }).catch(() => undefined);
    }
    return { seen: "Shown as stale while it was cut; healed by itself, with what had changed meanwhile." };
  },
};

const lied = {
  seen: "After the stream came back the device was shown as fresh with the old value.",
  side: "service",
  next: "Stale must never look fresh: this version must not be deployed.",
} as const;
