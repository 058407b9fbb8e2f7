// The keys of a page, behind a button and "?". Pages that people can steer have a longer list of their own.

import { element } from "./page.js";

const EVERYWHERE = [["?", "show these keys"]];
const LISTS = {
  overview: [["j k", "next, previous session"], ["Enter", "open the session"], ["/", "search"]],
  history: [["j k", "next, previous event"], ["Enter", "show the plan at that event"]],
  compare: [["Tab", "next control"]],
};

export async function showKeys() {
  if (document.documentElement.matches(".steering")) return (await import("./dialogs.js")).showKeys();
  const page = document.querySelector("main")?.classList[0];
  const line = ([names, does]) => {
    const keys = names.split(" ").map((name) => `<kbd>${name}</kbd>`).join("");
    return `<div><dt>${keys}</dt><dd>${does}</dd></div>`;
  };
  const dialog = element(
    `<dialog aria-labelledby="keys-name"><h2 id="keys-name">Keys</h2>
    <dl class="keys">${[...(LISTS[page] ?? []), ...EVERYWHERE].map(line).join("")}</dl>
    <form method="dialog" class="dialog-buttons"><button class="primary">Close</button></form></dialog>`,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function startKeys() {
  const button = element('<button type="button" id="keys" aria-keyshortcuts="?"><kbd>?</kbd> Keys</button>');
  button.addEventListener("click", showKeys);
  document.querySelector(".bar").append(button);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches("input:not([type=radio], [type=range]), textarea, select")) return;
    if (document.querySelector("dialog[open]") || document.documentElement.matches(".steering")) return;
    event.preventDefault();
    showKeys();
  });
}
