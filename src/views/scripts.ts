import type { Option } from '@slack/types';
import { firstOf, option } from './blocks/menu.ts';

export interface ListedScript {
  readonly id: string;
  /** Names of the zones that run it at the edge. */
  readonly runsOn: readonly string[];
  /** Names of the zones whose middleware it is. */
  readonly middlewareOf: readonly string[];
}

/** A line of a menu of scripts, which have no names among what the CDN tells: the zones say which it is. */
export function scriptOption({ id, runsOn, middlewareOf }: ListedScript): Option {
  const runs = runsOn.length > 0 ? [`Runs on ${firstOf(runsOn)}`] : [];
  const middleware = middlewareOf.length > 0 ? [`Middleware of ${firstOf(middlewareOf)}`] : [];
  return option(id, id, [...runs, ...middleware].join(' · '));
}
