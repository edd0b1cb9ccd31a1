/** A person who signs in. */
export interface Person {
  readonly name: string;
  readonly password: string;
}

/** A browser without script, in which a person signs in to a cloud and gives an assistant access. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Opens the authorization address, signs in, and accepts. Returns the redirect to the assistant. */
  async giveAccess(address: string, { name, password }: Person): Promise<URL> {
    const { origin } = new URL(address);
    let shown = await this.#open(new URL(address), { method: "GET" });
    for (const answers of [{ username: name, password }, { decision: "accept" }]) {
      while (shown.location?.origin === origin) shown = await this.#open(shown.location, { method: "GET" });
      if (shown.location) break;
      const { action, fields } = formIn(shown.body);
      const body = new URLSearchParams({ ...fields, ...answers });
      shown = await this.#open(new URL(action, address), { method: "POST", body });
    }
    if (!shown.location || shown.location.origin === origin) {
      throw new Error(`The cloud showed a page with status ${shown.status} instead of giving access.`);
    }
    return shown.location;
  }

  async #open(url: URL, init: RequestInit) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = cookie === "" ? {} : { cookie };
    const answer = await fetch(url, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(waitMs) });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    return {
      status: answer.status,
      body: await answer.text(),
      location: location === null ? undefined : new URL(location, url),
    };
  }
}

const waitMs = 10_000;

/** The first form of a page: its address and its hidden fields. */
function formIn(page: string): { readonly action: string; readonly fields: Readonly<Record<string, string>> } {
  const [form] = /<form[\s\S]*?<\/form>/.exec(page) ?? [];
  if (form === undefined) throw new Error("The cloud showed a page without a form.");
  const hidden = form.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
  return {
    action: attribute(form, "action"),
    fields: Object.fromEntries(hidden.map((tag) => [attribute(tag, "name"), attribute(tag, "value")])),
  };
}

function attribute(tag: string, name: string): string {
  const [, value = ""] = new RegExp(`\\s${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replace(/&(amp|lt|gt|quot|#39);/g, (_, entity: string) => entities[entity]!);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
