/** Puts `box` under `anchor`, or above it where there is more room, inside the frame. */
export function place(box, anchor) {
  if (!anchor.isConnected) return;
  const frame = document.querySelector('#frame').getBoundingClientRect();
  const at = anchor.getBoundingClientRect();
  const gap = 4;
  const edge = 8;
  const width = Math.min(Math.max(at.width, 260), frame.width - 2 * edge);
  const below = frame.bottom - at.bottom - gap - edge;
  const above = at.top - frame.top - gap - edge;
  const up = below < 240 && above > below;
  box.style.width = `${width}px`;
  box.style.maxHeight = `${Math.min(360, Math.max(up ? above : below, 120))}px`;
  box.style.left = `${Math.min(Math.max(at.left - frame.left, edge), frame.width - width - edge)}px`;
  box.style.top = up ? '' : `${at.bottom - frame.top + gap}px`;
  box.style.bottom = up ? `${frame.bottom - at.top + gap}px` : '';
}
