import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { readStoreConfig } from '../app/config.ts';
import { type ChainVerdict, type LoggedHead, verifyChains } from '../auth/audit/audit.ts';
import { UserError } from '../errors.ts';
import { parseJson } from '../lib/canonical-json.ts';
import { describeBroken } from '../views/audit.ts';
import { pluralize } from '../views/blocks/format.ts';
import { type Command, describeUsage, parseWords, withDatabase } from './terminal.ts';

/** `npm run audit:verify`: false where a fault was found and printed. @throws UserError where it cannot be checked */
export const auditCommand: Command = async (words, { env, log, print }) => {
  const options = { tenant: { type: 'string' }, heads: { type: 'string', multiple: true } } as const;
  const { values, positionals } = parseWords('audit', words, options, true);
  if (positionals.join(' ') !== 'verify')
    throw new UserError('Say what to do: verify.', describeUsage('audit'));
  const { tenant } = values;
  const given = (await Promise.all((values.heads ?? []).map(readHeads))).flat();
  const heads = given.filter((head) => tenant === undefined || head.tenant === tenant);
  const config = readStoreConfig(env, { needsKeyring: false });
  return withDatabase(config, log, 'stop the bot, check, start it again', async ({ db }) => {
    const verdicts = await verifyChains(db, { tenant, heads });
    for (const [whose, verdict] of verdicts) print(describeVerdict(whose, verdict));
    if (heads.length > 0) print(`Compared with ${pluralize(heads.length, 'logged head')}.`);
    const broken = [...verdicts.values()].filter(({ ok }) => !ok).length;
    if (verdicts.size === 0) print('There are no records yet.');
    else if (broken === 0) print('The audit is intact.');
    else print(`The audit is NOT intact: ${pluralize(broken, 'chain')} of ${verdicts.size}.`);
    return broken === 0;
  });
};

function describeVerdict(tenant: string, verdict: ChainVerdict): string {
  const whose = /^[\w-]{1,64}$/u.test(tenant) ? tenant : JSON.stringify(tenant);
  if (verdict.ok)
    return `${whose}: intact, ${pluralize(verdict.records, 'record')}${verdict.head === undefined ? '' : `, head ${verdict.head}`}`;
  const { broken } = verdict;
  const { seq, problem, noted } = broken;
  const logged = noted ? ` The log says that record ${noted.seq} has the hash ${noted.hash}.` : '';
  return `${whose}: BROKEN at record ${seq} (${problem}): ${describeBroken(broken)}${logged}`;
}

const loggedHead = z.object({
  tenant: z.string().min(1),
  seq: z.int().positive(),
  head: z.string().regex(/^[\da-f]{64}$/u),
});

/** The heads in a log file, or in the text of one line. Other lines, and what stands before a line's JSON, are skipped. */
async function readHeads(word: string): Promise<LoggedHead[]> {
  const isFile = word.length < 4096 && (await stat(word).catch(() => undefined))?.isFile();
  const input = isFile ? createReadStream(word) : Readable.from([word]);
  const heads: LoggedHead[] = [];
  for await (const line of createInterface({ input })) {
    const start = line.includes('"head"') ? line.indexOf('{') : -1;
    const { data } = loggedHead.safeParse(start < 0 ? undefined : parseJson(line.slice(start)));
    if (data) heads.push({ tenant: data.tenant, seq: data.seq, hash: data.head });
  }
  if (heads.length > 0) return heads;
  throw new UserError(
    `There is no audit head in ${isFile ? word : 'what was given: it is neither a file nor a line of the log'}.`,
    'Give a file with the bot’s log, or one of its lines with “audit head”, in quotes.',
  );
}
