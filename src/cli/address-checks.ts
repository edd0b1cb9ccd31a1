import { get } from "node:http";
import { get as getOverTls } from "node:https";
import { createServer } from "node:net";
import { text as readText } from "node:stream/consumers";
import type { Config } from "../config/config.ts";
import { isLoopbackHost } from "../model/loopback-host.ts";
import type { Finding } from "./finding.ts";
import type { Inspection } from "./programs.ts";

const timeoutMs = 5_000;

/** Clients verify the certificate, so this does too. */
export async function publicAddress(baseUrl: string, listensAt: string | undefined): Promise<Finding> {
  const check = "address";
  try {
    const url = new URL("/livez", baseUrl);
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: "manual" });
    const text = await answer.text();
    if (isOurs(answer.status, answer.headers.get("x-request-id"), text)) {
      return { check, state: "ok", words: `${baseUrl} is the service's` };
    }
    const next = "check that the proxy passes requests to this service, or correct BREEZEWAY_BASE_URL";
    const status = answer.status === 200 ? "as another program" : `${answer.status} instead of the service`;
    return { check, state: "fail", words: `${baseUrl} answers ${status}`, next };
  } catch {
    const isHere = listensAt !== undefined && (await isBreezeway(listensAt));
    const words = `${baseUrl} does not answer this machine${isHere ? `; ${listensAt} does` : ""}`;
    const next = "check the name, the certificate and the proxy; BREEZEWAY_BASE_URL is the address that clients use";
    return { check, state: isHere ? "warn" : "fail", words, next };
  }
}

/** The port of the running service; without one, whether the configured port is free. */
export async function port(config: Config, { isRunning, listensAt }: Inspection): Promise<Finding> {
  const check = "port";
  if (!isRunning) return portOfSettings(config);
  if (listensAt === undefined) {
    return {
      check,
      state: "warn",
      words: "the service does not listen yet",
      next: "wait until it says that it listens",
    };
  }
  const { port: configured } = config;
  const isOther = configured !== 0 && configured !== Number(new URL(listensAt).port);
  const words = `${listensAt} is the service's${isOther ? ` (the settings here say port ${configured})` : ""}`;
  if (await isBreezeway(listensAt)) return { check, state: "ok", words };
  return { check, state: "fail", words: `${words}, and does not answer`, next: "look at the service's log" };
}

async function portOfSettings({ host, port: configured, databaseUrl, tlsCertFile }: Config): Promise<Finding> {
  const check = "port";
  if (configured === 0) return { check, state: "ok", words: "the service takes a free port when it starts" };
  const isFree = await new Promise<boolean>((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen(configured, host, () => server.close(() => settle(true)));
  });
  if (isFree) return { check, state: "ok", words: `${configured} on ${host} is free` };
  const address = `${tlsCertFile ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${configured}`;
  const isService = await isBreezeway(address);
  // On PostgreSQL there is no lock that shows whether a service runs here.
  if (databaseUrl && isService) return { check, state: "ok", words: `${address} is the service's` };
  const next = "choose another with --port, or BREEZEWAY_PORT";
  if (!isService) return { check, state: "fail", words: `${configured} on ${host} is taken by another program`, next };
  const words = `${configured} on ${host} is taken by a service that runs on another data folder`;
  return { check, state: "fail", words, next: `name its folder with --data, or ${next}` };
}

/** Does not verify the certificate: it is for the name that clients use, and this call uses the machine's address. */
function isBreezeway(address: string): Promise<boolean> {
  const url = new URL("/livez", address);
  return new Promise((settle) => {
    const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutMs) };
    const request = url.protocol === "https:" ? getOverTls(url, options) : get(url, options);
    request.once("response", (answer) => {
      const { "x-request-id": requestId } = answer.headers;
      readText(answer).then(
        (body) => settle(isOurs(answer.statusCode, requestId, body)),
        () => settle(false),
      );
    });
    request.once("error", () => settle(false));
    // An answer that switches protocols comes only here.
    request.once("upgrade", (_answer, socket) => {
      socket.destroy();
      settle(false);
    });
  });
}

/** Whether the answer of /livez is one of Breezeway: other programs answer 200 there too. */
function isOurs(status: number | undefined, requestId: unknown, body: string): boolean {
  // Version 0.1.0 answers no more than the status.
  return status === 200 && typeof requestId === "string" && /^{"status":"ok"[,}]/.test(body);
}

/** On this machine an ecosystem is simulated. Every simulator lists its scenes. */
async function isSimulator(apiUrl: string): Promise<boolean> {
  const answer = await fetch(new URL("/simulator/scenes", apiUrl), {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "manual",
  });
  const text = await answer.text();
  return answer.ok && text.startsWith('{"scenes":[');
}

export async function ecosystem(name: string, apiUrl: string): Promise<Finding> {
  try {
    const { status, body } = await fetch(apiUrl, { signal: AbortSignal.timeout(timeoutMs), redirect: "manual" });
    // Only the status matters: without it the connection stays open.
    await body?.cancel();
    if (status >= 500) {
      const next = "the ecosystem, or a proxy before it, has a problem; links wait until it answers again";
      return { check: name, state: "warn", words: `${apiUrl} answers ${status}`, next };
    }
    if (isLoopbackHost(new URL(apiUrl).hostname) && !(await isSimulator(apiUrl))) {
      const next = "stop that program, or name the simulator's address in BREEZEWAY_ECOSYSTEMS";
      return { check: name, state: "warn", words: `${apiUrl} is answered by a program that is no simulator`, next };
    }
    return { check: name, state: "ok", words: `${apiUrl} answers (${status} without a token, as it should)` };
  } catch {
    const next = "start a simulated one with breezeway simulator, or name the real one in BREEZEWAY_ECOSYSTEMS";
    return { check: name, state: "warn", words: `${apiUrl} doesn't answer`, next };
  }
}
