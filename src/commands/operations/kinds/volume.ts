import { volumePath } from '../../../api/apps.ts';
import { ApiError } from '../../../api/http/errors.ts';
import { UserError } from '../../../errors.ts';
import { formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { formatCode, truncateLines } from '../../../views/blocks/text.ts';
import { describeVolumeConsequences } from '../../../views/operations/describe.ts';
import { loadAffectedByVolume } from '../../zones/lookup.ts';
import { type RequestedKind, readShown } from './requested.ts';

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

  load: ({ appId }, context) => loadAffectedByVolume(appId, context),
  consequences(snapshot) {
    const shown = readShown(snapshot);
    if (!shown) return { text: 'The consequences were not kept.' };
    return { text: describeVolumeConsequences(shown), zones: shown };
  },

  describe: ({ appId, volumeId }) =>
    `delete volume ${formatCode(volumeId, 60)} of app ${formatCode(appId, 60)}, every instance`,
  describeOutcome({ word, instances }) {
    if (word === 'done' && !instances) return 'Deleted. The CDN did not say how many instances there were.';
    if (word === 'done' && instances) {
      const ids = truncateLines(
        instances.map((id) => formatCode(id, 60)),
        1000,
        ', ',
      );
      return `${pluralize(instances.length, 'instance')} deleted: ${ids}.`;
    }
    return outcomes[word];
  },
  check: {
    done: 'The volume is gone',
    notDone: 'The volume is still there',
    async look({ appId }, context) {
      try {
        const { totalVolumeSizeInGb: size } = await (await context.cdn()).apps.summary(appId);
        const reported = size === undefined ? 'no size' : `${formatInteger(size)} GB`;
        return `The CDN reports ${reported} for all volumes of the app now. Look in its panel whether this volume is still listed.`;
      } catch (error) {
        if (error instanceof ApiError || error instanceof UserError)
          return 'The app’s size could not be read with your key just now. Look in the CDN’s panel whether the volume is still listed.';
        throw error;
      }
    },
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
} satisfies RequestedKind<VolumeRequest>;

const outcomes: Readonly<Record<string, string>> = {
  'nothing-deleted': 'The CDN deleted nothing: the volume had no instances.',
  'not-found':
    'Nothing was deleted: the CDN does not know this volume. It is already gone, or an ID is wrong.',
  'not-detached':
    'Nothing was deleted: an instance is still attached. Detach it first: open the app in the CDN’s panel, scale it down or remove the volume from it, then try again.',
};
