import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Form, formOf, ScriptedBrowser, type Shown } from "../../oauth/scripted-browser.ts";
import { person, world } from "../../stories/world.ts";
import { DescribedAnswers, type DescribedOperation, type OpenApi, operationsOf } from "./described-answers.ts";

const callback = "http://127.0.0.1:9/callback";

export interface Call {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>> | URLSearchParams;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bearer?: string;
  /** A body with one JSON value in each line. */
  readonly lines?: readonly unknown[];
  /** The value of `Idempotency-Key`. */
  readonly key?: string;
  /** The values of the path parameters, joined by slashes. */
  readonly at?: string;
}

/** The real service, and callers of every kind, which check each answer against the service's own document. */
export async function documentedWorld(t: TestContext) {
  const story = await world(t, { hasProxy: true, allowsPrivateWebhooks: true });
  const { service, simulator, proxy, accountToken, client: platform, userId, addLamp } = story;
  const { baseUrl, parts } = service;
  const document: OpenApi = await (await fetch(`${baseUrl}/openapi.json`)).json();
  const answers = new DescribedAnswers(document);
  const operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));

  /** Calls an operation and checks the answer against the document. */
  const call = async (operationId: string, status: number, { at = "", ...rest }: Call = {}): Promise<OpenApi> => {
    const operation = operations.get(operationId);
    assert.ok(operation, `there is no operation ${operationId}`);
    const ids = at.split("/").values();
    const path = operation.path.replace(/\{\w+\}/g, () => ids.next().value ?? "1");
    const answer = await fetch(`${baseUrl}${path}${queryOf(rest.query)}`, requestOf(operation, rest));
    return check(operationId, status, { status: answer.status, headers: answer.headers, body: await bodyOf(answer) });
  };
  const check = (operationId: string, status: number, answer: Pick<Shown, "status" | "headers" | "body">): OpenApi => {
    assert.equal(answer.status, status, `${operationId}: ${answer.body}`);
    answers.check(operationId, answer);
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") && answer.body !== "";
    return isJson ? JSON.parse(answer.body) : answer.body;
  };

  const addClient = async (kind: "user" | "enterprise") => {
    const wanted = { tenant: "Story", name: "Teller", kind, redirectUris: [callback], requiresPkce: false };
    const { client, secret } = await parts.oauth.addClient(wanted);
    return { client_id: client.id, client_secret: secret };
  };
  const authorizeUrl = (clientId: string) =>
    `${baseUrl}/oauth2/authorize?${new URLSearchParams({ response_type: "code", client_id: clientId, state: "s" })}`;
  const code = async (clientId: string, scope?: string): Promise<string> => {
    const address = `${authorizeUrl(clientId)}${scope === undefined ? "" : `&scope=${scope}`}`;
    const returned = await new ScriptedBrowser(() => baseUrl).authorize(address, person);
    return returned.searchParams.get("code") ?? "";
  };

  return {
    baseUrl,
    signal: t.signal,
    answers,
    operations: [...operations.values()],
    parts,
    simulator,
    proxy,
    accountToken,
    platform,
    userId,
    addLamp,
    call,
    check,
    addClient,
    authorizeUrl,
    code,
    browser: () => new ScriptedBrowser(() => baseUrl),
    /** A login page's form, in its own browser. */
    async loginForm(clientId: string): Promise<{ readonly browser: ScriptedBrowser; readonly form: Form }> {
      const browser = new ScriptedBrowser(() => baseUrl);
      return { browser, form: formOf(await browser.get(authorizeUrl(clientId))) };
    },
  };
}

/** An event stream does not end: its first event is enough. */
export async function bodyOf(answer: Response): Promise<string> {
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer.text();
  let text = "";
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (/event: [\s\S]*\n\n/.test(text)) break;
  }
  return text;
}

export type DocumentedWorld = Awaited<ReturnType<typeof documentedWorld>>;

function queryOf(query: Call["query"]): string {
  return query ? `?${new URLSearchParams(query)}` : "";
}

function requestOf(
  { method }: DescribedOperation,
  { form, json, lines, bearer, key, method: other }: Call,
): RequestInit {
  const authorization = {
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(key !== undefined && { "idempotency-key": key }),
  };
  if (lines !== undefined) {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    return { method, headers: { ...authorization, "content-type": "application/x-ndjson" }, body };
  }
  if (json === undefined) {
    return {
      method: other ?? method,
      redirect: "manual",
      headers: { ...authorization },
      ...(form && { body: new URLSearchParams(form) }),
    };
  }
  const headers = { ...authorization, "content-type": "application/json" };
  return { method: other ?? method, headers, body: JSON.stringify(json) };
}
