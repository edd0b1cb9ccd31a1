import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Exchange } from "../exchange.ts";
import type { Exchanges } from "../open-exchanges.ts";
import type { Answer, SlicedAnswer, StreamAnswer } from "./answer.ts";
import { failureOf } from "./error-response.ts";
import { openStreamWriter } from "./open-stream.ts";

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers })
    .send(body);
}

interface SlicedExchange {
  readonly exchange: Exchange | undefined;
  /** Makes what is read and logged belong to the exchange. */
  readonly work: <Result>(act: () => Result) => Result;
}

/** Sends slices. If a slice fails, the connection is cut, so that the client sees that the answer is incomplete. */
export function sendSlices(
  reply: FastifyReply,
  { status, headers, slices, unreadBytes, brokenOff }: SlicedAnswer,
  nextTurn: () => Promise<void>,
  { exchange, work }: SlicedExchange,
): FastifyReply {
  const body = Readable.from(inTurns(ofExchange(slices, work), nextTurn, exchange, brokenOff), {
    objectMode: false,
    ...(unreadBytes !== undefined && { highWaterMark: unreadBytes }),
  });
  return reply
    .code(status)
    .headers({ ...headers })
    .send(body);
}

/** The reply asks for slices whenever its client has read some, outside the work of the exchange. */
async function* ofExchange(slices: AsyncIterable<string>, work: SlicedExchange["work"]): AsyncGenerator<string> {
  const iterator = slices[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await work(() => iterator.next());
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/**
 * Waits for a later turn of the event loop after each slice, so that other callers are answered: on SQLite a slice is
 * made without waiting for I/O. Of all sliced answers together, one slice is made in each turn.
 */
async function* inTurns(
  slices: AsyncIterable<string>,
  nextTurn: () => Promise<void>,
  exchange: Exchange | undefined,
  brokenOff: SlicedAnswer["brokenOff"],
): AsyncGenerator<string> {
  try {
    for await (const slice of slices) {
      yield slice;
      await nextTurn();
    }
    if (exchange && brokenOff?.by) exchange.failure = failureOf(brokenOff.by, exchange.request);
  } catch (error) {
    if (exchange) exchange.failure = failureOf(error, exchange.request);
    throw error;
  }
}

export function openStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, stream }: StreamAnswer,
  exchanges: Pick<Exchanges, "registerStream">,
): FastifyReply {
  reply.hijack();
  const writer = openStreamWriter(reply.raw, status, headers);
  stream(writer);
  exchanges.registerStream(request.raw, () => writer.end());
  return reply;
}
