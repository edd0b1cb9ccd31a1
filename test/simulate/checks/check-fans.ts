import { thermostatIn } from "../../../src/home/reported-things.ts";
import { fanRequests } from "./expected-device.ts";
import type { CommittedTransaction, FanRecord, FanSend, LinkStanding, StoredRow } from "./history.ts";
import { demand, Violation } from "./violation.ts";

/** A fan request was marked as sent: by which node, and in which transaction. */
interface SentMark {
  readonly seq: number;
  readonly node: string;
  readonly command: StoredRow;
  /** The last time that the ecosystem got it. */
  send: FanSend | undefined;
}

/**
 * The ecosystem gets each fan request at most once, from a node that had durably marked it as sent before (G12). The
 * receipt finally holds the ecosystem's answer, if the node that got the answer stayed alive.
 */
export function checkFans({ sends, commands, survivors }: FanRecord, history: readonly CommittedTransaction[]): void {
  const marks = marksOf(history);
  const describe = (send: FanSend) =>
    `${send.node} sent fan ${send.isOn} to ${send.thermostatId} of user ${send.userId}`;
  for (const send of sends) {
    const mark = marks.findLast(
      (one) => mayBeSent(one, send.token) && one.seq < send.seq && one.node === send.node && fits(one, send),
    );
    if (!mark) throw new Violation(`${describe(send)}, which it had not marked as sent, or had sent before`);
    mark.send = send;
  }
  for (const { send, command } of marks) {
    const row = commands.find(({ id }) => id === command.id);
    if (!row || send?.answer === undefined || !survivors.includes(send.node)) continue;
    const states = send.answer === "accepted" ? ["accepted", "confirmed", "contradicted"] : ["rejected"];
    demand(
      states.includes(row.state as string),
      () =>
        `${describe(send)} as command ${row.id}; the ecosystem answered ${send.answer}, and its receipt says ${row.state}`,
    );
  }
  checkStates(history);
  checkExclusion(history);
  checkSlots(history);
}

/** The first fan request of this home that has no outcome yet. */
export function unsettledFans({ commands, values }: LinkStanding): string | undefined {
  const open = commands.find(({ state }) => state === "queued" || state === "sending");
  if (open) return `command ${open.id} is still ${open.state}`;
  for (const { request } of fanRequests) {
    const shown = values.get(request);
    if (shown === "true" || shown === "false") return `requestWrite ${request} is still ${shown}, and nothing runs`;
  }
  return undefined;
}

/** A command is contradicted at once if its thing is gone when the ecosystem's answer arrives. */
const ways: Readonly<Record<string, readonly string[]>> = {
  queued: ["sending", "expired", "rejected"],
  sending: ["accepted", "confirmed", "contradicted", "rejected", "expired"],
  expired: ["accepted", "confirmed", "contradicted", "rejected"],
  accepted: ["accepted", "confirmed", "contradicted"],
  confirmed: ["contradicted", "rejected"],
  contradicted: ["rejected"],
  rejected: [],
};

/** A request never returns to an earlier state, and a refused one stays refused. */
function checkStates(history: readonly CommittedTransaction[]): void {
  for (const { seq, writes } of history) {
    for (const { table, before, after } of writes) {
      if (!isCommandTable(table) || !before || !after || isOwnCommand(after)) continue;
      const [from, to] = [before.state as string, after.state as string];
      demand(ways[from]!.includes(to), () => `transaction ${seq}: command ${after.id} goes from ${from} to ${to}`);
    }
  }
}

/**
 * The outcome of a request is written to its slot only while its thermostat occupies the slot. A request that disappears
 * with its thermostat is no outcome.
 */
function checkSlots(history: readonly CommittedTransaction[]): void {
  const values = new Map<string, unknown>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) values.set(`${table} ${key}`, after?.value ?? null);
    for (const { table, before, after } of writes) {
      if (!table.startsWith("commands/") || !before || !after) continue;
      const attributes = table.replace("commands/", "attributes/");
      const isWritten = (key: unknown) => writes.some((one) => one.table === attributes && one.key === key);
      const slot = fanRequests.find(({ request }) => request === after.attribute);
      const occupant = values.get(`${attributes} ${slot?.deviceId}`) ?? null;
      const isCleared = isWritten(slot?.deviceId) && values.get(`${attributes} ${after.attribute}`) === null;
      // An alert may request a fan in the transaction that empties the slot: the slot tells that there is none.
      const isOfNewer = writes.some(
        (one) => one.table === table && !one.before && one.after?.attribute === after.attribute,
      );
      demand(
        !isWritten(after.attribute) || isCleared || isOfNewer || occupant === after.thermostatId,
        () => `transaction ${seq} tells of ${after.thermostatId} (command ${after.id}) in the slot of ${occupant}`,
      );
    }
  }
}

function marksOf(history: readonly CommittedTransaction[]): SentMark[] {
  return history.flatMap(({ seq, node, writes }) =>
    writes.flatMap(({ table, before, after }) => {
      const isMarked = isCommandTable(table) && before?.state === "queued" && after?.state === "sending";
      return isMarked ? [{ seq, node, command: after, send: undefined }] : [];
    }),
  );
}

/** A command whose token the ecosystem refused was not carried out: it may be sent again with another token. */
function mayBeSent({ send }: SentMark, token: string): boolean {
  return !send || (send.isRefused && send.token !== token);
}

function fits({ command }: SentMark, { userId, thermostatId, isOn }: FanSend): boolean {
  return command.userId === userId && thermostatOf(command) === thermostatId && startsFan(command) === isOn;
}

/** Fan requests through `requestWrite`, and commands to things. */
function isCommandTable(table: string): boolean {
  return table.startsWith("commands/") || table.startsWith("thingCommands/");
}

/** Nobody sends commands to own things: own-things/ checks them. */
function isOwnCommand({ key }: StoredRow): boolean {
  return key === "own";
}

function thermostatOf({ thermostatId, key }: StoredRow): string | undefined {
  return key === undefined ? (thermostatId as string) : thermostatIn(key as string);
}

function startsFan({ value, command }: StoredRow): boolean {
  return command === undefined ? value === "true" : JSON.parse(command as string).command === "start";
}

/** A thermostat gets no command while a fan request to it is being sent, and no fan request while a command is. */
function checkExclusion(history: readonly CommittedTransaction[]): void {
  const sending = new Map<string, string>();
  for (const { seq, writes } of history) {
    for (const { table, key, before, after } of writes) {
      if (!isCommandTable(table) || (after && isOwnCommand(after))) continue;
      const [kind = ""] = table.split("/");
      if (after?.state !== "sending") {
        sending.delete(`${table} ${key}`);
        continue;
      }
      const thermostat = `${after.deviceId} ${thermostatOf(after)}`;
      if (before?.state === "queued") {
        const other = [...sending].find(([row, one]) => one === thermostat && !row.startsWith(`${kind}/`));
        demand(!other, () => `transaction ${seq}: ${table} ${key} is sent while ${other?.[0]} is being sent`);
      }
      sending.set(`${table} ${key}`, thermostat);
    }
  }
}
