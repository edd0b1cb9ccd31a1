import type { Argued } from "./argued.ts";

type Survivor = readonly [operator: string, before: string, after: string, reason: string];

/** Mutants that no test can kill, or need not: see CONTRIBUTING.md, *Mutation tests*. */
export const arguedSurvivors: readonly Argued[] = [
  ...of("src/alerts/patterns.ts", "Patterns.faultOf", [
    [
      ">",
      "estimatedSize(pattern) > largestEstimate",
      "estimatedSize(pattern) >= largestEstimate",
      "the bound of an estimate, which may be wrong by far more than one",
    ],
  ]),
  ...of("src/alerts/patterns.ts", "Patterns.#makeRoom", [
    ["<=", "this.#size <= cacheSize", "this.#size < cacheSize", "a cache that is exactly full may give up one pattern"],
  ]),
  ...of("src/alerts/alerts.ts", "withDevice", [
    [
      "??",
      "nowMs ?? 0",
      "nowMs",
      "equivalent: without its user the device is unknown; the fallback is for the compiler",
    ],
  ]),
  ...of("src/alerts/reaction.ts", "react", [
    ["condition", "triggers.length === 0", "false", "equivalent: the check only saves work"],
    [
      "??",
      "values.get(trigger.key) ?? null",
      "values.get(trigger.key)",
      "equivalent: the alerts watch attributes that the commit changed; the fallback is for the compiler",
    ],
  ]),
  ...of("src/alerts/reaction.ts", "fire", [
    [
      "condition",
      "!found",
      "false",
      "equivalent: the user is locked, so the alert is still there; the check is for the compiler",
    ],
    ["return", "[]", "undefined", "equivalent: the user is locked, so the alert is still there"],
  ]),
  ...of("src/alerts/reaction.ts", "laterOf", [
    [
      "??",
      "chain.seen.get(id) ?? []",
      "chain.seen.get(id)",
      "equivalent: every caller has just added an evaluation; the fallback is for the compiler",
    ],
  ]),
  ...of("src/alerts/reaction.ts", "limitOf", [
    ["condition", "updates.length > 0", "true", "equivalent: the check only saves work"],
    [">", "updates.length > 0", "updates.length >= 0", "equivalent: the check only saves work"],
  ]),
  ...of("src/devices/erased-names.ts", "ErasedNames.#removeBatch", [
    ["condition", "nowMs === undefined", "false", "equivalent: a user who was removed has no attributes left"],
  ]),
  ...of("src/devices/read.ts", "cachedState", [
    [
      "condition",
      'accessScope.kind === "user"',
      "true",
      "equivalent: an enterprise scope has no user, and every device has one; the check is for the compiler",
    ],
  ]),
  ...of("src/devices/read.ts", "filterAttributes", [
    ["<", "a.key < b.key", "a.key <= b.key", "equivalent: no two attributes of a device have the same key"],
  ]),
  ...of("src/devices/states.ts", "DeviceStates.#load", [
    [
      "condition",
      "this.#loading.get(deviceId) === loading",
      "false",
      "a small entry for each device stays in memory; no answer depends on it",
    ],
    [
      "statement",
      "this.#loading.delete(deviceId);",
      "",
      "a small entry for each device stays in memory; no answer depends on it",
    ],
  ]),
  ...of("src/devices/states.ts", "DeviceStates.#keep", [
    [
      "<=",
      "this.#heldBytes <= this.#maximalBytes",
      "this.#heldBytes < this.#maximalBytes",
      "a cache that is exactly full may give up one state; its size is approximate",
    ],
  ]),
  ...of("src/home/command-echo.ts", "holds", [
    [
      "<=",
      "Math.abs(shown - value) <= tolerance + noise",
      "Math.abs(shown - value) < (tolerance + noise)",
      "the bound lies within the errors of floating point numbers",
    ],
  ]),
  ...of("src/home/reported-things.ts", "structureName", [
    [
      "condition",
      "structureId === null",
      "false",
      "equivalent: no structure has the id null; the check is for the compiler",
    ],
  ]),
  ...of("src/home/thing-print.ts", "capabilityHash", [
    ["condition", "known !== undefined", "false", "equivalent: the cache only saves work"],
    ["statement", "capabilityHashes.set(capabilities, value);", "", "equivalent: the cache only saves work"],
  ]),
  ...of("src/home/thing-print.ts", "sampleDifference", [
    [
      "<",
      "i < Math.max(before.samples.length, after.samples.length)",
      "i <= Math.max(before.samples.length, after.samples.length)",
      "equivalent: beyond the end both samples are null",
    ],
  ]),
  ...of("src/home/traits/thermostat-pair.ts", "planCentre", [
    [
      "??",
      "capabilities.minGapCelsius ?? 0",
      "capabilities.minGapCelsius",
      "equivalent: null counts as 0 in a difference, and without a least distance the targets are never too close",
    ],
  ]),
  ...of("src/home/value-range.ts", "isNearRange", [
    [
      ">=",
      "value >= (range.min ?? -Infinity) - margin",
      "value > ((range.min ?? -Infinity) - margin)",
      "the bound lies within the errors of floating point numbers",
    ],
    [
      "<=",
      "value <= (range.max ?? Infinity) + margin",
      "value < ((range.max ?? Infinity) + margin)",
      "the bound lies within the errors of floating point numbers",
    ],
  ]),
  ...of("src/home/value-range.ts", "snap", [
    ["??", "range.min ?? 0", "range.min", "equivalent: null counts as 0 in a sum; the fallback is for the compiler"],
  ]),
  ...of("src/home/value-range.ts", "lackingSteps", [
    [">", "lacking > 0", "lacking >= 0", "equivalent: what lacks nothing lacks no step"],
  ]),
  ...of("src/home/value-range.ts", "isEmpty", [
    [">", "min > max + noise", "min >= (max + noise)", "the bound lies within the errors of floating point numbers"],
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
  ...of("src/virtual-device/mirror.ts", "set", [
    [
      "??",
      "value ?? null",
      "value",
      "equivalent: the values of a virtual device are never undefined; the fallback is for the compiler",
    ],
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

function of(file: string, around: string, survivors: readonly Survivor[]): readonly Argued[] {
  return survivors.map(([operator, before, after, reason]) => ({
    file,
    function: around,
    operator,
    before,
    after,
    reason,
  }));
}
