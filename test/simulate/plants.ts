/** A mistake that the simulation must find: texts in the core that are replaced by worse ones. */
export interface Plant {
  readonly name: string;
  readonly mistake: string;
  readonly edits: readonly Edit[];
}

interface Edit {
  /** Under `src`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const commit = "devices/commit.ts";
const states = "devices/states.ts";
const fans = "federation/fan-sender.ts";
const reaction = "alerts/reaction.ts";
const sender = "events/webhooks/sender.ts";
const eventReader = "events/event-reader.ts";

export const plants: readonly Plant[] = [
  {
    name: "memory-diff",
    mistake: "a commit compares with what this node last saw instead of what stands in the store under the lock",
    edits: [
      {
        file: commit,
        find: "  return async (request) => {\n",
        replace: "  const seen = new Map<string, string | null>();\n  return async (request) => {\n",
      },
      {
        file: commit,
        find: "apply(tx, request, parts), {",
        replace: "apply(tx, request, parts, seen), {",
      },
      {
        file: commit,
        find: "report }: CommitParts,\n): Promise<readonly DeviceCommit[]> {",
        replace: "report }: CommitParts,\n  seen: Map<string, string | null>,\n): Promise<readonly DeviceCommit[]> {",
      },
      {
        file: commit,
        find: "applyToDevice(tx, userId, update, hop, nowMs, devices, gates);",
        replace: "applyToDevice(tx, userId, update, hop, nowMs, devices, gates, seen);",
      },
      {
        file: commit,
        find: "  gates: readonly Gate[],\n): Promise<DeviceCommit | LimitReached | undefined> {",
        replace:
          "  gates: readonly Gate[],\n  seen: Map<string, string | null>,\n): Promise<DeviceCommit | LimitReached | undefined> {",
      },
      {
        file: commit,
        find: "  const kept = changes\n",
        replace:
          "  for (const key of before.keys()) {\n    const memory = seen.get([deviceId, key].join());\n    if (memory !== undefined) before.set(key, memory);\n  }\n  const kept = changes\n",
      },
      {
        file: commit,
        find: "  const timeMs = Math.max(",
        replace:
          "  for (const { key, value } of kept) seen.set([deviceId, key].join(), value);\n  const timeMs = Math.max(",
      },
    ],
  },
  {
    name: "no-fence",
    mistake: "a mirror commit doesn't ask whether its node still owns the link",
    edits: [{ file: commit, find: "if (ownership && !isOwned)", replace: "if (ownership && !isOwned && false)" }],
  },
  {
    name: "time-per-attribute",
    mistake: "each attribute of a commit gets a time of its own",
    edits: [
      {
        file: commit,
        find: "  await tx.attributes.write(userId, deviceId, timeMs, kept);",
        replace:
          "  for (const [i, one] of kept.entries()) await tx.attributes.write(userId, deviceId, timeMs + i, [one]);",
      },
    ],
  },
  {
    name: "no-user-lock",
    mistake: "a commit doesn't lock the user's home",
    edits: [
      {
        file: commit,
        find: "    tx.users.lock(userId),\n",
        replace: "    1 as number | undefined,\n",
      },
    ],
  },
  {
    name: "values-before-lock",
    mistake: "a commit compares with what stood in the store before it had the lock",
    edits: [
      {
        file: commit,
        find: "  const [nowMs, isOwned, early, present] =",
        replace:
          "  const tooEarly = only && (await presentValues(tx, userId, only));\n  const [nowMs, isOwned, early] =",
      },
      { file: commit, find: "    only && presentValues(tx, userId, only),\n", replace: "" },
      { file: commit, find: "{ ...row, present }", replace: "{ ...row, present: tooEarly }" },
    ],
  },
  {
    name: "clock-not-max",
    mistake: "a commit's time is the clock's, whatever the device's last one was",
    edits: [{ file: commit, find: "Math.max(device.lastTimeMs + 1, nowMs)", replace: "nowMs" }],
  },
  {
    name: "no-reload",
    mistake: "the lane believes its memory after a commit whose outcome it doesn't know",
    edits: [
      {
        file: "federation/lane.ts",
        find: "        this.#mirrored = undefined;\n",
        replace: "",
      },
    ],
  },
  {
    name: "lost-transition",
    mistake: "a waiting snapshot gives way to one in which a smoke alarm has another state",
    edits: [
      {
        file: "model/transitions.ts",
        find: '["structureId", "coAlarmState", "smokeAlarmState"]',
        replace: '["structureId", "coAlarmState"]',
      },
    ],
  },
  {
    name: "state-kept-when-overtaken",
    mistake: "a state that a commit overtook while it was read is kept",
    edits: [{ file: states, find: "isLatest && !loading.isOvertaken", replace: "isLatest" }],
  },
  {
    name: "no-version-check",
    mistake: "a node believes its memory of a device though another node may have written",
    edits: [{ file: states, find: "if (!this.#store.isShared) return true;", replace: "if (held) return true;" }],
  },
  {
    name: "since-skips",
    mistake: "since leaves out what changed a millisecond after it",
    edits: [{ file: "devices/read.ts", find: "updateTimeMs > sinceMs)", replace: "updateTimeMs > sinceMs + 1)" }],
  },
  {
    name: "ghosts-first",
    mistake: "a newcomer takes an absent one's index while others were never used",
    edits: [
      {
        file: "model/slots.ts",
        find: "const index = free >= 0 ? free : longestAbsent(slots);",
        replace: "const index = longestAbsent(slots) >= 0 ? longestAbsent(slots) : free;",
      },
    ],
  },
  {
    name: "youngest-ghost",
    mistake: "in a full range the one that left last loses its index",
    edits: [
      {
        file: "model/slots.ts",
        find: "slot.absentSince < since)",
        replace: "(longest < 0 || slot.absentSince > since))",
      },
    ],
  },
  {
    name: "requests-inherited",
    mistake: "a fan request passes to the thermostat that gets the index",
    edits: [
      {
        file: "model/attribute-values.ts",
        find: "if (deviceId !== undefined && current[deviceId] !== next[deviceId]) changes",
        replace: "if (deviceId === -1) changes",
      },
    ],
  },
  {
    name: "followed-twice",
    mistake: "a link that is followed already gets a second follower",
    edits: [
      {
        file: "federation/keeper.ts",
        find: "    if (present && present.link.ownership.epoch >= row.epoch) return;\n    if (present) void this.#abandon(present.link, isAnothers);\n",
        replace: "",
      },
    ],
  },
  {
    name: "record-gap",
    mistake: "a link's state that is entered just after the last one was written is never written",
    edits: [
      {
        file: "federation/link-record.ts",
        find: "this.#writing ??= this.#write();",
        replace:
          "this.#writing ??= this.#write()\n      .then(() => pause(this.#parts.runtime, 5, this.#parts.signal))\n      .finally(() => {\n        this.#writing = undefined;\n      });",
      },
      {
        file: "federation/link-record.ts",
        find: "what is entered after it starts a writing of its own.\n      this.#writing = undefined;",
        replace: "",
      },
    ],
  },
  {
    name: "load-without-lock",
    mistake: "the lane reads back what is stored while a commit of its own may still be on its way",
    edits: [{ file: "federation/stored-link.ts", find: "tx.users.lock(link.userId),", replace: "null," }],
  },
  {
    name: "relink-in-place",
    mistake: "a new token for a link that this node owns leaves the link's state and epoch as they were",
    edits: [
      {
        file: "federation/federated-tokens.ts",
        find: "if (keeper.isFollowing(link, accessToken))",
        replace: "if (link.owner === membership.id)",
      },
    ],
  },
  {
    name: "added-when-read",
    mistake: "the log says that a device was added when its account was read, not when it was stored",
    edits: [
      {
        file: "federation/federated-tokens.ts",
        find: 'deviceEntry(userId, deviceId, nowMs, "added")',
        replace: 'deviceEntry(userId, deviceId, provenMs, "added")',
      },
    ],
  },
  {
    name: "repeat-in-doubt",
    mistake: "a commit whose outcome isn't known is simply made once more",
    edits: [
      {
        file: commit,
        find: "const commits = await parts.store.transaction(",
        replace:
          "const commits = await parts.store\n      .transaction((tx) => apply(tx, request, parts), {})\n      .catch(() => parts.store.transaction(",
      },
      {
        file: commit,
        find: "patient: request.ownership !== undefined,\n    });",
        replace: "patient: request.ownership !== undefined,\n    }));",
      },
    ],
  },
  {
    name: "alert-twice",
    mistake: "a reaction hears a commit twice",
    edits: [
      {
        file: commit,
        find: "for (const react of reactions) {",
        replace: "for (const react of [...reactions, ...reactions]) {",
      },
    ],
  },
  {
    name: "log-forgets-one",
    mistake: "the log leaves out a change of a commit that has several",
    edits: [
      {
        file: commit,
        find: "attributeEntry(userId, deviceId, timeMs, cause, kept)",
        replace: "attributeEntry(userId, deviceId, timeMs, cause, kept.slice(0, 20))",
      },
    ],
  },
  {
    name: "torn-read",
    mistake: "a device and its attributes are read in two looks",
    edits: [
      {
        file: states,
        find: "await tx.attributes.all(userId, deviceId)",
        replace: "await this.#store.read((later) => later.attributes.all(userId, deviceId))",
      },
    ],
  },
  {
    name: "no-second-look",
    mistake: "a quiet or incomplete stream is never looked at a second time",
    edits: [
      {
        file: "federation/second-look.ts",
        find: "if (account) this.#judge(account);\n    this.#plan();",
        replace: "if (account) this.#judge(account);",
      },
    ],
  },
  {
    name: "late-read-wins",
    mistake: "a second look that the stream has overtaken is taken for the newest all the same",
    edits: [
      {
        file: "federation/second-look.ts",
        find: "if (turn !== this.#turn || signal.aborted) return;\n    const looks",
        replace: "if (signal.aborted) return;\n    const looks",
      },
    ],
  },
  {
    name: "unlink-keeps-attributes",
    mistake: "an unlinking leaves the device's attributes in the store",
    edits: [
      {
        file: "federation/unlinking.ts",
        find: "await tx.attributes.removeOfDevice(userId, deviceId)",
        replace: "(await tx.attributes.all(userId, deviceId)).length",
      },
    ],
  },
  {
    name: "unlink-keeps-log",
    mistake: "an unlinking leaves the device's history in the store",
    edits: [
      {
        file: "federation/unlinking.ts",
        find: "await tx.log.removeOfDevice(userId, deviceId)",
        replace: "0",
      },
    ],
  },
  {
    name: "drop-forgotten",
    mistake: "an unlinking doesn't stop the link's follower",
    edits: [{ file: "federation/federated-tokens.ts", find: "    await keeper.drop(deviceId);\n", replace: "" }],
  },
  {
    name: "revoked-first",
    mistake: "the token is revoked before the link is removed",
    edits: [
      {
        file: "federation/federated-tokens.ts",
        find: "    const { deviceId, sealedToken, removed } = await removeLink(store, userId, connector.name);",
        replace:
          "    const before = await store.read((tx) => tx.links.find(userId, connector.name));\n    if (before) await this.#revoke(userId, connector, before.sealedToken);\n    const { deviceId, sealedToken, removed } = await removeLink(store, userId, connector.name);",
      },
    ],
  },
  {
    name: "removed-state-remembered",
    mistake: "a node still shows a device whose removal it has acknowledged",
    edits: [{ file: "federation/federated-tokens.ts", find: "    states.forget(deviceId);\n", replace: "" }],
  },
  {
    name: "blindness-forgotten",
    mistake: "a link that is no longer live opens no blind interval",
    edits: [
      {
        file: "federation/link-record.ts",
        find: "before.blindness ?? { sinceMs: this.#afterLast(sinceMs), cause: reason };",
        replace: "before.blindness;",
      },
      {
        file: "federation/link-record.ts",
        find: "this.#endUnconfirmed(blindness.sinceMs);",
        replace: "if (blindness) this.#endUnconfirmed(blindness.sinceMs);",
      },
    ],
  },
  {
    name: "ended-too-soon",
    mistake: "a blind interval ends at the earliest that the store's time can have been",
    edits: [
      {
        file: "federation/link-record.ts",
        find: "const unsureMs = this.#parts.unsureMs();",
        replace: "const unsureMs = 0;",
      },
    ],
  },
  {
    name: "confirmed-before-written",
    mistake: "a confirmation time is stored before the blind interval that ended with it",
    edits: [{ file: "federation/keeper.ts", find: "supervisor.isWritten && ", replace: "supervisor && " }],
  },
  {
    name: "blind-twice",
    mistake: "who takes over a link counts as blind what an earlier interval has counted",
    edits: [
      {
        file: "federation/stored-link.ts",
        find: 'if (standing.state === "live") {',
        replace: "if (ended.length < 0) {",
      },
    ],
  },
  {
    name: "passed-over-at-once",
    mistake: "what was passed over is recorded though who takes over would count it again",
    edits: [
      {
        file: "federation/link-record.ts",
        find: "      else this.#unconfirmed.push(interval);\n",
        replace: "      else this.#ended.push(interval);\n      this.#keepWriting();\n",
      },
    ],
  },
  {
    name: "sent-before-marked",
    mistake: "a fan request is sent before it is durably marked as sent",
    edits: [
      {
        file: fans,
        find: '    const marked = await this.#mark(command, link);\n    if (!marked || marked === "too late") {\n',
        replace: '    if (command.state !== "queued") {\n',
      },
      {
        file: fans,
        find: "      if (marked) await this.#record(command, (tx, nowMs) => overdue(tx, command, nowMs));\n",
        replace: "",
      },
      {
        file: fans,
        find: "const leftMs = timeLeft(marked, fanDeadlines.answerMs);",
        replace: "const leftMs = fanDeadlines.answerMs;",
      },
      {
        file: fans,
        find: "    if (!(await this.#settle(marked, outcome))) return;\n",
        replace:
          '    const marked = await this.#mark(command, link);\n    if (!marked || marked === "too late" || !(await this.#settle(marked, outcome))) return;\n',
      },
    ],
  },
  {
    name: "sent-again",
    mistake: "a fan request of which nobody knows whether it was carried out is sent once more",
    edits: [
      {
        file: fans,
        find: 'changeReceipt(tx, command, ["queued"], change, sentMs)',
        replace: 'changeReceipt(tx, command, ["queued", "sending"], change, sentMs)',
      },
      {
        file: fans,
        find: "    if (this.#sending.has(command.id)) return false;\n",
        replace:
          '    if (this.#sending.has(command.id)) return false;\n    if (command.state === "sending" && this.#parts.reach(command.deviceId)) this.#begin(command);\n    if (this.#sending.has(command.id)) return false;\n',
      },
    ],
  },
  {
    name: "never-swept",
    mistake: "nobody settles the fan requests that a dead node left behind",
    edits: [{ file: fans, find: "let settled = 0;", replace: "let settled = 0;\n      found.length = 0;" }],
  },
  {
    name: "answer-given-up",
    mistake: "the answer to a fan request is forgotten when the store can't be reached",
    edits: [
      {
        file: fans,
        find: "if (!(error instanceof StoreUnavailable) || this.#hurry.signal.aborted) throw error;",
        replace: "throw error;",
      },
    ],
  },
  {
    name: "outcome-of-another",
    mistake: "what became of a fan request is written whoever has its slot by then",
    edits: [
      {
        file: "federation/fan-slot.ts",
        find: "const isWritable = isSameThermostat && isLatest && isAbout",
        replace: "const isWritable = isLatest && isAbout",
      },
    ],
  },
  {
    name: "taken-up-after-drop",
    mistake: "a link that was just dropped is taken up again from a look before that",
    edits: [{ file: "federation/keeper.ts", find: "    this.#dropped.add(deviceId);\n", replace: "" }],
  },
  {
    name: "alert-on-repetition",
    mistake: "alerts are shown what a snapshot repeats, though nothing of it is written",
    edits: [
      {
        file: commit,
        find: "await react(tx, commit, room)",
        replace:
          "await react(tx, { ...commit, changes: update.changes.map((one) => ({ ...one, before: null })) }, room)",
      },
      {
        file: "federation/lane.ts",
        find: "changes: changes.map(toAttributeChange) }",
        replace: "changes: values.map((value, key) => ({ key, value })) }",
      },
    ],
  },
  {
    name: "alert-after-commit",
    mistake: "alerts are evaluated in a transaction of their own, after the change is durable",
    edits: [
      {
        file: commit,
        find: "apply(tx, request, parts), {",
        replace: "apply(tx, request, { ...parts, reactions: [] }), {",
      },
      {
        file: commit,
        find: "    parts.committed(commits, request.urgent ?? false);\n",
        replace:
          "    for (const commit of commits) {\n      const answered = await parts.store.transaction(async (tx) => {\n        await tx.users.lock(commit.userId);\n        const all = [];\n        for (const react of parts.reactions) all.push(...(await react(tx, commit, 200)));\n        return all;\n      });\n      for (const update of answered) await commitOn({ ...parts, reactions: [] })({ userId: commit.userId, cause: update.cause, updates: [update] });\n    }\n    parts.committed(commits, request.urgent ?? false);\n",
      },
    ],
  },
  {
    name: "disarmed-in-memory",
    mistake: "that an alert is disarmed only its node knows, so that who takes over lets it fire again",
    edits: [
      {
        file: reaction,
        find: "const step = stepTrigger(trigger, isMet(trigger.condition, value, patterns.matches));",
        replace:
          "const isArmed = !disarmed.has(trigger.id);\n    const step = stepTrigger({ ...trigger, isArmed }, isMet(trigger.condition, value, patterns.matches));\n    if (step.isArmed) disarmed.delete(trigger.id);\n    else disarmed.add(trigger.id);",
      },
      { file: reaction, find: "      isArmed: step.isArmed,\n      firedMs", replace: "      firedMs" },
      {
        file: reaction,
        find: "const chains = new WeakMap<object, Chain>();",
        replace: "const chains = new WeakMap<object, Chain>();\n  const disarmed = new Set<TriggerId>();",
      },
    ],
  },
  {
    name: "no-hop-limit",
    mistake: "a chain of alerts goes on for as many hops as it likes",
    edits: [{ file: commit, find: "hop < chainLimits.hops ? writesLeft : 0", replace: "writesLeft" }],
  },
  {
    name: "no-write-limit",
    mistake: "a chain of alerts writes as much as it likes",
    edits: [{ file: commit, find: "        writesLeft -= countWrites(admitted);\n", replace: "" }],
  },
  {
    name: "first-target-only",
    mistake: "an alert writes to one of its devices only",
    edits: [
      {
        file: reaction,
        find: "for (const [deviceId, ofDevice] of byDevice) {",
        replace: "for (const [deviceId, ofDevice] of [...byDevice].slice(0, 1)) {",
      },
    ],
  },
  {
    name: "kept-though-fired",
    mistake: "an alert that should disable itself after it has fired stays enabled",
    edits: [{ file: reaction, find: 'step.fate === "disabled"', replace: 'step.fate === "deleted"' }],
  },
  {
    name: "resumed-too-late",
    mistake: "a reader that comes back goes on one entry too late",
    edits: [
      {
        file: eventReader,
        find: "  return { place, frames: openingFrame };\n",
        replace:
          "  const [next] = await store.read((tx) => tx.log.tail(readFrom(place), 1));\n  return { place: next ?? place, frames: openingFrame };\n",
      },
    ],
  },
  {
    name: "resumed-too-early",
    mistake: "a reader that was told a part of an entry is told all of it again",
    edits: [{ file: eventReader, find: "order === 0 ? this.#place.told : 0", replace: "order === 0 ? 0 : 0" }],
  },
  {
    name: "joined-without-page",
    mistake: "a reader that joins the others misses what came while it caught up",
    edits: [
      {
        file: "events/event-hub.ts",
        find: "    this.#send(reader, Buffer.from(reader.framesOf(page)), position);\n",
        replace: "",
      },
    ],
  },
  {
    name: "needless-resync",
    mistake: "a reader that comes back after the log was shortened has to begin anew though it missed nothing",
    edits: [
      {
        file: eventReader,
        find: "if (comparePositions(readFrom(place), horizon) < 0)",
        replace: "if (horizon.id > 0)",
      },
    ],
  },
  {
    name: "heartbeat-ahead",
    mistake: "a heartbeat names a place up to which not everything was sent",
    edits: [
      {
        file: "events/event-hub.ts",
        find: "    await this.#passOn(page.filter(",
        replace:
          "    for (const { readers } of this.#groups.values()) {\n      for (const reader of readers) this.#send(reader, Buffer.from(heartbeatFrame(reached, 0)), position);\n    }\n    await this.#passOn(page.filter(",
      },
    ],
  },
  {
    name: "settled-before-sent",
    mistake: "a delivery counts as taken before it is sent",
    edits: [
      {
        file: sender,
        find: "    const message = { id: delivery.messageId, body };\n",
        replace:
          "    const message = { id: delivery.messageId, body };\n    await store.transaction((tx) => settle(tx, delivery, { status: 200, text: null }, 0, this.#backlog));\n",
      },
      {
        file: sender,
        find: "    if (this.#stopping.signal.aborted && attempt.status === null) return true;\n",
        replace: "    if (attempt) return true;\n",
      },
    ],
  },
  {
    name: "retried-at-the-end",
    mistake: "a delivery that was not taken is tried again behind those that came after it",
    edits: [
      {
        file: sender,
        find: "    return tx.deliveries.postpone(delivery, nextMs, attempt);\n",
        replace:
          '    await tx.deliveries.settle(delivery, "failed", nowMs, attempt);\n    await tx.deliveries.add((await tx.deliveries.find(webhook, delivery.id))!);\n    return;\n',
      },
    ],
  },
  {
    name: "unclaimed",
    mistake: "a delivery is sent by every node that finds it due",
    edits: [
      {
        file: sender,
        find: "(await tx.deliveries.claim(delivery, nextMs))",
        replace: "(await tx.deliveries.claim(delivery, nowMs)) !== undefined",
      },
    ],
  },
  {
    name: "fed-before-stored",
    mistake: "the place up to which the log has become deliveries moves on before they are stored",
    edits: [
      {
        file: "events/webhooks/feeder.ts",
        find: "  return store.transaction(async (tx) => {\n    const feed = await tx.webhooks.lockFeed();\n",
        replace:
          "  const entries = await store.transaction(async (tx) => {\n    const feed = await tx.webhooks.lockFeed();\n    const found = await tx.log.tail(feed, atOnce.entries);\n    const reached = found.at(-1);\n    if (reached) await tx.webhooks.setFeed({ ...feed, ...reached.position });\n    return found;\n  });\n  return store.transaction(async (tx) => {\n    const feed = await tx.webhooks.lockFeed();\n",
      },
      {
        file: "events/webhooks/feeder.ts",
        find: "    const entries = await tx.log.tail(feed, atOnce.entries);\n",
        replace: "",
      },
      {
        file: "events/webhooks/feeder.ts",
        find: "    await tx.webhooks.setFeed({ ...entries[fed - 1]!.position, epoch });\n",
        replace: "",
      },
    ],
  },
  {
    name: "fed-by-both",
    mistake: "two nodes may turn the same entries of the log into deliveries",
    edits: [
      {
        file: "events/webhooks/feeder.ts",
        find: "    const entries = await tx.log.tail(feed, atOnce.entries);\n",
        replace:
          "    const entries = await tx.log.tail(own.position, atOnce.entries);\n    own.position = entries.at(-1)?.position ?? own.position;\n",
      },
      {
        file: "events/webhooks/feeder.ts",
        find: "const atOnce = { entries: 500, deliveries: 200 };",
        replace:
          "const atOnce = { entries: 500, deliveries: 200 };\nconst own = { position: { transaction: 0, id: 0 } };",
      },
    ],
  },
  {
    name: "end-ahead-of-durable",
    mistake: "the log's end is the number of the next transaction, which a crash hands out again",
    edits: [
      {
        file: "../test/simulate/log-rows.ts",
        find: "(rows) => endOf(rows)),\n",
        replace:
          "(rows) => (Number.isFinite(session.seenBefore()) ? { transaction: session.seenBefore(), id: 0 } : endOf(rows))),\n",
      },
    ],
  },
];
