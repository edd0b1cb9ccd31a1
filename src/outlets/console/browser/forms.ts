import { problemOf, replaceParts } from "./page-parts.ts";

const answerWithinMs = 15_000;

/** Sends a form of the page and shows the page again in place. Forms without `data-quick` are sent by the browser. */
export function sendFormsInPlace(read: () => void): void {
  // One after the other: the service carries out presses in the order in which they were made.
  let sent: Promise<void> = Promise.resolve();
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (form.dataset.quick === undefined) return;
    event.preventDefault();
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || button.getAttribute("aria-busy") === "true") return;
    const body = new URLSearchParams(new FormData(form, button) as unknown as Record<string, string>);
    const typed = typedInto(form);
    button.setAttribute("aria-busy", "true");
    // It is about an earlier form.
    document.querySelector(".done")?.remove();
    say("Sending …", true);
    sent = sent.then(() => send({ form, button, body, typed })).finally(read);
  });
}

interface Press {
  readonly form: HTMLFormElement;
  readonly button: HTMLButtonElement;
  readonly body: URLSearchParams;
  /** What the visible fields held when the button was pressed. */
  readonly typed: string;
}

async function send({ form, button, body, typed }: Press): Promise<void> {
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "text/html" }, signal });
    // Without the style of the other page, which the policy of this one refuses.
    const text = (await answer.text()).replace(/<style>.*?<\/style>/s, "");
    const shown = new DOMParser().parseFromString(text, "text/html");
    const path = new URL(answer.url).pathname;
    if (path === "/console/password" || path === "/console/sign-in") return location.assign(answer.url);
    if (answer.ok) {
      // Somebody who typed on while the answer was on its way keeps their text.
      if (typedInto(form) === typed) form.reset();
      replaceParts(shown.body);
      say("");
    } else say(shown.querySelector("main p")?.textContent ?? problemOf(answer.status).sentence);
  } catch {
    say("No answer came. Whether it was done is unknown: look at what the page shows.");
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** The values of the form's visible fields, to compare. */
function typedInto(form: HTMLFormElement): string {
  const fields = [...form.querySelectorAll<HTMLInputElement>("input:not([type=hidden]), textarea, select")];
  return JSON.stringify(fields.map(({ name, value, checked }) => [name, value, checked]));
}

/** What became of the last press of a button. */
function say(sentence: string, waits = false): void {
  const notice = document.getElementById("notice");
  if (notice === null) return;
  notice.textContent = sentence;
  notice.toggleAttribute("data-waits", waits);
}
