import type { OperationDescription } from "../description.ts";
import { triggerDescriptions } from "./platform-triggers.ts";
import {
  answer,
  badParameter,
  badValue,
  deviceId,
  done,
  parameter,
  unknownAttribute,
  unknownDevice,
  type Words,
} from "./platform-words.ts";
import { integer, list, milliseconds, object, text } from "./schema.ts";

/** What the platform calls tell of themselves: their names, and who may call them. */
export type OperationRules = ReadonlyMap<string, { readonly access: "public" | "secToken" }>;

/** Each platform operation with its words. One without stops the start: nothing is served that isn't described. */
export function describedOperations(rules: OperationRules): readonly OperationDescription[] {
  return [...rules].map(([operation, { access }]) => {
    const description = descriptions.get(operation);
    if (!description) throw new Error(`The platform operation ${operation} has no description.`);
    return { ...description, operationId: operation, tag: "Platform calls", operation, access };
  });
}

const descriptions: ReadonlyMap<string, Words> = new Map<string, Words>([
  [
    "userLogin",
    {
      summary: "Sign a user in",
      words: [
        "Gives the security token that platform calls and the adaptor take as `secToken`. It is good for 60 minutes from its last use and for 24 hours at most, and ends with `userLogout`, a new password or the user's removal.",
      ],
      parameters: [
        parameter("name", "The user's name.", { schema: { type: "string", maxLength: 60 }, example: "ada" }),
        parameter("password", "The user's password.", {
          schema: { type: "string", maxLength: 60 },
          variable: "PASSWORD",
        }),
        parameter("appId", "The id of the user's tenant.", { schema: { type: "integer", minimum: 1 }, example: "1" }),
      ],
      answers: answer(
        "userLogin",
        "The user is signed in.",
        object("Who signed in.", {
          userId: integer("The user's id."),
          securityToken: text("The secToken for all further calls."),
        }),
        "<userId>1</userId><securityToken>bws_…</securityToken>",
      ),
      errors: [
        { status: 500, code: 101, when: "The name, the password or the tenant is wrong; which of them is not told." },
        badParameter,
        { status: 500, code: 107, when: "Too many failed attempts; `Retry-After` says when to come back." },
      ],
    },
  ],
  [
    "userLogout",
    {
      summary: "Sign a user out",
      words: ["Ends the security token at once."],
      answers: answer("userLogout", "The token has ended.", done, "<retCode>0</retCode>"),
    },
  ],
  [
    "getDeviceList",
    {
      summary: "List the user's devices",
      words: [
        "A linked account appears here as an ordinary device. A user without devices gets a root without children.",
      ],
      parameters: [
        parameter("userId", "The user's own id, if at all: another one is refused with 106.", {
          isRequired: false,
          schema: { type: "integer", minimum: 1 },
        }),
      ],
      answers: answer(
        "getDeviceList",
        "The user's devices: repeated elements without a wrapper.",
        object(
          "The user's devices.",
          {},
          {
            devList: list(
              "One element for each device.",
              object("A device.", {
                devId: integer("The device's id."),
                devName: text("Its name."),
                typeId: integer("The number of its type."),
                sleepMode: integer("Always 0.", { enum: [0] }),
                appID: integer("The tenant's id."),
                userID: integer("The user's id."),
              }),
            ),
          },
        ),
        "<devList><devId>41</devId><devName>Nest account</devName><typeId>1</typeId><sleepMode>0</sleepMode><appID>1</appID><userID>1</userID></devList>",
      ),
    },
  ],
  [
    "getDeviceAttributesWithValues",
    {
      summary: "Read all attributes of a device",
      words: ["Attributes without a value are left out. Names are the contract; the numbers in `id` are not."],
      parameters: [
        deviceId,
        parameter("deviceTypeId", "The number of the device's type, if at all: a wrong one is refused with 109.", {
          isRequired: false,
          schema: { type: "integer" },
        }),
      ],
      answers: answer(
        "getDeviceAttributesWithValues",
        "The device with its attributes: repeated elements without a wrapper.",
        object(
          "A device with its attributes.",
          {
            typeId: integer("The number of its type."),
            typeName: text("The name of its type; `EcosystemAccount` for a linked account."),
            presenceInfo: integer("1 when it is present, else 0.", { enum: [0, 1] }),
          },
          {
            attrList: list(
              "One element for each attribute that has a value.",
              object("An attribute.", {
                id: integer("A number that may differ from answer to answer."),
                name: text("Its name."),
                displayName: text("The same."),
                value: text("Its value."),
                updTime: milliseconds("When it changed last."),
              }),
            ),
          },
        ),
        "<typeId>1</typeId><typeName>EcosystemAccount</typeName><presenceInfo>1</presenceInfo><attrList><id>17</id><name>d.structures[1].a.away</name><displayName>d.structures[1].a.away</displayName><value>home</value><updTime>1785312000000</updTime></attrList>",
      ),
      errors: [badParameter, unknownDevice],
    },
  ],
  [
    "getDeviceAttribute",
    {
      summary: "Read one attribute of a device",
      words: ["An attribute without a value is an empty element, with `updTime` 0."],
      parameters: [deviceId, parameter("name", "The attribute's name.", { example: "d.structures[1].a.away" })],
      answers: answer(
        "getDeviceAttribute",
        "The attribute.",
        object("An attribute.", { value: text("Its value."), updTime: milliseconds("When it changed last.") }),
        "<value>home</value><updTime>1785312000000</updTime>",
      ),
      errors: [badParameter, unknownDevice, unknownAttribute],
    },
  ],
  [
    "setDeviceAttribute",
    {
      summary: "Write one attribute of a device",
      words: [
        'An empty value erases. On a linked account only `….fan_timer_active.requestWrite` of a thermostat is writable: `"true"` asks for the fan.',
      ],
      parameters: [
        deviceId,
        parameter("name", "The attribute's name.", {
          example: "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite",
        }),
        parameter("value", "Its new value.", { example: "true" }),
      ],
      answers: answer("setDeviceAttribute", "It is written.", done, "<retCode>0</retCode>"),
      errors: [
        badParameter,
        unknownDevice,
        unknownAttribute,
        { status: 500, code: 111, when: "The ecosystem alone sets this attribute." },
        badValue,
        {
          status: 500,
          code: 123,
          when: "The device would have more than 1,000 attributes, erased ones included, or the attributes of the user's devices would take more than 8 MB.",
        },
      ],
    },
  ],
  ...triggerDescriptions,
]);
