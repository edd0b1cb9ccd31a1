import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { limits, type OnLimitReached } from "../../model/limits.ts";
import { HeadSplitter } from "./head-splitter.ts";
import { NextTurn } from "./next-turn.ts";

/**
 * Maximal number of pieces of one read that are parsed in one turn, if they hold only parts of a body or blank lines.
 */
const piecesPerTurn = 16;

/**
 * Limits the unanswered requests of one connection. A client may pipeline: it sends requests without waiting for
 * answers. One read of 64 KB holds up to 2,000 of them, and Node always parses a read to its end. So the pipeline
 * passes Node's parser one request of a read in each turn of the event loop, and none while 8 are unanswered. The rest
 * stays in the socket's read buffer, which stops reading when it is full.
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  readonly #nextTurn: NextTurn;
  readonly #onLimitReached: OnLimitReached;
  readonly #heads = new HeadSplitter();
  #unanswered = 0;
  #latest: IncomingMessage | undefined;
  #latestResponse: ServerResponse | undefined;
  /** Upper bound of the requests that were parsed in this turn: it is reset only when it reaches the limit. */
  #begunInTurn = 0;
  /** Why parsing is suspended. */
  #waitsFor: "answer" | "turn" | undefined;
  #afterAnswers: (() => void) | undefined;
  /** The request whose answer does not end. */
  #streaming: IncomingMessage | undefined;
  #isRefused = false;

  constructor(socket: Socket, parse: (bytes: Buffer) => void, nextTurn: NextTurn, onLimitReached: OnLimitReached) {
    this.#socket = socket;
    this.#parse = parse;
    this.#nextTurn = nextTurn;
    this.#onLimitReached = onLimitReached;
  }

  /** Called when the parser has read the head of a request. */
  begun(request: IncomingMessage, response: ServerResponse): void {
    this.#unanswered += 1;
    this.#latest = request;
    this.#latestResponse = response;
    this.#begunInTurn += 1;
    if (this.#begunInTurn === limits.requestsPerConnection) this.#nextTurn.run(this.#beginTurn);
    this.#heads.begun(request.headers["content-length"]);
    response.on("close", this.#answered);
  }

  /**
   * Called when an answer has begun that does not end by itself: no later request can be answered. The answer's head has
   * `Connection: close`, so later requests must not be carried out (RFC 9112, section 9.6): their bytes are dropped, also
   * those of a body that has begun to arrive. They are still read, because only a connection that is read shows that its
   * client has closed it.
   */
  openStream(request: IncomingMessage): void {
    this.#streaming = request;
    if (this.#isArriving && this.#latest !== request) {
      abandonBody(this.#latest!);
      // Node has paused it if nobody read the body.
      this.#socket.resume();
    }
    this.#runIfAnswered();
    if (this.#waitsFor === "answer") this.#waitForNextTurn();
  }

  /**
   * Called when the following bytes are not a request. Runs the action when every complete request has its answer;
   * later bytes are dropped.
   */
  refuse(action: () => void): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#afterAnswers = action;
    this.#runIfAnswered();
  }

  /**
   * Whether an answer has begun that can't be completed: a stream, or the answer to a request whose body is still
   * arriving.
   */
  get isAnswering(): boolean {
    return this.#streaming !== undefined || (this.#unanswered > 0 && this.#latestResponse?.headersSent === true);
  }

  /** The target of a request whose body is still arriving. */
  get arrivingTarget(): string | undefined {
    return this.#isArriving ? this.#latest?.url : undefined;
  }

  readonly data = (bytes: Buffer): void => {
    if (this.#isRefused && !this.#afterAnswers) return;
    const before = this.#latest;
    let rest = bytes;
    for (let pieces = 0; rest.length > 0; pieces++) {
      if (this.#streaming && !(this.#isArriving && this.#latest === this.#streaming)) return;
      if (!this.#mayParse(pieces, this.#latest !== before)) {
        this.#socket.pause();
        this.#socket.unshift(rest);
        return;
      }
      const piece = this.#heads.next(rest);
      this.#parse(piece);
      rest = rest.subarray(piece.length);
      if (this.#socket.destroyed || this.#isRefused) return;
      // Node pauses the socket when a client does not take its answers, or a handler does not read its body. Node will
      // resume it.
      if (rest.length > 0 && this.#socket.isPaused()) {
        this.#socket.unshift(rest);
        return;
      }
    }
  };

  readonly #beginTurn = (): void => {
    this.#begunInTurn = 0;
  };

  readonly #answered = (): void => {
    this.#unanswered -= 1;
    this.#runIfAnswered();
    if (this.#waitsFor === "answer") this.#waitForNextTurn();
  };

  /** Whether the body of the latest request is still arriving. */
  get #isArriving(): boolean {
    return this.#latest !== undefined && !this.#latest.complete;
  }

  /** Whether the next piece may be parsed now. If not, parsing is scheduled for later. */
  #mayParse(pieces: number, hasBegun: boolean): boolean {
    // Node resumes the socket by itself when a handler reads a body.
    if (this.#waitsFor || this.#afterAnswers) return false;
    const isArriving = this.#isArriving;
    if (isArriving && this.#heads.isInBody) return true;
    if (!isArriving && this.#unanswered >= limits.requestsPerConnection) {
      this.#waitsFor = "answer";
      this.#onLimitReached("requestsPerConnection");
      return false;
    }
    const isTurnUsed = hasBegun || this.#begunInTurn >= limits.requestsPerConnection;
    const isOver = pieces >= piecesPerTurn || (!isArriving && isTurnUsed);
    if (isOver) this.#waitForNextTurn();
    return !isOver;
  }

  #waitForNextTurn(): void {
    this.#waitsFor = "turn";
    this.#nextTurn.run(() => {
      this.#beginTurn();
      this.#waitsFor = undefined;
      if (!this.#socket.destroyed && !this.#afterAnswers) this.#socket.resume();
    });
  }

  #runIfAnswered(): void {
    const action = this.#afterAnswers;
    const incomplete = this.#isArriving ? 1 : 0;
    if (!action || this.#socket.destroyed || (this.#unanswered > incomplete && !this.#streaming)) return;
    this.#afterAnswers = undefined;
    action();
    if (!this.#socket.destroyed) this.#socket.resume();
  }
}

/**
 * Ends a request whose body will not arrive, with the error that its reader gets when a client disconnects. Node would
 * destroy the connection too, which has an open stream.
 */
function abandonBody(request: IncomingMessage): void {
  request._destroy = (error, done) => done(error);
  const isRead = request.listenerCount("error") > 0;
  request.destroy(isRead ? Object.assign(new Error("aborted"), { code: "ECONNRESET" }) : undefined);
}

const pipelines = new WeakMap<Duplex, Pipeline>();

/** The pipeline of a connection; undefined before its TLS handshake is done. */
export function pipelineOf(socket: Duplex): Pipeline | undefined {
  return pipelines.get(socket);
}

/**
 * Puts a pipeline between each connection and Node's parser. Node has no setting for this: `maxRequestsPerSocket`
 * closes the connection, and a socket that is paused in a request handler is paused only after the whole read was
 * parsed. So the pipeline replaces Node's data listener and calls it itself. If Node changes that,
 * test/http/pipeline.test.ts fails.
 */
export function limitPipelines(server: Server, isTls: boolean, onLimitReached: OnLimitReached): void {
  const nextTurn = new NextTurn();
  server.on(isTls ? "secureConnection" : "connection", (socket: Socket) => {
    const [parse] = socket.listeners("data") as ((bytes: Buffer) => void)[];
    if (!parse) throw new Error("Node's HTTP server no longer listens for the bytes of its connections.");
    socket.removeAllListeners("data");
    const pipeline = new Pipeline(socket, (bytes) => parse.call(socket, bytes), nextTurn, onLimitReached);
    pipelines.set(socket, pipeline);
    socket.on("data", pipeline.data);
  });
  const begun = (request: IncomingMessage, response: ServerResponse) =>
    pipelines.get(request.socket)?.begun(request, response);
  server.prependListener("request", begun);
  server.prependListener("checkExpectation", begun);
}
