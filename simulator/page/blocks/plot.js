// The drawing inside a chart: axes with ticks, lines, areas, bars or a pie, in the sizes of Slack's card.

const width = 400;
const height = 370;
const edge = { top: 10, right: 10, left: 46 };
// Slack has four colours, and the fifth series takes the first again.
export const colourOf = (nth) => `var(--chart-${(nth % 4) + 1})`;

function svg(tag, properties, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const words = (text, properties) => svg('text', { class: 'tick', ...properties }, text);
const told = (text) => svg('title', {}, text);
export const formatValue = (value) => value.toLocaleString('en', { maximumFractionDigits: 3 });

/** Four to six even steps from below the lowest to above the highest value, zero among them. */
function steps(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Lines, areas or bars over categories, which stand at equal distances. */
export function plot({ type, series, axis_config: axis }) {
  const { categories, x_label: across, y_label: up } = axis;
  const values = series.flatMap(({ data }) => data.map(({ value }) => value));
  const ticks = steps(Math.min(0, ...values), Math.max(0, ...values));
  const left = edge.left + (up ? 16 : 0);
  const step = (width - left - edge.right) / categories.length;
  // About as wide as Slack's letters; where they would touch, labels are turned by 45°.
  const longest = Math.max(...categories.map(({ length }) => length)) * 6.2;
  const turned = longest > step - 4;
  const foot = turned ? Math.min(14 + longest * 0.71, 110) : 24;
  const bottom = height - foot;
  const [low, high] = [ticks[0], ticks.at(-1)];
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - edge.top);
  const x = (at) => left + (at + 0.5) * step;

  const grid = ticks.flatMap((tick) => [
    svg('line', {
      x1: left,
      x2: width - edge.right,
      y1: y(tick),
      y2: y(tick),
      class: tick === 0 ? 'zero' : 'grid',
    }),
    words(formatValue(tick), { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }),
  ]);
  const labels = categories.map((label, at) =>
    turned
      ? words(label, {
          'text-anchor': 'end',
          transform: `translate(${x(at) + 4} ${bottom + 12}) rotate(-45)`,
        })
      : words(label, { x: x(at), y: bottom + 17, 'text-anchor': 'middle' }),
  );
  const title =
    up &&
    words(up, { transform: `translate(12 ${(edge.top + bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' });
  const draw = type === 'bar' ? bars : lines;
  const shapes = draw(series, { type, x, y, step });
  const whole = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'plot', 'aria-hidden': 'true' },
    ...grid,
  );
  whole.append(...shapes, ...labels, ...(title ? [title] : []));
  return { drawing: whole, across };
}

function bars(series, { x, y, step }) {
  const wide = (step * 0.7) / series.length;
  return series.flatMap(({ name, data }, nth) =>
    data.map(({ label, value }, at) =>
      svg(
        'rect',
        {
          x: x(at) - step * 0.35 + nth * wide,
          y: y(Math.max(value, 0)),
          width: Math.max(wide - 1, 1),
          height: Math.abs(y(value) - y(0)),
          fill: colourOf(nth),
        },
        told(`${label}, ${name}: ${formatValue(value)}`),
      ),
    ),
  );
}

function lines(series, { type, x, y }) {
  return series.flatMap(({ name, data }, nth) => {
    const points = data.map(({ value }, at) => `${x(at)},${y(value)}`).join(' ');
    const line = svg('polyline', { points, fill: 'none', stroke: colourOf(nth), 'stroke-width': 2 });
    const ends = [`${x(0)},${y(0)}`, `${x(data.length - 1)},${y(0)}`];
    const below = { points: `${ends[0]} ${points} ${ends[1]}`, fill: colourOf(nth), 'fill-opacity': 0.25 };
    const dots = data.map(({ label, value }, at) =>
      svg(
        'circle',
        { cx: x(at), cy: y(value), r: 3, fill: colourOf(nth) },
        told(`${label}, ${name}: ${formatValue(value)}`),
      ),
    );
    return [...(type === 'area' ? [svg('polygon', below)] : []), line, ...dots];
  });
}

/** A pie, clockwise from the top. */
export function pie(segments) {
  const total = segments.reduce((sum, { value }) => sum + value, 0);
  const [middle, radius] = [width / 2, height / 2 - 12];
  const at = (share) => {
    const angle = share * 2 * Math.PI - Math.PI / 2;
    return `${middle + radius * Math.cos(angle)} ${height / 2 + radius * Math.sin(angle)}`;
  };
  let before = 0;
  const slices = segments.map(({ label, value }, nth) => {
    const [from, to] = [before / total, (before + value) / total];
    before += value;
    const far = to - from > 0.5 ? 1 : 0;
    const whole = to - from > 0.9999;
    const path = `M ${middle} ${height / 2} L ${at(from)} A ${radius} ${radius} 0 ${far} 1 ${at(to)} Z`;
    const shape = whole
      ? svg('circle', { cx: middle, cy: height / 2, r: radius, fill: colourOf(nth) })
      : svg('path', { d: path, fill: colourOf(nth) });
    shape.append(told(`${label}: ${formatValue(value)} (${Math.round((value / total) * 100)} %)`));
    return shape;
  });
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'plot', 'aria-hidden': 'true' }, ...slices);
}
