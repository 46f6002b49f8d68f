import { loadHome } from '../../commands/home.ts';
import { features } from '../../commands/registry.ts';
import { type Interaction, perform, type SlackDeps } from './dispatch.ts';

/** The Home tab was opened. */
export async function runHome(deps: SlackDeps, raw: { event_id?: string | undefined }): Promise<void> {
  await perform(deps, { ...drawsHome, body: raw, claim: raw.event_id }, publishHome);
}

/** Somebody did what shows in their Home tab. Nobody asked for it, so a failure is told to the log alone. */
export async function redrawHome(deps: SlackDeps, raw: object): Promise<void> {
  await perform(deps, { ...drawsHome, body: raw, claim: undefined }, publishHome, async () => true);
}

const drawsHome = { kind: 'home', feature: 'home', needs: 'none', route: {} } as const;

async function publishHome({ context, client }: Interaction): Promise<void> {
  const { userId } = context.person;
  await (await client()).views.publish({ user_id: userId, view: await loadHome(context, features) });
}
