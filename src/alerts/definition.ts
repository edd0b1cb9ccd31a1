import { attributeKey, checkedChanges } from "../devices/write.ts";
import { type GivenCondition, readCondition } from "../model/condition.ts";
import { BadParameter, LimitReached, UnknownDevice } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { textBytes } from "../model/text-bytes.ts";
import { type TriggerDefinition, writingAction } from "../model/trigger.ts";
import type { Target } from "../model/trigger-targets.ts";
import type { Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { Patterns } from "./patterns.ts";

/** An alert as a client defines it; whether it can be one is found out here. */
export type GivenTrigger = Omit<TriggerDefinition, "condition"> &
  GivenCondition & {
    readonly isEnabled: boolean;
  };

export interface CheckedTrigger extends TriggerDefinition {
  readonly key: AttributeKey;
  readonly isEnabled: boolean;
}

const longest = { action: 60, address: 2_048, msg: 2_048, stringThreshold: 8_192 };
const mostTargets = 100;

/** The definition with its condition read and its attribute found; whatever is wrong with it is told, the first thing first. */
export async function checkDefinition(
  tx: Pick<Transaction, "devices">,
  device: DeviceRow,
  given: GivenTrigger,
  patterns: Pick<Patterns, "faultOf">,
): Promise<CheckedTrigger> {
  const { operation, threshold, stringThreshold, ...definition } = given;
  if (given.action === "") throw new BadParameter("action", "The parameter action is missing.");
  checkText("action", given.action);
  checkText("address", given.address);
  checkText("msg", given.message);
  checkText("stringThreshold", stringThreshold);
  const key = attributeKey(device, given.attributeName);
  const condition = readCondition({ operation, threshold, stringThreshold }, patterns.faultOf);
  await checkTargets(tx, device.userId, given);
  return { ...definition, condition, key };
}

/** The size of a definition: all its texts in UTF-8, as the store counts them. */
export function bytesOf({ attributeName, condition, action, targets, address, message }: TriggerDefinition): number {
  const texts = [attributeName, JSON.stringify(condition), action, JSON.stringify(targets), address, message];
  return texts.reduce((sum, text) => sum + textBytes(text), 0);
}

/**
 * Refuses an alert that is too large. `before` is the size that it has had: an alert from before there was a limit may
 * be changed as long as it does not grow.
 */
export function checkSize(definition: TriggerDefinition, before = 0): number {
  const bytes = bytesOf(definition);
  if (bytes > limits.bytesPerAlert && bytes > before) {
    throw new LimitReached(
      "bytesPerAlert",
      `This alert takes ${bytes} bytes and may take ${limits.bytesPerAlert}. Nothing was changed. Shorten its message, its threshold or its targets.`,
    );
  }
  return bytes;
}

async function checkTargets(
  tx: Pick<Transaction, "devices">,
  userId: UserId,
  { action, targets }: Pick<GivenTrigger, "action" | "targets">,
): Promise<void> {
  if (action === writingAction && targets.length === 0) {
    throw targetFault(`The action ${writingAction} needs at least one target.`);
  }
  if (targets.length > mostTargets) throw targetFault(`An alert has at most ${mostTargets} targets.`);
  for (const [deviceId, ofDevice] of Map.groupBy(targets, (target: Target) => target.deviceId)) {
    const device = await tx.devices.find(userId, deviceId);
    if (!device) throw new UnknownDevice();
    const changes = checkedChanges(
      device,
      ofDevice.map(({ attributeName, value }) => ({ name: attributeName, value })),
    );
    if (new Set(changes.map(({ key }) => key)).size < changes.length) {
      throw targetFault("An alert writes each attribute of a device once.");
    }
  }
}

function targetFault(sentence: string): BadParameter {
  return new BadParameter("targetDeviceAttributes", sentence);
}

/** NUL and halves of surrogate pairs no database keeps; the rest no XML answer could carry, not even escaped. */
const unkeepable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

function checkText(parameter: keyof typeof longest, text: string): void {
  if (text.length > longest[parameter] || unkeepable.test(text)) {
    throw new BadParameter(
      parameter,
      `The parameter ${parameter} must be text of at most ${longest[parameter]} characters; of control characters it may hold tabs and line breaks.`,
    );
  }
}
