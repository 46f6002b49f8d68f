import type { ModalView } from '@slack/types';
import { picked } from '../blocks/blocks.ts';
import { modal, option, searchSelect, select, textInput } from '../blocks/inputs.ts';
import { capitalize } from '../blocks/text.ts';
import { describeFilterShortly, type ZoneQuery, zoneFilters, zoneSorts } from './query.ts';

const sortWords: Record<ZoneQuery['sort'], string> = {
  attention: 'What needs attention first',
  bandwidth: 'Bandwidth',
  charges: 'Charges',
  name: 'Name',
};

/** The form with everything that narrows a list of zones; prefilled with what is shown. */
export function renderSearchForm({ search, sort, only, carried }: ZoneQuery): ModalView {
  const { script, app } = carried;
  const filters = zoneFilters.map((filter) => option(capitalize(describeFilterShortly(filter)), filter));
  const sorts = zoneSorts.map((each) => option(sortWords[each], each));
  const optional = true;
  return modal({ callbackId: 'zones:search', title: 'Search zones', submit: 'Search' }, [
    textInput('search', 'Name, hostname or id', { initial: search, maxLength: 100, optional, focus: true }),
    select('only', 'Only those', filters, { chosen: only, optional, placeholder: 'All' }),
    textInput('origin', 'Part of the origin', { initial: carried.origin, maxLength: 100, optional }),
    textInput('host', 'Part of a hostname', { initial: carried.host, maxLength: 100, optional }),
    searchSelect('script', 'Script', {
      actionId: 'scripts:pick',
      placeholder: 'Type a part of its id or of its zone',
      chosen: script === undefined ? undefined : picked(script),
      optional,
    }),
    searchSelect('app', 'App', {
      actionId: 'apps:pick',
      placeholder: 'Type a part of its id or of its zone',
      chosen: app === undefined ? undefined : picked(app),
      optional,
    }),
    textInput('storage', 'Storage zone', {
      initial: carried.storage,
      placeholder: 'Its id',
      maxLength: 20,
      optional,
    }),
    select('sort', 'Order', sorts, { chosen: sort }),
  ]);
}
