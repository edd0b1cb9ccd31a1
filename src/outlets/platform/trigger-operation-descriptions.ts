import type { ErrorDescription, Parameter } from "../../http/documentation/description.ts";
import type { Schema } from "../../model/json-schema.ts";
import { integer, list, object, text } from "../../model/json-schema.ts";
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

const triggerId = parameter("triggerId", "The id of an alert of this user.", {
  schema: { type: "integer", minimum: 1 },
  example: "7",
});
const unknownTrigger: ErrorDescription = { status: 500, code: 113, when: "The user has no alert with this id." };

const optional = (name: string, meaning: string, more: Partial<Parameter> = {}) =>
  parameter(name, meaning, { isRequired: false, ...more });
const flag = (name: string, meaning: string, example: string) =>
  optional(name, `${meaning} 0 or 1, true or false.`, { example });
const enable = parameter("enable", "Whether it is enabled: 0 or 1, true or false. Enabling arms it.", {
  example: "true",
});

const trueOrFalse = (description: string): Schema => text(description, { enum: ["true", "false"] });

const detail: Schema = object(
  "An alert.",
  {
    triggerId: integer("Its id."),
    devId: integer("The device that it watches."),
    action: text("What it does."),
    attrName: text("The attribute that it watches, as it was spelled when the alert was made."),
    operation: text("How it compares."),
    threshold: text("The number that it compares with; empty for `regex` and `equals`."),
    stringThreshold: text("The pattern or text that it compares with; empty for numbers."),
    address: text("The address, as it was sent."),
    msg: text("The message, as it was sent."),
    autoDisarm: trueOrFalse("Whether it fires once until its condition has been false."),
    disarmed: trueOrFalse("Whether it has fired and its condition has not been false since."),
    autoDelete: trueOrFalse("Whether it is removed when it has fired."),
    autoDisable: trueOrFalse("Whether it is disabled when it has fired."),
    enable: trueOrFalse("Whether it is enabled."),
  },
  {
    targetAttributesList: list(
      "One element for each attribute that it writes.",
      object("What it writes.", {
        deviceTriggerID: integer("The alert's id."),
        deviceID: integer("The device that it writes to."),
        attributeName: text("The attribute."),
        value: text("The value; empty erases."),
      }),
    ),
  },
);
const details: Schema = object("Alerts.", {}, { trigList: list("One element for each alert.", detail) });
const example =
  "<trigList><triggerId>7</triggerId><devId>41</devId><action>attribute</action><attrName>d.structures[1].a.away</attrName><operation>regex</operation><threshold></threshold><stringThreshold>away|auto-away</stringThreshold><address></address><msg></msg><autoDisarm>true</autoDisarm><disarmed>false</disarmed><autoDelete>false</autoDelete><autoDisable>false</autoDisable><enable>true</enable><targetAttributesList><deviceTriggerID>7</deviceTriggerID><deviceID>40</deviceID><attributeName>power</attributeName><value>off</value></targetAttributesList></trigList>";
const retCode = "<retCode>0</retCode>";

export const triggerDescriptions: readonly (readonly [operation: string, words: Words])[] = [
  [
    "addTrigger",
    {
      summary: "Add a trigger",
      words: [
        "An alert watches one attribute and fires when a change or a write makes its condition true. With `autoDisarm` it fires once and then not again until the condition has been false; without it, at every event for which the condition is true. Creating an alert never fires it.",
        "A `regex` must match the whole value: `away` doesn't match `auto-away`; `away|auto-away`, `(auto-)?away` and `.*away` do. The syntax is RE2, up to 256 characters.",
        "The action `attribute` writes to devices of the same user, in one step with the change that caused it; on a linked account only `requestWrite` can be written. Any other action is only sent as an event. Chains of alerts end after 8 steps or 200 writes.",
      ],
      parameters: [
        deviceId,
        parameter("action", "`attribute`, or a word of your own such as `email`.", { example: "attribute" }),
        parameter("attrName", "The attribute to watch.", { example: "d.structures[1].a.away" }),
        parameter("operation", "How to compare.", {
          schema: { type: "string", enum: ["regex", "equals", ">", ">=", "<", "<=", "=="] },
          example: "regex",
        }),
        optional("stringThreshold", "The pattern of `regex`, the text of `equals`.", { example: "away|auto-away" }),
        optional("threshold", "The number that the other operations compare with.", { schema: { type: "number" } }),
        optional("address", "Stored with the alert and sent when it fires."),
        optional("msg", "Stored with the alert and sent when it fires."),
        flag("autoDisarm", "Fire once until the condition has been false.", "true"),
        flag("autoDelete", "Remove it when it has fired.", "false"),
        flag("autoDisable", "Disable it when it has fired.", "false"),
        flag("enable", "Whether it is enabled; true when left out.", "true"),
        optional(
          "targetDeviceAttributes",
          'What the action `attribute` writes: `<device id>,<attribute>:"<value>"`, several separated by `;`. In a value `\\"` is a quote.',
          { example: '40,power:"off"' },
        ),
      ],
      answers: answer(
        "addTrigger",
        "The alert is created.",
        object("The new alert.", { triggerId: integer("Its id.") }),
        "<triggerId>7</triggerId>",
      ),
      errors: [
        badParameter,
        { ...unknownDevice, when: "The user has no device with this id, or none with a target's." },
        unknownAttribute,
        { status: 500, code: 111, when: "A target names an attribute that only the ecosystem sets." },
        badValue,
        { status: 500, code: 113, when: "The device has 1,000 alerts already, or the user 10,000." },
        {
          status: 500,
          code: 123,
          when: "The alert takes more than 16 KB, or all alerts of the user would take more than 8 MB.",
        },
      ],
    },
  ],
  [
    "getTrigger",
    {
      summary: "Read a trigger",
      words: ["One alert with its targets."],
      parameters: [triggerId],
      answers: answer("getTrigger", "The alert.", details, example),
      errors: [badParameter, unknownTrigger],
    },
  ],
  [
    "getTriggerDetailListByDevice",
    {
      summary: "List the alerts on a device",
      words: ["Repeated elements without a wrapper; a device without alerts gets a root without children."],
      parameters: [deviceId],
      answers: answer("getTriggerDetailListByDevice", "Its alerts.", details, example),
      errors: [badParameter, unknownDevice],
    },
  ],
  [
    "getTriggerDetailListByUser",
    {
      summary: "List all alerts of the user",
      words: ["Repeated elements without a wrapper; a user without alerts gets a root without children."],
      parameters: [
        optional("userId", "The user's own id, if at all: another one is refused with 106.", {
          schema: { type: "integer", minimum: 1 },
        }),
      ],
      answers: answer("getTriggerDetailListByUser", "Their alerts.", details, example),
    },
  ],
  [
    "updateTriggerEnableState",
    {
      summary: "Enable or disable an alert",
      words: ["Enabling arms it."],
      parameters: [triggerId, enable],
      answers: answer("updateTriggerEnableState", "It is done.", done, retCode),
      errors: [badParameter, unknownTrigger],
    },
  ],
  [
    "updateTriggersEnableStateByDevice",
    {
      summary: "Enable or disable all alerts on a device",
      words: ["Enabling arms them."],
      parameters: [deviceId, enable],
      answers: answer("updateTriggersEnableStateByDevice", "It is done.", done, retCode),
      errors: [badParameter, unknownDevice],
    },
  ],
  [
    "removeTrigger",
    {
      summary: "Remove a trigger",
      words: ["Its id is never used again."],
      parameters: [triggerId],
      answers: answer("removeTrigger", "The alert is removed.", done, retCode),
      errors: [badParameter, unknownTrigger],
    },
  ],
];
