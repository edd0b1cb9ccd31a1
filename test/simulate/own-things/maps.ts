/** The trait maps that the company sets in turn, by the type of its devices. */
export const maps: Readonly<Record<string, readonly object[]>> = {
  Light: [
    {
      kind: "light",
      online: { silentAfterSeconds: 10 },
      commandSeconds: 4,
      traits: {
        onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } },
        brightness: { percent: { attribute: "level", writable: true } },
      },
    },
    // Another deadline and another silence limit; each field is read as before.
    {
      kind: "light",
      online: { silentAfterSeconds: 14 },
      commandSeconds: 7,
      traits: {
        onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } },
        brightness: { percent: { attribute: "level", writable: true } },
      },
    },
    // The words have changed their meaning.
    {
      kind: "light",
      online: { attribute: "link", words: { true: "up", false: "down" } },
      commandSeconds: 5,
      traits: { onOff: { on: { attribute: "power", words: { true: "off", false: "on" }, writable: true } } },
    },
  ],
  Valve: [
    {
      kind: "switch",
      commandSeconds: 3,
      traits: { onOff: { on: { attribute: "valve", words: { true: "open", false: "shut" }, writable: true } } },
    },
    // Another attribute.
    {
      kind: "switch",
      commandSeconds: 6,
      traits: { onOff: { on: { attribute: "gate", words: { true: "open", false: "shut" }, writable: true } } },
    },
  ],
};

/** What a device may report of each attribute; some of it can't be read. */
export const reports: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  Light: {
    power: ["on", "off", "on", "off", "banana"],
    level: ["1", "40", "75", "100", "dim"],
    link: ["up", "up", "down"],
  },
  Valve: { valve: ["open", "shut", "stuck"], gate: ["open", "shut"] },
};
