import type { AssistantMessage, DueReply, DueReport, DueThing } from "../assistant.ts";
import { type AlarmOption, type Endpoint, endpointsOf, possibleEndpointIds } from "./endpoint.ts";
import type { AlexaBody } from "./gateway.ts";
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
/** A thing has up to two endpoints, and Alexa takes 300 in one message. */
const thingsPerRemoval = 100;

/**
 * The messages that are due: urgent states first, then the outcomes of commands, for which somebody waits, then endpoints
 * that were removed, added or changed, then the other states. An endpoint is added before its state is told, and after
 * others were removed, because Alexa takes a limited number.
 */
export function reportMessages(
  { things, omitted = new Set(), replies }: DueReport,
  parts: ReportParts,
): readonly AssistantMessage[] {
  const due = things.map((one) => withEndpoints(one, omitted, parts.alarms));
  const urgent = due.filter(({ isUrgent }) => isUrgent);
  const others = due.filter(({ isUrgent }) => !isUrgent);
  return [
    ...additions(urgent, parts),
    ...states(urgent, parts),
    ...replies.map((one) => outcome(one, parts)),
    ...withdrawals(due, parts),
    ...removals(due, omitted, parts),
    ...additions(others, parts),
    ...states(others, parts),
  ];
}

/** A thing to be reported, with its endpoints as they are, or as they were before it was gone. */
interface DueEndpoints extends DueThing {
  readonly endpoints: readonly Endpoint[];
  /** Those beyond Alexa's limit. */
  readonly omitted: readonly Endpoint[];
}

function withEndpoints(due: DueThing, omitted: ReadonlySet<string>, alarms: AlarmOption): DueEndpoints {
  const all = due.current ? endpointsOf(due.current, alarms) : [];
  const isOmitted = ({ endpointId }: Endpoint) => omitted.has(endpointId);
  return { ...due, endpoints: all.filter((one) => !isOmitted(one)), omitted: all.filter(isOmitted) };
}

function isPresent({ current }: DueThing): boolean {
  return current !== undefined && current.goneMs === null;
}

function additions(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const told = things.filter((one) => one.wantsSync && isPresent(one) && one.endpoints.length > 0);
  if (told.length === 0) return [];
  const event = addOrUpdateReport(
    newMessageId(),
    told.flatMap(({ endpoints }) => endpoints),
  );
  return [message([event], told, { state: false, sync: true })];
}

/** Endpoints that Alexa was offered, and that are beyond its limit now. */
function withdrawals(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  // From the beginning: what was told before is not known. Otherwise the thing has changed, and was not offered before.
  const told = things.filter((one) => one.wantsSync && one.sinceMs === 0 && one.omitted.length > 0);
  const [whole, partly] = [true, false].map((isWhole) =>
    told.filter(({ endpoints }) => (endpoints.length === 0) === isWhole),
  );
  return [whole!, partly!].flatMap((some) =>
    chunksOf(some, thingsPerRemoval).map((chunk) => {
      const ids = chunk.flatMap(({ omitted }) => omitted.map(({ endpointId }) => endpointId));
      // The other endpoints of a thing are told later.
      const isAll = some === whole;
      return message([deleteReport(newMessageId(), ids)], chunk, { state: isAll, sync: isAll });
    }),
  );
}

function removals(
  things: readonly DueEndpoints[],
  omitted: ReadonlySet<string>,
  { newMessageId }: ReportParts,
): readonly AssistantMessage[] {
  const told = things.filter((one) => one.wantsSync && !isPresent(one));
  /** A thing that was beyond the limit is not deleted, unless what was told before is not known. */
  const possible = ({ thingId, sinceMs }: DueEndpoints) => {
    const ids = possibleEndpointIds(thingId);
    if (sinceMs === 0) return ids;
    return omitted.has(thingId) ? [] : ids.filter((id) => !omitted.has(id));
  };
  return chunksOf(told, thingsPerRemoval).flatMap((some) => {
    const ids = some.flatMap((one) =>
      one.current ? one.endpoints.map(({ endpointId }) => endpointId) : possible(one),
    );
    if (ids.length === 0) return [];
    return [message([deleteReport(newMessageId(), ids)], some, { state: true, sync: true })];
  });
}

function states(things: readonly DueEndpoints[], parts: ReportParts): readonly AssistantMessage[] {
  const told = things
    // A thing that is removed in the same report has no state.
    .filter((one) => one.wantsState && (isPresent(one) || !one.wantsSync))
    .map((thing) => ({ thing, events: changeReports(thing, parts) }))
    .filter(({ events }) => events.length > 0);
  return chunksOf(told, thingsPerMessage).map((some) =>
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
    const answered = { messageId: newMessageId(), endpointId: endpoint.endpointId };
    return changeReport(answered, propertiesOf(endpoint, nowMs), hasChanged) ?? [];
  });
}

function outcome(
  { thingId, reply, receipt, current }: DueReply,
  { alarms, nowMs, newMessageId }: ReportParts,
): AssistantMessage {
  const answered = { messageId: newMessageId(), ...(JSON.parse(reply) as StoredReply) };
  const event = receipt
    ? commandOutcome(answered, receipt, current, alarms, nowMs)
    : withoutOutcome(answered, current !== undefined);
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
