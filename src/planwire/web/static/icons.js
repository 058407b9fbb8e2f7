// Drawings for buttons, on a grid of 16.

const paths = {
  tick: "M3 8.5l3.2 3.2L13 4.8",
  done: "M3 8.5l3.2 3.2L13 4.8",
  pending: "M8 13.5a5.5 5.5 0 1 0 0-11a5.5 5.5 0 0 0 0 11z",
  reword: "M3 13l.7-2.9L10.9 2.9l2.2 2.2l-7.2 7.2L3 13z",
  add: "M8 3.2v9.6M3.2 8h9.6",
  comment: "M2.8 3.5h10.4v7H8.2L5 13v-2.5H2.8z",
  select: "M5 3.2v9.6l7.4-4.8z",
  withdraw: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  grip: "M6 3.8h.01M10 3.8h.01M6 8h.01M10 8h.01M6 12.2h.01M10 12.2h.01",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon icon-${name}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}
