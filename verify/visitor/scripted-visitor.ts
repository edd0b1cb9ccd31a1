import { summaryOf } from "../client/answer-summary.ts";
import type { Answer, Deployment } from "../client/deployment.ts";
import { formOf } from "../client/deployment.ts";
import { ensure, type Finding } from "../outcome.ts";
import { type Form, readForm } from "./form.ts";
import type { Visitor } from "./visitor.ts";

const maxRedirects = 5;

/** Signs in with a password like a browser without JavaScript: pages, forms and cookies. */
export function scriptedVisitor(
  deployment: Deployment,
  person: { readonly name: string; readonly password: string },
): Visitor {
  return {
    async authorize(address, decision) {
      const tab = new Tab(deployment);
      const login = formWith(await tab.get(address), ["username", "password"], "login page");
      const terms = await tab.send(login, { username: person.name, password: person.password });
      const form = readForm(terms.text);
      ensure(!form?.names.includes("password"), () => ({
        seen: `The service showed the login page again after the password was sent (${summaryOf(terms)}).`,
        side: "client",
        next: "Check the user's name and password, that the user is of the client's tenant, and that cookies pass.",
      }));
      const decisionAnswer = await tab.send(formWith(terms, ["decision"], "terms page"), { decision }, false);
      ensure(decisionAnswer.status === 302 && decisionAnswer.location !== "", () => ({
        seen: `The answer to the terms was ${summaryOf(decisionAnswer)}, not a 302 to the client.`,
        ...pagesFailed,
      }));
      return new URL(decisionAnswer.location, deployment.url);
    },
  };
}

const pagesFailed = {
  side: "between",
  next: "Open the authorization address in a browser and look at the page; a proxy must pass cookies and redirects on.",
} as const satisfies Omit<Finding, "seen">;

function formWith(page: Answer, names: readonly string[], pageName: string): Form {
  const form = readForm(page.text);
  ensure(page.status === 200 && form !== undefined && names.every((name) => form.names.includes(name)), () => ({
    seen: `The answer was no ${pageName} with ${names.join(" and ")}: ${summaryOf(page)}.`,
    ...pagesFailed,
  }));
  return form;
}

/** A minimal browser: keeps cookies, and follows redirects within the deployment. */
class Tab {
  readonly #deployment: Deployment;
  readonly #cookies = new Map<string, string>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  get(address: string): Promise<Answer> {
    return this.#follow(address, {});
  }

  send({ action, hidden }: Form, values: Readonly<Record<string, string>>, follows = true): Promise<Answer> {
    const init = { method: "POST", body: formOf({ ...hidden, ...values }) };
    return follows ? this.#follow(action, init) : this.#request(action, init);
  }

  async #follow(address: string, init: RequestInit): Promise<Answer> {
    let answer = await this.#request(address, init);
    for (let hops = 0; this.#staysHere(answer) && hops < maxRedirects; hops++) {
      answer = await this.#request(answer.location, {});
    }
    return answer;
  }

  #staysHere({ status, location }: Answer): boolean {
    if (status < 300 || status >= 400 || location === "") return false;
    return new URL(location, this.#deployment.url).origin === new URL(this.#deployment.url).origin;
  }

  async #request(address: string, init: RequestInit): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const url = String(new URL(address, this.#deployment.url));
    const answer = await this.#deployment.call(url, { ...init, headers: cookie === "" ? {} : { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^\s*([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /;\s*max-age=0\b/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}
