import type { WireRequest } from "../isolation/wire.ts";

/** Part of every wrong value: no answer may repeat it. */
export const sent = "SENT-BY-MISTAKE";

export interface BadRequest {
  readonly name: string;
  readonly request: WireRequest;
  /** The request may succeed: some strange values are ignored, or are valid for this address. */
  readonly mayPass?: boolean;
  /** It never becomes a request, or reaches no address that determines the format of the refusal. */
  readonly isNowhere?: boolean;
}

/** Strange values; some parameters may accept them. */
export const strangeValues = [
  "",
  " ",
  `${sent}\0`,
  `${sent}\u0007\u001b[31m`,
  `${sent}\r\nX-Injected: yes`,
  `${sent}'"<script>&`,
  `../../${sent}`,
  `${sent}\u202e\ufeff\uffff`,
  "__proto__",
  "constructor",
  sent.repeat(400),
  `${sent}%00`,
];
