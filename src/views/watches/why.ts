import type { Incident, Watch } from '../../watches/model.ts';
import { context, type Message, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/format.ts';

/** The figures behind a watch's decision. */
export function renderWhy(watch: Watch, _incidents: readonly Incident[], asOf: Date): Message {
  const text = `Watch ${watch.id}`;
  return message(text, [section(text), context(`as of ${formatMoment(asOf)}`)]);
}
