import { type Argued, arguedIn as of } from "./argued.ts";
import { arguedOfDevices } from "./argued-survivors-of-devices.ts";
import { arguedOfOAuth } from "./argued-survivors-of-oauth.ts";
import { arguedOfStore } from "./argued-survivors-of-store.ts";

/** Mutants that no test can kill, or need not: see CONTRIBUTING.md, *Mutation tests*. */
export const arguedSurvivors: readonly Argued[] = [
  ...arguedOfDevices,
  ...arguedOfOAuth,
  ...arguedOfStore,
  ...of("src/assistants/alexa/properties.ts", "connectivity", [
    [
      "??",
      "thing.goneMs ?? 0",
      "thing.goneMs",
      "equivalent: Math.max counts null as 0; the fallback is for the compiler",
    ],
  ]),
  ...of("src/operators/one-time-links.ts", "find", [
    [
      "condition",
      "isOwnedSecret(linkPrefix, secret)",
      "true",
      "equivalent: no link has the hash of another text; the check saves the read",
    ],
  ]),
  ...of("src/quotas/minute-bucket.ts", "MinuteBucket.waitMs", [
    [">", "waitMs > roundingMs", "waitMs >= roundingMs", "the bound lies within the errors of floating point numbers"],
  ]),
  ...of("src/quotas/quota-settings.ts", "keyOf", [
    ["??", 'clientId ?? ""', "clientId", "equivalent: no client has the id null; the fallback is for the compiler"],
  ]),
  ...of("src/requests/recent-requests.ts", "RecentRequests.find", [
    ["condition", "filter.tenantId === undefined", "true", "equivalent: every record is compared with the filter"],
  ]),
  ...of("src/requests/recent-requests.ts", "Ring.shrinkTo", [
    ["condition", "this.#entries.length <= share", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/requests/request-record.ts", "inOrder", [
    ["condition", "a.requestId === b.requestId", "false", "equivalent: no two records have the same id"],
    ["<", "a.requestId < b.requestId", "a.requestId <= b.requestId", "equivalent: equal ids were compared before"],
  ]),
  ...of("src/virtual-device/alarm-summary.ts", "isCompleteAround", [
    [
      "?.",
      "structures.byId.get(structure.id)?.isRead",
      "structures.byId.get(structure.id).isRead",
      "equivalent: a present structure is named by a whole list",
    ],
  ]),
  ...of("src/virtual-device/alarm-summary.ts", "shownSummary", [
    [
      "condition",
      "x === undefined",
      "false",
      "equivalent: no attribute has the number of an unknown place, so all are blank",
    ],
    [
      "??",
      "values[structureSummary(x, field)] ?? null",
      "values[structureSummary(x, field)]",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/virtual-device/alarm-summary.ts", "mappedStates", [
    ["condition", "isPresent(slot)", "true", "equivalent: the attributes of an absent alarm are blank"],
  ]),
  ...of("src/virtual-device/alarm-summary.ts", "lastStates", [
    [
      "??",
      "states?.smoke ?? states?.co ?? null",
      "states?.smoke ?? states?.co",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/virtual-device/attribute-values.ts", "mirrorChanges", [
    [
      "??",
      "next[attribute] ?? null",
      "next[attribute]",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/model/clean-text.ts", "cleanText", [
    ["condition", "text.length > longestText", "true", "equivalent: the check only saves work"],
    [
      ">",
      "text.length > longestText",
      "text.length >= longestText",
      "equivalent: a text of exactly that length is not cut",
    ],
    ["condition", "cut.isWellFormed()", "false", "equivalent: the check only saves work"],
    ["condition", 'wellFormed.includes("\\0")', "true", "equivalent: the check only saves work"],
    ["text", '"\\0"', '""', "equivalent: the check only saves work"],
  ]),
  ...of("src/model/text-bytes.ts", "textBytes", [
    [
      "<",
      "index < text.length",
      "index <= text.length",
      "equivalent: beyond the end there is no character, and its code is NaN",
    ],
    ["condition", "text.charCodeAt(index) > 0x7f", "true", "equivalent: the check only saves work"],
    [
      ">",
      "text.charCodeAt(index) > 0x7f",
      "text.charCodeAt(index) >= 0x7f",
      "equivalent: the encoder counts one byte for that character too",
    ],
  ]),
  ...of("src/model/contrast.ts", "textOn", [
    [
      ">=",
      "contrastOf(color, white) >= contrastOf(color, nearBlack)",
      "contrastOf(color, white) > contrastOf(color, nearBlack)",
      "no colour of 24 bits lies exactly on the bound",
    ],
  ]),
  ...of("src/model/contrast.ts", "shadeOn", [
    [
      ">",
      "luminanceOf(background) > 0.18",
      "luminanceOf(background) >= 0.18",
      "no colour of 24 bits lies exactly on the bound",
    ],
    ["<", "step < steps", "step <= steps", "equivalent: the goal itself is where the next part of the way begins"],
    [
      ">=",
      "contrastOf(shade, background) >= least",
      "contrastOf(shade, background) > least",
      "no colour of 24 bits lies exactly on the bound",
    ],
  ]),
  ...of("src/model/contrast.ts", "accentProblem", [
    [
      ">=",
      "contrastOf(accent, textOn(accent)) >= leastForText",
      "contrastOf(accent, textOn(accent)) > leastForText",
      "no colour of 24 bits lies exactly on the bound",
    ],
  ]),
  ...of("src/model/contrast.ts", "luminanceOf", [
    ["<=", "share <= 0.04045", "share < 0.04045", "no colour of 24 bits lies exactly on the bound"],
  ]),
  ...of("src/virtual-device/index-map.ts", "presentDevices", [
    [
      "&&",
      "index < 0 && strayStructure",
      "(index < 0) || strayStructure",
      "equivalent: a stray that has an index already has it in the only structure",
    ],
    ["<", "index < 0", "index <= 0", "equivalent: a stray that has an index already has it in the only structure"],
  ]),
  ...of("src/virtual-device/index-map.ts", "lastStructure", [
    ["-", "-1", "1", "equivalent: nothing is absent since the first step"],
    [">", "until > seenUntil", "until >= seenUntil", "equivalent: a device leaves two structures at different steps"],
  ]),
  ...of("src/virtual-device/lost-slots.ts", "attributesOfLostSlots", [
    ["condition", "evicted.length === 0", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/virtual-device/mirror.ts", "mirrorStructure", [
    [
      "condition",
      "shown !== undefined",
      "true",
      "equivalent: no attribute has the number of an unknown place, so both stay blank",
    ],
    [
      "??",
      'current[structureAttribute(shown, "away")] ?? null',
      'current[structureAttribute(shown, "away")]',
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
    [
      "??",
      'current[structureAttribute(shown, "name")] ?? null',
      'current[structureAttribute(shown, "name")]',
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/virtual-device/mirror.ts", "keepOfThermostat", [
    [
      "??",
      "current[shownStart + thermostatOrder[field]] ?? null",
      "current[shownStart + thermostatOrder[field]]",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/virtual-device/slots.ts", "assignSlots", [
    ["condition", "isAssigned(range, present)", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/virtual-device/mirror.ts", "keepOfAlarm", [
    [
      "??",
      "current[shownStart + alarmOrder[field]] ?? null",
      "current[shownStart + alarmOrder[field]]",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/federation/claimed-links.ts", "ClaimedLinks.stop", [
    ["statement", "this.#next?.();", "", "no caller can tell: the round that the timer would begin ends at once"],
  ]),
  ...of("src/federation/commands/command-sender.ts", "CommandSender.#keepAnswer", [
    [
      "?.",
      "this.#parts.kind.keepAnswer?.(tx, command, outcome, nowMs)",
      "this.#parts.kind.keepAnswer(tx, command, outcome, nowMs)",
      "equivalent: the outcome of a command to a thing changes no attributes, so it never waits for patterns of alerts",
    ],
    ["boolean", "false", "true", "the node stops: whether it would read the account soon is of no interest"],
  ]),
  ...of("src/federation/commands/command-sender.ts", "CommandSender.#forgetLongSent", [
    [
      ">",
      "nowMs - sentMs > rememberedMs",
      "(nowMs - sentMs) >= rememberedMs",
      "a millisecond more or less of ten minutes is of no interest",
    ],
  ]),
  ...of("src/federation/commands/fan-gate.ts", "fanGate", [
    [
      "condition",
      "!device.isVirtual",
      "false",
      "equivalent: only attributes of virtual devices have numbers; the check only saves work",
    ],
  ]),
  ...of("src/federation/commands/fan-gate.ts", "viewOf", [
    [
      "??",
      'link?.ecosystem ?? ""',
      "link?.ecosystem",
      "equivalent: no ecosystem is named undefined; the fallback is for the compiler",
    ],
  ]),
  ...of("src/federation/commands/thing-echo.ts", "thingEcho", [
    [
      "||",
      'cause.by !== "ecosystem" || things.length === 0',
      '(cause.by !== "ecosystem") && (things.length === 0)',
      "equivalent: only snapshots change the things of a link, and without things nothing is settled; it saves a read",
    ],
  ]),
  ...of("src/federation/another-account.ts", "switchAccount", [
    [
      "condition",
      "evicted.length > 0",
      "true",
      "equivalent: without lost slots no alert is disabled; the check only saves work",
    ],
    [
      ">",
      "evicted.length > 0",
      "evicted.length >= 0",
      "equivalent: without lost slots no alert is disabled; the check only saves work",
    ],
  ]),
  ...of("src/federation/lane.ts", "Lane.#store", [
    [
      "condition",
      "evicted.length > 0",
      "true",
      "equivalent: without lost slots no alert is disabled; the check only saves work",
    ],
  ]),
  ...of("src/federation/link-faults.ts", "module", [
    ["text", '"second_look"', '""', "it only begins the count of these faults at 0 before the first one"],
  ]),
  ...of("src/federation/stored-renewal.ts", "storeRenewed", [
    ["condition", "nowMs === undefined", "false", "equivalent: a removed user has no link"],
  ]),
  ...of("src/federation/thing-freshness.ts", "thingFreshnessOfEach", [
    ["condition", "older.size === 0", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/federation/thing-marks.ts", "thingUpdate", [
    [
      "condition",
      "shown < marks.size - marks.goneCount",
      "true",
      "equivalent: when the snapshot shows all stored things, none is gone; the check only saves work",
    ],
  ]),
  ...of("src/federation/thing-marks.ts", "keptWithinLimit", [
    ["<", "a < b", "a <= b", "equivalent: no two things of a home have the same key"],
  ]),
  ...of("src/model/ids.ts", "ownerIdOf", [
    ["??", "tenantId ?? 0", "tenantId", "equivalent: null negated is 0 too; the fallback is for the compiler"],
  ]),
  ...of("src/virtual-device/stray-alarms.ts", "hasNoKnownStructure", [
    [
      "||",
      "structureId === null || structureId === undefined",
      "(structureId === null) && (structureId === undefined)",
      "equivalent: neither null nor undefined is a known structure; the check is for the compiler",
    ],
  ]),
  ...of("src/model/trigger-targets.ts", "readValue", [
    [
      "??",
      "matchAt(/[^;]*/y, text, at) ?? []",
      "matchAt(/[^;]*/y, text, at)",
      "equivalent: the pattern matches everywhere",
    ],
    [">", "close > start", "close >= start", "equivalent: before the value stands a quote, and no backslash"],
    [
      "condition",
      "close < 0",
      "false",
      "equivalent: at the beginning of the text, neither a semicolon nor its end can stand",
    ],
    ["<", "close < 0", "close <= 0", "equivalent: the text begins with an id"],
  ]),
];
