import type { ErrorDescription } from "../../http/documentation/description.ts";
import { integer, list, milliseconds, object, text } from "../../model/json-schema.ts";
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
} from "./operation-schemas.ts";

const writeErrors: readonly ErrorDescription[] = [
  badParameter,
  unknownDevice,
  unknownAttribute,
  { status: 500, code: 111, when: "Only the ecosystem sets this attribute." },
  badValue,
  {
    status: 500,
    code: 123,
    when: "The device would have more than 1,000 attributes, erased ones included, or the attributes of the user's devices would take more than 8 MB.",
  },
];

export const deviceDescriptions: readonly (readonly [operation: string, words: Words])[] = [
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
      words: ["Attributes without a value are left out. Rely on names: the numbers in `id` may change."],
      parameters: [
        deviceId,
        parameter("deviceTypeId", "Ignored: clients send 1 whatever the type is.", {
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
      words: [
        "An erased attribute is an empty element, with the time of its erasure in `updTime`. The `requestWrite` of a present thermostat that was never written is an empty element with the time at which the thermostat got its index. Any other name of a linked account that never had a value is an empty element with `updTime` 0. The name of an erased attribute of an ordinary device is removed after 30 days: then the answer is fault 110, as for a name that was never written.",
      ],
      parameters: [deviceId, parameter("name", "The attribute's name.", { example: "d.structures[1].a.away" })],
      answers: answer(
        "getDeviceAttribute",
        "The attribute.",
        object("An attribute.", {
          value: text("Its value; empty when it was erased."),
          updTime: milliseconds("When it changed last."),
        }),
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
      errors: writeErrors,
    },
  ],
  [
    "setMultiDeviceAttributes2",
    {
      summary: "Write up to three attributes of a device",
      words: [
        "All of them are written at once, or none. Every pair except the first may be left out. An empty value erases.",
      ],
      parameters: [
        { ...deviceId, example: "40" },
        parameter("name1", "The name of an attribute.", { example: "power" }),
        parameter("value1", "Its new value.", { example: "on" }),
        parameter("name2", "The name of another attribute.", { isRequired: false, example: "level" }),
        parameter("value2", "Its new value. It must be there when `name2` is.", { isRequired: false, example: "70" }),
        parameter("name3", "The name of a third attribute.", { isRequired: false }),
        parameter("value3", "Its new value. It must be there when `name3` is.", { isRequired: false }),
      ],
      answers: answer("setMultiDeviceAttributes2", "All are written.", done, "<retCode>0</retCode>"),
      errors: writeErrors,
    },
  ],
];
