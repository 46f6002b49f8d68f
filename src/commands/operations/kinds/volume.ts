import { volumePath } from '../../../api/apps.ts';
import { pluralize } from '../../../views/blocks/format.ts';
import { formatCode, truncateLines } from '../../../views/blocks/text.ts';
import { describeVolumeConsequences } from '../../../views/operations/describe.ts';
import { type Kind, readShown } from './kind.ts';

export interface VolumeRequest {
  readonly appId: string;
  readonly volumeId: string;
}

export const volumeDeletion = {
  name: 'volume-delete',
  right: 'destroy',

  parse({ path }) {
    const [, , , appId = '', , volumeId = ''] = path.split('/').map(decodeURIComponent);
    return { appId, volumeId };
  },
  request: ({ appId, volumeId }) => ({ method: 'DELETE', path: volumePath(appId, volumeId), body: null }),

  consequences(snapshot) {
    const shown = readShown(snapshot);
    return { text: describeVolumeConsequences(shown), zones: shown };
  },

  describe: ({ appId, volumeId }) =>
    `delete volume ${formatCode(volumeId, 60)} of app ${formatCode(appId, 60)}, every instance`,
  describeOutcome({ word, instances }) {
    if (word !== 'done') return outcomes[word];
    if (!instances) return 'Deleted. The CDN did not say how many instances there were.';
    const ids = instances.map((id) => formatCode(id, 60));
    return `${pluralize(instances.length, 'instance')} deleted: ${truncateLines(ids, 1000, ', ')}.`;
  },
  again: ({ appId, volumeId }) => `volume delete ${appId} ${volumeId}`,
  check: {
    done: 'The volume is gone',
    notDone: 'The volume is still there',
    look: 'Look in the CDN’s panel whether the volume is still listed.',
  },

  audit: ({ appId, volumeId }) => ({ app: appId, volume: volumeId }),

  async send({ path, cdn }) {
    const { ids, requestId } = await cdn().volumes.deleteAll(path);
    if (ids === undefined) return { state: 'succeeded', outcome: { word: 'done', requestId } };
    return ids.length === 0
      ? { state: 'failed', outcome: { word: 'nothing-deleted', requestId } }
      : { state: 'succeeded', outcome: { word: 'done', requestId, instances: ids } };
  },
  nameRefusal: ({ status, serviceMessage }) =>
    status === 400 && /detach/iu.test(serviceMessage ?? '') ? 'not-detached' : undefined,
} satisfies Kind<VolumeRequest>;

const outcomes: Readonly<Record<string, string>> = {
  'nothing-deleted': 'The CDN deleted nothing: the volume had no instances.',
  'not-found':
    'Nothing was deleted: the CDN does not know this volume. It is already gone, or an ID is wrong.',
  'not-detached':
    'Nothing was deleted: an instance is still attached. Detach it first: open the app in the CDN’s panel, scale it down or remove the volume from it, then try again.',
};
