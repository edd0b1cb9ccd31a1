/** A browser of an operator: it keeps the console's cookie, follows no redirect, and says which page sends a form. */
export class OperatorBrowser {
  readonly #baseUrl: string;
  cookie = "";
  /** What the last form has done, for the next page. */
  notice = "";

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.#fetch(path, { headers: { accept: "text/html", ...headers } });
  }

  send(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const sent = { "sec-fetch-site": "same-origin", ...headers };
    return this.#fetch(path, { method: "POST", body: new URLSearchParams(form), headers: sent });
  }

  /** A call of /admin/v1 by a script of the console. */
  async call(method: string, path: string, json?: object, headers: Readonly<Record<string, string>> = {}) {
    const answer = await this.ask(method, path, json, headers);
    // biome-ignore lint/suspicious/noExplicitAny: each call has its own answer
    return { status: answer.status, body: (await answer.json()) as any };
  }

  /** The same, with the whole answer. */
  ask(method: string, path: string, json?: object, headers: Readonly<Record<string, string>> = {}) {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const type = json === undefined ? {} : { "content-type": "application/json" };
    const sent = { "sec-fetch-site": "same-origin", ...type, ...headers };
    return this.#fetch(`/admin/v1${path}`, { method, headers: sent, ...body });
  }

  async #fetch(path: string, { headers, ...init }: RequestInit & { readonly headers: Record<string, string> }) {
    const cookies = [this.cookie, this.notice].filter((one) => one !== "").join("; ");
    const answer = await fetch(`${this.#baseUrl}${path}`, {
      ...init,
      redirect: "manual",
      headers: { ...headers, ...(cookies !== "" && { cookie: cookies }) },
    });
    for (const set of answer.headers.getSetCookie()) {
      const pair = set.slice(0, set.indexOf(";"));
      if (pair.includes("-done")) this.notice = set.includes("Max-Age=0;") ? "" : pair;
      else this.cookie = pair;
    }
    return answer;
  }
}
