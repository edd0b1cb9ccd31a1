import assert from "node:assert/strict";

/** A form: its action and its hidden fields. */
export interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type FilledIn = Readonly<Record<string, string | string[] | undefined>>;

export interface Shown {
  /** The address that was asked for. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The redirect's target; empty without a redirect. */
  readonly location: string;
  /** The first form of the page, if there is one. */
  readonly form: Form | undefined;
}

/** A browser without script. It keeps cookies and reads forms. It follows the redirect to the login page, and no other. */
export class ScriptedBrowser {
  readonly #baseUrl: () => string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly cookies = new Map<string, string>();

  /** The headers are added to each request, as a proxy would do. */
  constructor(baseUrl: () => string, headers: Readonly<Record<string, string>> = {}) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
  }

  async get(address: string): Promise<Shown> {
    const shown = await this.#send(address, { method: "GET" });
    const isLogin = this.#isOurs(shown.location) && /\/oauth2\/login\?/.test(shown.location);
    return isLogin ? this.#send(shown.location, { method: "GET" }) : shown;
  }

  /** Submits a form with the user's input; undefined removes a field, and a list stands for ticked boxes. */
  submit({ action, fields }: Form, filledIn: FilledIn): Promise<Shown> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...fields, ...filledIn })) {
      for (const one of value === undefined ? [] : [value].flat()) body.append(name, one);
    }
    return this.#send(action, { method: "POST", body });
  }

  /** Opens the authorization address and signs in; returns the terms page. */
  async signIn(address: string, person: { readonly name: string; readonly password: string }): Promise<Shown> {
    const login = await this.get(address);
    assert.equal(login.status, 200, `no login page: ${login.status} ${login.location}${login.body}`);
    const sent = await this.submit(formOf(login), { username: person.name, password: person.password });
    return this.#isOurs(sent.location) ? this.get(sent.location) : sent;
  }

  /** The whole flow: signs in, decides, and returns the redirect to the client. */
  async authorize(
    address: string,
    person: { readonly name: string; readonly password: string },
    decision: "accept" | "decline" = "accept",
  ): Promise<URL> {
    const terms = await this.signIn(address, person);
    const decided = await this.submit(formOf(terms), { decision });
    assert.equal(decided.status, 302, decided.body);
    return new URL(decided.location);
  }

  #isOurs(location: string): boolean {
    // One address may have several nodes behind it, with different ports.
    const baseUrl = this.#baseUrl();
    return location !== "" && new URL(location, baseUrl).origin === new URL(baseUrl).origin;
  }

  async #send(address: string, init: RequestInit): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const url = new URL(address, this.#baseUrl());
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: cookie === "" ? this.#headers : { ...this.#headers, cookie },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const body = await answer.text();
    return {
      url: url.href,
      status: answer.status,
      headers: answer.headers,
      body,
      location: answer.headers.get("location") ?? "",
      form: readForm(body),
    };
  }
}

export function formOf(shown: Shown): Form {
  assert.ok(shown.form, `no form in ${shown.status} ${shown.location} ${shown.body}`);
  return shown.form;
}

function readForm(html: string): Form | undefined {
  const [whole] = /<form[\s\S]*?<\/form>/.exec(html) ?? [];
  if (!whole) return undefined;
  const fields: Record<string, string> = {};
  for (const [tag] of whole.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
    fields[attribute(tag, "name")] = attribute(tag, "value");
  }
  return { action: attribute(/<form[^>]*>/.exec(whole)![0], "action"), fields };
}

function attribute(tag: string, name: string): string {
  return unescapeHtml(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&([a-z]+|#\w+);/g, (whole, name: string) => entities[name] ?? whole);
}
