import type { Problem } from "./freshness.ts";
import { showLocalTimes } from "./local-times.ts";
import { morph } from "./morph.ts";

const answerWithinMs = 3_500;

/** Reads the page's parts again and replaces them. Returns what is wrong; undefined when they are up to date. */
export async function readParts(onTime: (timeMs: number) => void): Promise<Problem | undefined> {
  const shown = [...document.querySelectorAll<HTMLElement>("main > section[data-part]:not([data-still])")];
  const address = new URL(location.href);
  address.searchParams.set("parts", shown.map(({ dataset }) => dataset.part).join(","));
  let answer: Response;
  let text: string;
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    answer = await fetch(address, { headers: { accept: "text/html" }, redirect: "error", signal });
    text = await answer.text();
  } catch {
    return { sentence: "The service does not answer. The page tries again by itself." };
  }
  if (!answer.ok) return problemOf(answer.status);
  const timeMs = Number(answer.headers.get("x-page-time"));
  if (!(timeMs > 0)) return { sentence: "Something else answers at this address." };
  onTime(timeMs);
  replaceParts(new DOMParser().parseFromString(text, "text/html").body);
  return undefined;
}

/** Replaces the parts of the page by those that `source` holds. */
export function replaceParts(source: Element): void {
  for (const part of source.querySelectorAll<HTMLElement>("section[data-part]:not([data-still])")) {
    const present = document.getElementById(part.id);
    if (present !== null) morph(present, part);
  }
  showLocalTimes();
}

export function problemOf(status: number): Problem {
  const to = `/console/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  if (status === 401) return { sentence: "You are signed out.", link: { words: "Sign in", to } };
  if (status === 403) return { sentence: "Your role does not allow this page any more." };
  if (status === 404) return { sentence: "What this page shows does not exist any more." };
  if (status === 429) return { sentence: "You have too many calls in progress. The page tries again by itself." };
  return { sentence: `The service answers with an error (${status}). The page tries again by itself.` };
}
