import type { VerifyInput } from "./verify-input.ts";

/** An input that a row needs. */
export type Need = "client" | "sign-in" | "password" | "app-id" | "device" | "simulator" | "patience";

interface NeedFacts {
  readonly isMet: (input: VerifyInput) => boolean;
  readonly reason: string;
  readonly next: string;
}

export const needs: Readonly<Record<Need, NeedFacts>> = {
  client: {
    isMet: ({ client }) => client !== undefined,
    reason: "No client was given.",
    next: "Register one (breezeway client add), give --client-id, and its secret in BREEZEWAY_CLIENT_SECRET.",
  },
  "sign-in": {
    isMet: ({ person, signsInByHand }) => person !== undefined || signsInByHand,
    reason: "No user was given who could sign in.",
    next: "Give --user and BREEZEWAY_PASSWORD, or sign in yourself with --browser.",
  },
  password: {
    isMet: ({ person }) => person !== undefined,
    reason: "This row signs in several times, for which verify needs a password.",
    next: "Give --user, and the password in BREEZEWAY_PASSWORD.",
  },
  "app-id": {
    isMet: ({ appId }) => appId !== undefined,
    reason: "The platform's sign-in needs the tenant's id.",
    next: "Give --app-id; breezeway tenant list shows it.",
  },
  device: {
    isMet: ({ deviceId }) => deviceId !== undefined,
    reason: "No device was given that may be written to.",
    next: "Give --device with the id of an ordinary device of the user (breezeway device add).",
  },
  simulator: {
    isMet: ({ simulator }) => simulator !== undefined,
    reason: "No simulator was given that could take the ecosystem's place.",
    next: "Start one (breezeway simulator), let the service's BREEZEWAY_ECOSYSTEMS point to it, and give --simulator.",
  },
  patience: {
    isMet: ({ isPatient }) => isPatient,
    reason: "This row waits for more than a minute.",
    next: "Add --patient.",
  },
};
