import { examinedPerPage } from "../../src/cli/nouns/home/home-things.ts";
import { staleAfterMs } from "../../src/federation/freshness.ts";
import { secTokenLifetime } from "../../src/identity/sec-tokens.ts";
import { longestPattern } from "../../src/model/condition.ts";
import { limits } from "../../src/model/limits.ts";

/** A number, or a size such as 16 KB, as texts write them. */
export function readNumber(text: string): number {
  const [digits = "", unit = ""] = text.split(" ");
  return Number(digits.replaceAll(",", "")) * (unit === "" ? 1 : unit.startsWith("K") ? 1_024 : 1_048_576);
}

/** Sentences that state limits, each with a group for a number, and the limits in this order. */
export const statements: readonly (readonly [sentence: RegExp, ...values: readonly number[]])[] = [
  [/The device has ([\d,]+) alerts already, or the user ([\d,]+)/g, limits.alertsPerDevice, limits.alertsPerUser],
  [
    /The alert takes more than (\d+ KB), or all alerts of the user would take more than (\d+ MB)/g,
    limits.bytesPerAlert,
    limits.alertBytesPerUser,
  ],
  [/At most ([\d,]+) alerts a device and ([\d,]+) a user/g, limits.alertsPerDevice, limits.alertsPerUser],
  [/a user, (\d+ KB) an alert and (\d+ MB) all alerts/g, limits.bytesPerAlert, limits.alertBytesPerUser],
  [/count towards the ([\d,]+) alerts of the virtual device/g, limits.alertsPerDevice],
  [/(\d+) (?:alerts|steps)(?: and|,| or) (\d+) writes/g, limits.alertHopsPerCause, limits.alertWritesPerCause],
  [
    /change fires send at most ([\d,]+) commands, (\d+) of them to things of linked accounts/g,
    limits.alertCommandsPerCause,
    limits.linkedCommandsPerCause,
  ],
  [/beyond ([\d,]+) firings or one megabyte/g, limits.firingsPerCause],
  [/in at most (\d+) firings a minute/g, limits.commandingFiringsPerMinute],
  [/ of ([\d,]+) for compiling patterns/g, limits.patternCostPerCause],
  [/(?:more than|over at most) ([\d,]+) changes/g, limits.commitsPerDryRun],
  [/(\d+) explanations of alerts with costly patterns/g, limits.explanationsWaiting],
  [/RE2[^.|]*?, (?:up to )?(\d+) characters/g, longestPattern],
  [
    /more than ([\d,]+) attributes, erased ones included, or the attributes of the user's devices would take more than (\d+ MB)/g,
    limits.attributesPerDevice,
    limits.attributeBytesPerUser,
  ],
  [/, a device ([\d,]+) attributes/g, limits.attributesPerDevice],
  [/(\d+) changes of the user wait/g, limits.changesWaiting],
  [
    /used ([\d,]+) (?:idempotency )?keys in 24 hours, or \w+ (?:stored )?answers take (\d+ MB)/g,
    limits.idempotencyKeysPerOwner,
    limits.idempotencyBytesPerOwner,
  ],
  [
    /up to ([\d,]+) lines, ([\d,]+) attributes and (\d+ MB)/g,
    limits.linesAtOnce,
    limits.attributesAtOnce,
    limits.bytesAtOnce,
  ],
  [/number of lines up to (\d+ MB) within an hour/g, limits.batchBytes],
  [/when (\d+ MB) of it are unread/g, limits.batchAnswerBytes],
  [/Writes attributes of up to ([\d,]+) devices/g, limits.linesAtOnce],
  [/names more than ([\d,]+) devices, or (\d+) requests wait/g, limits.linesAtOnce, limits.batchesWaiting],
  [/A line has at most (\d+ KB)/g, limits.batchLineBytes],
  [
    /has (\d+) trait maps or ([\d,]+) device types, or the map is larger than (\d+ KiB)/g,
    limits.traitMapsPerTenant,
    limits.deviceTypesPerTenant,
    limits.traitMapBytes,
  ],
  [
    /The user has ([\d,]+) devices, the tenant ([\d,]+), the clients of the tenant have named ([\d,]+) new/g,
    limits.devicesPerUser,
    limits.devicesPerTenant,
    limits.deviceTypesPerTenant,
  ],
  [/\*\*(\d+) things a link/g, limits.thingsPerLink],
  [/more than (\d+) things in one account/g, limits.thingsPerLink],
  [
    /more than (\d+) devices, (\d+) attribute names or (\d+) things/g,
    limits.filterDevices,
    limits.filterNames,
    limits.filterThings,
  ],
  [/(?:more than|at most) (\d+) devices (?:or|and) (\d+) attribute/g, limits.filterDevices, limits.filterNames],
  [/may have (\d+) webhooks/g, limits.webhooksPerOwner],
  [/There are (\d+) webhooks already/g, limits.webhooksPerOwner],
  [/client's access\. There may be (\d+)/g, limits.webhooksPerOwner],
  [
    /Up to ([\d,]+) messages (?:wait for one webhook, and |\()(\d+ MiB)/g,
    limits.webhookMessagesWaiting,
    limits.webhookBytesWaiting,
  ],
  [/([\d,]+) messages wait for the webhook already/g, limits.webhookMessagesWaiting],
  [/the newest ([\d,]+) of each webhook/g, limits.webhookMessagesKept],
  [/headers (?:may take|are larger than) (\d+ KB)/g, limits.requestHeadBytes],
  [/more than (\d+ MiB) together arrive/g, limits.arrivingBytesPerTenant],
  [/examines ([\d,]+) things/g, examinedPerPage],
  [
    /(\d+) minutes (?:from|after) its last use,?(?: and)?(?: for)? (\d+) hours at most/g,
    secTokenLifetime.idleMs / 60_000,
    secTokenLifetime.longestMs / 3_600_000,
  ],
  [/nothing was confirmed for (\d+) minutes/g, staleAfterMs / 60_000],
];
