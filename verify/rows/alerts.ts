import { summaryOf } from "../client/answer-summary.ts";
import { readyFan } from "../client/fan.ts";
import { device, homeOf, largeStrings, writeAttributes } from "../client/linked-account.ts";
import { element } from "../client/xml.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";
import type { RowContext } from "../row-context.ts";

const power = "verify.power";

export const alerts: Row = {
  name: "alerts",
  group: "The linked account",
  title: "Home and away switch a lamp",
  proves:
    "The pair of alerts that the interface describes: on when somebody comes home, off when all are away or auto-away.",
  isEssential: true,
  needs: ["device"],
  after: ["mirror"],
  unless: ["write"],
  async run(context) {
    const { simulator, shared, input } = context;
    const { structureId } = await homeOf(context);
    const x = (await largeStrings(context)).identifiers[structureId][0];
    const { setPresence } = await readyFan(context);
    await setPresence("come-home", "home");
    context.afterRow(() => writeAttributes(context, input.deviceId!, { [power]: null }));
    const triggerIds = [await add(context, x, "home", "on"), await add(context, x, "away|auto-away", "off")];
    try {
      for (const [scene, expected] of [
        ["leave", "off"],
        ["come-home", "on"],
        ["auto-away", "off"],
      ] as const) {
        await simulator!.play(shared.account!.id, { scene });
        await context.eventually(
          async () =>
            (await device(context, input.deviceId!, [power])).attributes[power]?.value === expected ? true : undefined,
          () => ({
            seen: `After ${scene} in the simulated home the lamp was not ${expected} within 10 seconds.`,
            side: "service",
            next: `GET /v3/alerts/${triggerIds[expected === "on" ? 0 : 1]}/explain says why that alert did not fire.`,
          }),
        );
      }
    } finally {
      for (const triggerId of triggerIds) await remove(context, triggerId).catch(() => undefined);
      await simulator!.play(shared.account!.id, { scene: "come-home" }).catch(() => undefined);
    }
    return { seen: "The lamp went off at away, on at home, off at auto-away." };
  },
};

async function add(
  { deployment, shared, input }: RowContext,
  x: string,
  pattern: string,
  value: string,
): Promise<string> {
  const answer = await deployment.platform("addTrigger", {
    secToken: shared.secToken,
    devId: String(shared.linkedId),
    action: "attribute",
    attrName: `d.structures[${x}].a.away`,
    operation: "regex",
    stringThreshold: pattern,
    address: "",
    msg: "",
    autoDisarm: "true",
    autoDelete: "false",
    autoDisable: "false",
    enable: "true",
    targetDeviceAttributes: `${input.deviceId},${power}:"${value}"`,
  });
  const triggerId = element(answer.text, "triggerId");
  ensure(answer.status === 200 && triggerId !== undefined, () => ({
    seen: `addTrigger was ${summaryOf(answer)}, fault ${element(answer.text, "errorCode") ?? "none"}, not a triggerId.`,
    side: "service",
    next: "The fault's text says which parameter; the target must be a device of the same user.",
  }));
  return triggerId;
}

function remove({ deployment, shared }: RowContext, triggerId: string) {
  return deployment.platform("removeTrigger", { secToken: shared.secToken, triggerId });
}
