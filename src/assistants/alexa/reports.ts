import type { AssistantMessage, DueReply, DueReport, DueThing } from "../assistant.ts";
import { rankOf } from "./discovery.ts";
import { type AlarmOption, type Endpoint, endpointsOf, possibleEndpointIds } from "./endpoint.ts";
import { type AlexaBody, lateAnswer } from "./gateway.ts";
import { type AlexaEvent, addOrUpdateReport, changeReport, deleteReport } from "./messages.ts";
import { commandOutcome, withoutOutcome } from "./outcome.ts";
import { propertiesOf, type TimedProperty } from "./properties.ts";

export interface ReportParts {
  readonly alarms: AlarmOption;
  readonly nowMs: number;
  readonly newMessageId: () => string;
}

/** What the late answer to a directive repeats of it. */
export interface StoredReply {
  readonly correlationToken?: string;
  readonly endpointId: string;
}

/** Things whose states go into one message: it is posted within its time limit, and repeated whole after a failure. */
const thingsPerMessage = 25;
/** The endpoints of so many things are told at the same time: alarms that sound, and all after no answer in time. */
const thingsAtOnce = 4;
/** A thing has up to two endpoints, and Alexa takes 300 in one message. */
const thingsPerRemoval = 100;

/**
 * The messages that are due: urgent states first, also of alarms that Alexa may have to learn anew (it drops what it hears
 * of others), then the outcomes of commands, for which somebody waits, then endpoints
 * that were removed, added or changed, then the other states. An endpoint is added before its state is told, and after
 * others were removed, because Alexa takes a limited number. So a new alarm waits for the removals too.
 */
export function reportMessages(report: DueReport, given: ReportParts): readonly AssistantMessage[] {
  const { things, omitted = new Set(), withdrawn = new Set(), toldAhead = new Set(), replies } = report;
  const parts: StateParts = { ...given, perMessage: thingsPerMessageAfter(report) };
  const due = things.map((one) => withEndpoints(one, { omitted, withdrawn }, parts.alarms));
  const urgent = due.filter(({ isUrgent }) => isUrgent);
  const others = due.filter(({ isUrgent }) => !isUrgent);
  const newAlarms = additions(urgent, parts);
  const removed = removals(due, parts);
  const isRemovedFirst = newAlarms.length > 0;
  // What was described otherwise before, or is told with the whole home.
  const perhapsKnown = urgent.filter(
    (one) => one.wantsSync && one.sinceMs === 0 && isPresent(one) && !toldAhead.has(one.thingId),
  );
  return [
    ...states(
      urgent.filter(({ wantsSync }) => !wantsSync),
      parts,
    ),
    ...states(perhapsKnown, parts).map((one) => ({
      ...one,
      tells: { state: false, sync: false },
      isAhead: true as const,
    })),
    ...(isRemovedFirst ? removed : []),
    ...newAlarms,
    ...states(
      urgent.filter(({ wantsSync }) => wantsSync),
      parts,
    ),
    ...replies.map((one) => outcome(one, parts)),
    ...(isRemovedFirst ? [] : removed),
    ...additions(others, parts),
    ...states(others, parts),
  ];
}

interface StateParts extends ReportParts {
  readonly perMessage: number;
}

/** What a slow gateway does not take within the limit is posted in smaller messages, so that some of it is taken. */
function thingsPerMessageAfter({ failed }: DueReport): number {
  if (failed?.problem !== lateAnswer) return thingsPerMessage;
  return failed.attempts === 1 ? thingsAtOnce : 1;
}

/** A thing to be reported, with its endpoints at Alexa. */
interface DueEndpoints extends DueThing {
  /** Those within Alexa's limit, as they are, or as they were before the thing was gone. */
  readonly endpoints: readonly Endpoint[];
  /** The ids of endpoints that Alexa may have, and has to delete. */
  readonly surplusIds: readonly string[];
}

function withEndpoints(
  due: DueThing,
  { omitted, withdrawn }: { readonly omitted: ReadonlySet<string>; readonly withdrawn: ReadonlySet<string> },
  alarms: AlarmOption,
): DueEndpoints {
  const all = due.current ? endpointsOf(due.current, alarms) : [];
  const endpoints = all.filter(({ endpointId }) => !omitted.has(endpointId));
  const surplusIds = due.wantsSync ? surplusOf(due, endpoints, omitted).filter((id) => !withdrawn.has(id)) : [];
  return { ...due, endpoints, surplusIds };
}

function surplusOf(due: DueThing, endpoints: readonly Endpoint[], omitted: ReadonlySet<string>): readonly string[] {
  const ids = endpoints.map(({ endpointId }) => endpointId);
  const possible = possibleEndpointIds(due.thingId);
  // What Alexa was told before is not known: the thing was described otherwise, or had a place within the limit.
  if (due.sinceMs === 0) return isPresent(due) ? possible.filter((id) => !ids.includes(id)) : possible;
  if (isPresent(due)) return [];
  if (due.current) return ids;
  return omitted.has(due.thingId) ? [] : possible.filter((id) => !omitted.has(id));
}

function isPresent({ current }: DueThing): boolean {
  return current !== undefined && current.goneMs === null;
}

/** Whether Alexa has endpoints of the thing after this report. */
function isOffered(due: DueEndpoints): boolean {
  return isPresent(due) && due.endpoints.length > 0;
}

function additions(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const toAdd = things.filter((one) => one.wantsSync && isOffered(one));
  const isAlarm = ({ current }: DueThing) => current?.kind === "alarm";
  // Alexa may not have room for all of them.
  const groups = [toAdd.filter(isAlarm), toAdd.filter((one) => !isAlarm(one))].filter((some) => some.length > 0);
  return groups.map((some) => {
    const endpoints = some.flatMap((one) => one.endpoints).toSorted((a, b) => rankOf(a) - rankOf(b));
    return message([addOrUpdateReport(newMessageId(), endpoints)], some, { state: false, sync: true });
  });
}

function removals(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const toRemove = things.filter(({ surplusIds }) => surplusIds.length > 0);
  const removal = (some: readonly DueEndpoints[], isWhole: boolean): AssistantMessage => {
    const ids = some.flatMap(({ surplusIds }) => surplusIds);
    const sent = message([deleteReport(newMessageId(), ids)], some, { state: isWhole, sync: isWhole });
    // The other endpoints of these things are told later.
    return isWhole ? sent : { ...sent, withdrawn: ids };
  };
  const whole = toRemove.filter((one) => !isOffered(one));
  const partly = toRemove.filter(isOffered);
  return [
    ...chunksOf(whole, thingsPerRemoval).map((some) => removal(some, true)),
    ...chunksOf(partly, thingsPerRemoval).map((some) => removal(some, false)),
  ];
}

/** Alarms that sound come first, without others: if the gateway is slow, these would delay them. */
function states(things: readonly DueEndpoints[], parts: StateParts): readonly AssistantMessage[] {
  const toReport = things
    // A thing that is removed in the same report has no state.
    .filter((one) => one.wantsState && (isPresent(one) || !one.wantsSync))
    .map((thing) => ({ thing, events: changeReports(thing, parts) }))
    .filter(({ events }) => events.length > 0);
  const [sounding, others] = [true, false].map((isSounding) =>
    toReport.filter(({ thing: { rises } }) => rises.length > 0 === isSounding),
  );
  const chunks = [
    ...chunksOf(sounding!, Math.min(thingsAtOnce, parts.perMessage)),
    ...chunksOf(others!, parts.perMessage),
  ];
  return chunks.map((some) =>
    message(
      some.flatMap(({ events }) => events),
      some.map(({ thing }) => thing),
      { state: true, sync: false },
    ),
  );
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Of a thing that was added or changed the whole state is told. */
function changeReports({ endpoints, sinceMs, wantsSync }: DueEndpoints, { nowMs, newMessageId }: ReportParts) {
  const hasChanged = ({ changedMs }: TimedProperty) => wantsSync || changedMs >= sinceMs;
  return endpoints.flatMap((endpoint) => {
    const header = { messageId: newMessageId(), endpointId: endpoint.endpointId };
    return changeReport(header, propertiesOf(endpoint, nowMs), hasChanged) ?? [];
  });
}

function outcome(
  { thingId, reply, receipt, current }: DueReply,
  { alarms, nowMs, newMessageId }: ReportParts,
): AssistantMessage {
  const header = { messageId: newMessageId(), ...(JSON.parse(reply) as StoredReply) };
  const event = receipt
    ? commandOutcome(header, receipt, current, alarms, nowMs)
    : withoutOutcome(header, current !== undefined);
  return { ...message([event], [{ thingId }], { state: false, sync: false }), replies: [reply] };
}

function message(
  events: readonly AlexaEvent[],
  things: readonly { readonly thingId: string }[],
  tells: AssistantMessage["tells"],
): AssistantMessage {
  const body: AlexaBody = { events };
  return { type: events[0]!.event.header.name, thingIds: things.map(({ thingId }) => thingId), tells, body };
}
