import { type Argued, arguedIn as of } from "./argued.ts";

/** Mutants of the folders of devices, alerts and homes that no test can kill, or need not. */
export const arguedOfDevices: readonly Argued[] = [
  ...of("src/alerts/alert-calls.ts", "add", [
    [
      "??",
      "(await tx.users.lock(userId)) ?? 0",
      "await tx.users.lock(userId)",
      "equivalent: a device or thing of a removed user is unknown; the fallback is for the compiler",
    ],
  ]),
  ...of("src/alerts/chain.ts", "Chain.thingWatchers", [
    ["condition", "fields.size === 0", "false", "equivalent: the check only saves work"],
    [
      "?.",
      "valuesOfThings.get(row.thingId)?.get",
      "valuesOfThings.get(row.thingId).get",
      "equivalent: only alerts on these things were read; the check is for the compiler",
    ],
    ["boolean", "true", "false", "equivalent: a chain reaches an alert on a thing once, so nothing reads it"],
  ]),
  ...of("src/alerts/dry-run.ts", "matchesOf", [
    ["condition", 'condition.operation !== "regex"', "false", "equivalent: only a pattern takes steps and comes here"],
    ["return", "() => false", "undefined", "equivalent: only a pattern takes steps and comes here"],
    ["boolean", "false", "true", "equivalent: only a pattern takes steps and comes here"],
    ["?.", "answers[index]?.isMatch", "answers[index].isMatch", "equivalent: each question of a job has an answer"],
  ]),
  ...of("src/alerts/match-turns.ts", "MatchTurns.admit", [
    ["condition", "left === 0", "false", "equivalent: a count of 0 is as good as none; it only takes memory"],
  ]),
  ...of("src/alerts/match-turns.ts", "MatchTurns.#wait", [
    ["boolean", "true", "false", "equivalent: a signal aborts once"],
  ]),
  ...of("src/alerts/match-turns.ts", "orGone", [["boolean", "true", "false", "equivalent: a signal aborts once"]]),
  ...of("src/alerts/field-conditions.ts", "valuesOf", [
    ["condition", 'value.type === "enum"', "true", "equivalent: only an enum has a member `values`"],
  ]),
  ...of("src/alerts/matching.ts", "Matching.judgeBy", [
    [
      "??",
      "cheap ?? false",
      "cheap",
      "equivalent: a condition without a pattern is cheap; the fallback is for the compiler",
    ],
    [
      "boolean",
      "false",
      "true",
      "equivalent: a condition without a pattern is cheap; the fallback is for the compiler",
    ],
  ]),
  ...of("src/alerts/pattern-cache.ts", "PatternCache.matches", [
    [
      "statement",
      "program.reset();",
      "",
      "it frees buffers of the library, which are too small for the test of memory",
    ],
  ]),
  ...of("src/alerts/patterns.ts", "Patterns.isTooCostly", [
    [
      ">",
      "this.costOf(pattern) > largestKeptCost",
      "this.costOf(pattern) >= largestKeptCost",
      "the bound of an estimate, which may be wrong by far more than one",
    ],
  ]),
  ...of("src/alerts/reaction.ts", "afterCommit", [
    ["??", "commit.chain ?? commit", "commit.chain", "equivalent: a commit that reactions see has a chain"],
  ]),
  ...of("src/alerts/patterns.ts", "Patterns.faultOf", [
    [
      ">",
      "estimatedCost(pattern) > largestCost",
      "estimatedCost(pattern) >= largestCost",
      "the bound of an estimate, which may be wrong by far more than one",
    ],
  ]),
  ...of("src/alerts/pattern-cache.ts", "PatternCache.#use", [
    ["<=", "this.#size <= cacheSize", "this.#size < cacheSize", "a cache that is exactly full may give up one pattern"],
  ]),
  ...of("src/alerts/reaction.ts", "react", [
    ["condition", "events.length === 0", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/alerts/reaction.ts", "eventsOf", [
    [
      "??",
      "values.get(trigger.key) ?? null",
      "values.get(trigger.key)",
      "equivalent: the alerts watch attributes that the commit changed; the fallback is for the compiler",
    ],
    ["condition", "onThings.length === 0", "false", "equivalent: the check only saves work"],
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
  ...of("src/alerts/thing-subject.ts", "value", [
    [
      "condition",
      "thing",
      "true",
      "equivalent: an alert is removed together with the row of its thing; the check is for the compiler",
    ],
  ]),
  ...of("src/alerts/thing-subject.ts", "thingSubject", [
    [
      "text",
      '"attributes and things"',
      '""',
      "equivalent: the log takes every text but `attributes` for both kinds of entries",
    ],
  ]),
  ...of("src/alerts/thing-subject.ts", "pastValue", [
    ["condition", "!commit.body.includes(JSON.stringify(thingId))", "false", "equivalent: the check only saves work"],
  ]),
  ...of("src/alerts/thing-subject.ts", "presentValue", [
    [
      "??",
      "goneValues.get(name) ?? null",
      "goneValues.get(name)",
      "equivalent: an alert watches a field of the catalogue; the fallback is for the compiler",
    ],
  ]),
  ...of("src/devices/command-receipts.ts", "receiptOfCommand", [
    ["condition", "row.error === null", "false", "equivalent: JSON.parse takes null for the text null"],
  ]),
  ...of("src/devices/erased-names.ts", "ErasedNames.#removeBatch", [
    ["condition", "nowMs === undefined", "false", "equivalent: a user who was removed has no attributes left"],
  ]),
  ...of("src/devices/log-entries.ts", "thingCommandEntry", [
    ["condition", "error === null", "false", "equivalent: null read as JSON is null; the check is for the compiler"],
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
  ...of("src/devices/thing-writes.ts", "prepareThings", [
    [
      "?.",
      "row?.deviceId",
      "row.deviceId",
      "equivalent: only the state of a stored thing can change; the check is for the compiler",
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
];
