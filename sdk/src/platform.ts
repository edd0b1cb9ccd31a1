import type { Attribute, Device, DeviceSummary } from "./devices.ts";
import { NotFound, UnexpectedAnswer } from "./errors.ts";
import { numberedRefusal, refusalInJson, unexpectedAnswer } from "./refusals.ts";
import type { Answer, CallOptions, Transport } from "./transport.ts";
import { type Trigger, type TriggerDefinition, triggerParameters } from "./triggers.ts";
import { childText, readXml, type XmlElement } from "./xml.ts";

/** The credentials of the platform's login. */
export interface Login {
  readonly name: string;
  readonly password: string;
  /** The tenant's id. */
  readonly appId: number | string;
}

/**
 * The platform calls: XML. They are sent by POST, so that no URL holds a secToken.
 * @internal
 */
export class PlatformCalls {
  readonly #transport: Transport;
  readonly #baseUrl: string;

  constructor(transport: Transport, baseUrl: string) {
    this.#transport = transport;
    this.#baseUrl = baseUrl;
  }

  async userLogin({ name, password, appId }: Login, { signal }: CallOptions) {
    const parameters = { name, password, appId: String(appId) };
    const root = await this.#call("userLogin", parameters, { signal, secrets: [password] });
    return { userId: numberOf(root, "userId"), secToken: required(root, "securityToken") };
  }

  async userLogout(secToken: string, { signal }: CallOptions): Promise<void> {
    await this.#call("userLogout", { secToken }, { signal });
  }

  async getDeviceList(secToken: string, { signal }: CallOptions): Promise<readonly DeviceSummary[]> {
    const root = await this.#call("getDeviceList", { secToken }, { signal, isRepeatable: true });
    return childrenOf(root, "devList").map((device) => ({
      deviceId: numberOf(device, "devId"),
      deviceName: required(device, "devName"),
      deviceTypeName: undefined,
      typeId: numberOf(device, "typeId"),
      presenceInfo: undefined,
    }));
  }

  async getDevice(secToken: string, deviceId: number, { signal }: CallOptions): Promise<Device> {
    const parameters = { secToken, devId: String(deviceId) };
    const root = await this.#call("getDeviceAttributesWithValues", parameters, { signal, isRepeatable: true });
    const attributes = childrenOf(root, "attrList").map((attribute): [string, Attribute] => {
      const name = required(attribute, "name");
      const value = readValue(name, required(attribute, "value"));
      return [name, { value, updateTime: numberOf(attribute, "updTime") }];
    });
    return {
      deviceId,
      deviceName: undefined,
      deviceTypeName: required(root, "typeName"),
      presenceInfo: numberOf(root, "presenceInfo"),
      stale: undefined,
      confirmedTime: undefined,
      attributes: Object.fromEntries(attributes),
    };
  }

  /**
   * As in /v3: an erased attribute is null with the time of its erasure, and so is the empty fan request of a present
   * thermostat. An attribute that never had a value is absent.
   */
  async getDeviceAttributes(
    secToken: string,
    deviceId: number,
    names: readonly string[],
    { signal }: CallOptions,
  ): Promise<Readonly<Record<string, Attribute>>> {
    const read = async (name: string): Promise<readonly [string, Attribute][]> => {
      const parameters = { secToken, devId: String(deviceId), name };
      try {
        const root = await this.#call("getDeviceAttribute", parameters, { signal, isRepeatable: true });
        const value = readValue(name, required(root, "value"));
        const updateTime = numberOf(root, "updTime");
        return value === null && updateTime === 0 ? [] : [[name, { value, updateTime }]];
      } catch (error) {
        if (error instanceof NotFound && error.code === "unknown_attribute") return [];
        throw error;
      }
    };
    return Object.fromEntries((await Promise.all(names.map(read))).flat());
  }

  async setDeviceAttribute(
    secToken: string,
    deviceId: number,
    name: string,
    value: string,
    { signal }: CallOptions,
  ): Promise<void> {
    await this.#call("setDeviceAttribute", { secToken, devId: String(deviceId), name, value }, { signal });
  }

  async addTrigger(secToken: string, definition: TriggerDefinition, { signal }: CallOptions): Promise<number> {
    const root = await this.#call("addTrigger", { secToken, ...triggerParameters(definition) }, { signal });
    return numberOf(root, "triggerId");
  }

  async getTriggers(
    secToken: string,
    deviceId: number | undefined,
    { signal }: CallOptions,
  ): Promise<readonly Trigger[]> {
    const operation = deviceId === undefined ? "getTriggerDetailListByUser" : "getTriggerDetailListByDevice";
    const filter: Record<string, string> = deviceId === undefined ? {} : { devId: String(deviceId) };
    const root = await this.#call(operation, { secToken, ...filter }, { signal, isRepeatable: true });
    return childrenOf(root, "trigList").map(readTrigger);
  }

  async setTriggerEnabled(
    secToken: string,
    triggerId: number,
    enable: boolean,
    { signal }: CallOptions,
  ): Promise<void> {
    const parameters = { secToken, triggerId: String(triggerId), enable: String(enable) };
    await this.#call("updateTriggerEnableState", parameters, { signal });
  }

  async removeTrigger(secToken: string, triggerId: number, { signal }: CallOptions): Promise<void> {
    await this.#call("removeTrigger", { secToken, triggerId: String(triggerId) }, { signal });
  }

  async #call(
    operation: string,
    parameters: Readonly<Record<string, string>>,
    options: CallOptions & { readonly isRepeatable?: boolean; readonly secrets?: readonly string[] },
  ): Promise<XmlElement> {
    const answer = await this.#transport.send({
      method: "POST",
      url: `${this.#baseUrl}/zdk/services/zamapi/${operation}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(parameters).toString(),
      isRepeatable: options.isRepeatable ?? false,
      secrets: [parameters.secToken ?? "", ...(options.secrets ?? [])],
      signal: options.signal,
    });
    return readRoot(answer, `${operation}Response`);
  }
}

/** A fault is XML. An older service, or a proxy in front of it, may refuse a call in JSON. */
function readRoot(answer: Answer, expectedName: string): XmlElement {
  const isXml = answer.text.trimStart().startsWith("<");
  if (!isXml) throw refusalInJson(answer);
  let root: XmlElement;
  try {
    root = readXml(answer.text);
  } catch (error) {
    throw answer.status === 200 ? error : unexpectedAnswer(answer);
  }
  if (root.name === "requestFault") {
    throw numberedRefusal(answer, numberOf(root, "errorCode"), required(root, "errorMsg"));
  }
  if (answer.status !== 200 || root.name !== expectedName) throw unexpectedAnswer(answer);
  return root;
}

function readTrigger(element: XmlElement): Trigger {
  const text = (name: string) => childText(element, name) ?? "";
  const isOn = (name: string) => text(name) === "true" || text(name) === "1";
  return {
    triggerId: numberOf(element, "triggerId"),
    deviceId: numberOf(element, "devId"),
    attrName: text("attrName"),
    action: text("action"),
    operation: text("operation"),
    stringThreshold: text("stringThreshold"),
    threshold: text("threshold") === "" ? undefined : Number(text("threshold")),
    address: text("address"),
    msg: text("msg"),
    autoDisarm: isOn("autoDisarm"),
    disarmed: isOn("disarmed"),
    autoDelete: isOn("autoDelete"),
    autoDisable: isOn("autoDisable"),
    enable: isOn("enable"),
    targets: childrenOf(element, "targetAttributesList").map((target) => ({
      deviceId: numberOf(target, "deviceID"),
      attributeName: required(target, "attributeName"),
      value: required(target, "value"),
    })),
  };
}

/** Platform calls return only text. Totals become numbers and blanks null, as in /v3. */
function readValue(name: string, text: string): string | number | null {
  if (text === "") return null;
  const isTotal = /^o\.(totalStructures$|structures\[[12]\]\.totals\.)/.test(name) && /^\d+$/.test(text);
  return isTotal ? Number(text) : text;
}

function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

function required(element: XmlElement, name: string): string {
  const text = childText(element, name);
  if (text === undefined) throw new UnexpectedAnswer(`The answer has no ${name}.`, 200);
  return text;
}

function numberOf(element: XmlElement, name: string): number {
  const number = Number(required(element, name).trim() || Number.NaN);
  if (!Number.isSafeInteger(number)) throw new UnexpectedAnswer(`The answer's ${name} is no number.`, 200);
  return number;
}
