import assert from "node:assert/strict";
import { XMLParser } from "fast-xml-parser";

export interface ShownAttribute {
  readonly value: string;
  readonly updTime: number;
}

export interface ShownDevice {
  readonly presenceInfo: string;
  readonly typeName: string;
  readonly attributes: ReadonlyMap<string, ShownAttribute>;
}

const parser = new XMLParser({
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => name === "attrList" || name === "devList",
});

/** A client of the platform calls and the adaptor, written from their descriptions alone. */
export class PlatformClient {
  readonly #baseUrl: () => string;
  secToken = "";

  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl;
  }

  async login(name: string, password: string, appId: number): Promise<void> {
    const { userLoginResponse } = await this.call("userLogin", { name, password, appId: String(appId) });
    this.secToken = userLoginResponse.securityToken;
  }

  /** The parsed answer, which may be a fault. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  async call(operation: string, parameters: Record<string, string>): Promise<any> {
    const body = new URLSearchParams(parameters);
    const answer = await fetch(`${this.#baseUrl()}/zdk/services/zamapi/${operation}`, { method: "POST", body });
    return withoutPrefix(parser.parse(await answer.text()));
  }

  async device(deviceId: number): Promise<ShownDevice> {
    const answer = await this.call("getDeviceAttributesWithValues", {
      secToken: this.secToken,
      devId: String(deviceId),
    });
    const shown = answer.getDeviceAttributesWithValuesResponse;
    assert.ok(shown, JSON.stringify(answer));
    const attributes = new Map<string, ShownAttribute>();
    for (const { name, value, updTime } of shown.attrList ?? []) {
      attributes.set(name, { value: value ?? "", updTime: Number(updTime) });
    }
    return { presenceInfo: shown.presenceInfo, typeName: shown.typeName, attributes };
  }

  async federate(method: "POST" | "PUT", anAccessToken: string, anEcosystemName = "nest", anEcosystemUrl = "") {
    const body = new URLSearchParams({ secToken: this.secToken, anEcosystemName, anAccessToken, anEcosystemUrl });
    const answer = await fetch(`${this.#baseUrl()}/adaptor/federatedtokens`, { method, body });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /** The status of the link. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  async linkStatus(anEcosystemName = "nest"): Promise<any> {
    const query = new URLSearchParams({ secToken: this.secToken, anEcosystemName });
    const answer = await fetch(`${this.#baseUrl()}/adaptor/federatedtokens?${query}`);
    return answer.json();
  }

  async unlink(anEcosystemName = "nest") {
    const query = new URLSearchParams({ secToken: this.secToken, anEcosystemName });
    const answer = await fetch(`${this.#baseUrl()}/adaptor/federatedtokens?${query}`, { method: "DELETE" });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  async largeStrings(deviceId: number) {
    const query = new URLSearchParams({ secToken: this.secToken, id: String(deviceId) });
    const answer = await fetch(`${this.#baseUrl()}/adaptor/largestrings?${query}`);
    const body = (await answer.json()) as {
      readonly labels: Record<string, string>;
      readonly identifiers: Record<string, string[]>;
    };
    return { status: answer.status, body };
  }
}

function withoutPrefix(parsed: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name.replace(/^ns1:/, ""), value]));
}
