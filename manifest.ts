import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Makes manifest.distribution.yml of manifest.yml. Slack lets no app with workflow steps be distributed publicly, so the
 * manifest for many organizations has neither the steps nor their event.
 */

/** The manifest for distribution, with the comments of the first one. */
export function toDistribution(manifest: string): string {
  const [whole = ''] = manifest.split('# Steps for Workflow Builder', 1);
  const event = / *# Without it the steps below never arrive\.\n *- function_executed\n/u;
  const runtime =
    / *# Slack offers the steps below [^\n]*\n( *org_deploy_enabled: true\n) *function_runtime: remote\n/u;
  const head =
    '# Made from manifest.yml by `npm run manifest`: the app for distribution to other organizations, without the steps of\n' +
    '# Workflow Builder, which Slack does not let it have there.\n';
  return head + whole.replace(event, '').replace(runtime, '$1');
}

const file = (name: string): URL => new URL(name, import.meta.url);
if (import.meta.main) {
  writeFileSync(
    file('manifest.distribution.yml'),
    toDistribution(readFileSync(file('manifest.yml'), 'utf8')),
  );
}
