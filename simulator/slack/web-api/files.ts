import { checkMessage } from '../block-kit/checks.ts';
import type { StoredFile } from '../files.ts';
import type { Json } from '../world.ts';
import { isObject } from '../world.ts';
import {
  type ApiCall,
  assertChecked,
  blocksArg,
  type Method,
  postingChannel,
  Refused,
  stringArg,
} from './call.ts';

const mostFiles = 14;

/** The three-step upload, files.info and files.delete. */
export const fileMethods: Record<string, Method> = {
  'files.getUploadURLExternal'(call) {
    const name = stringArg(call, 'filename');
    const length = Number(call.args['length']);
    if (!Number.isInteger(length) || length <= 0)
      throw new Refused('invalid_arguments', ['[ERROR] length must be a positive whole number']);
    // The documentation says alt_txt, the SDK sends alt_text.
    const alt = call.args['alt_txt'] ?? call.args['alt_text'];
    if (typeof alt === 'string' && alt.length > 1000) {
      call.sim.problem('files.getUploadURLExternal: the alternative text has more than 1000 characters');
      throw new Refused('invalid_arguments');
    }
    const { file, uploadUrl } = call.sim.files.announce(call.install, {
      name,
      length,
      altText: typeof alt === 'string' ? alt : undefined,
    });
    return { upload_url: uploadUrl, file_id: file.id };
  },

  'files.completeUploadExternal'(call) {
    const { files: wanted } = call.args;
    if (!Array.isArray(wanted) || wanted.length === 0 || !wanted.every(isObject))
      throw new Refused('invalid_arguments', ['[ERROR] files is required']);
    // Undocumented, and this is all that Slack says: https://github.com/slackapi/python-slack-sdk/issues/1653
    if (wanted.length > mostFiles) throw new Refused('internal_error');
    const files = wanted.map((entry) => {
      const file = ownFile(call, String(entry['id']));
      if (file.state === 'announced')
        throw new Refused('file_not_found', [`${file.id} was never uploaded whole`]);
      return { file, title: typeof entry['title'] === 'string' ? entry['title'] : file.name };
    });
    const target = typeof call.args['channel_id'] === 'string' ? call.args['channel_id'] : undefined;
    const channel = target === undefined ? undefined : postingChannel(call, target);
    const blocks = blocksArg(call);
    const comment = typeof call.args['initial_comment'] === 'string' ? call.args['initial_comment'] : '';
    if (blocks && comment !== '')
      call.sim.problem(`${call.method}: blocks is ignored beside initial_comment`);
    if (blocks) assertChecked(call, checkMessage({ blocks, text: 'file' }, { label: call.method }));
    for (const { file, title } of files) {
      file.title = title;
      file.state = 'completed';
      if (channel) file.channels.push(channel.id);
    }
    if (channel) {
      const { thread_ts: thread } = call.args;
      call.sim.messages.post({
        channel: channel.id,
        user: call.install.botUserId,
        botId: call.install.botId,
        text: comment,
        blocks: comment === '' ? (blocks ?? []) : [],
        files: files.map(({ file }) => file.id),
        threadTs: typeof thread === 'string' && thread !== '' ? thread : undefined,
      });
    }
    // As in Slack the shares are not there yet: processing goes on after the answer.
    return { files: files.map(({ file }) => fileObject(call, file)) };
  },

  'files.info'(call) {
    const file = ownFile(call, stringArg(call, 'file'));
    if (file.state !== 'completed') throw new Refused('file_not_found');
    return { file: { ...fileObject(call, file), channels: file.channels } };
  },

  'files.delete'(call) {
    const file = ownFile(call, stringArg(call, 'file'));
    call.sim.files.remove(file.id);
    call.sim.changed();
    return {};
  },
};

function ownFile(call: ApiCall, id: string): StoredFile {
  const file = call.sim.files.find(id);
  if (!file || file.install !== call.install) throw new Refused('file_not_found');
  return file;
}

function fileObject(call: ApiCall, file: StoredFile): Json {
  const shown = call.sim.files.visible(file.id);
  const address = `${call.sim.base()}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    mimetype: shown?.mimetype ?? '',
    size: file.length,
    user: call.install.botUserId,
    url_private: address,
    url_private_download: address,
    permalink: address,
  };
}
