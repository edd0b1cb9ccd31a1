/** Scrolls the entry of this page into view: the rail scrolls in a short window and on a phone. */
export function showCurrentEntry(): void {
  document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}
