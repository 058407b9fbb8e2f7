// Long steps: a row shows six lines of one, and a button for the rest. A person's choice stays with the row.

const BUTTONS = ".session:not(.whole) .show-more";

/** Offer the button where words are cut, and make it say what it does. */
export function offerMore() {
  for (const button of document.querySelectorAll(BUTTONS)) {
    const row = button.closest(".step"), words = row.querySelector(".words");
    const open = row.hasAttribute("data-my-open");
    if (open || words.scrollHeight > words.clientHeight + 1) {
      button.setAttribute("aria-expanded", open);
      button.setAttribute("aria-controls", words.id);
      button.textContent = open ? "Show less" : "Show more";
    } else {
      button.removeAttribute("aria-expanded");
    }
  }
}

export function startRows() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest(BUTTONS);
    if (!button) return;
    button.closest(".step").toggleAttribute("data-my-open");
    offerMore();
  });
  addEventListener("resize", offerMore);
  offerMore();
}
