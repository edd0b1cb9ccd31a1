/** Scrolls the entry of this page into view: the rail of a low window, and the bar of a telephone, show only some. */
export function showCurrentEntry(): void {
  document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}
