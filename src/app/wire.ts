import type { Database } from '../store/database.ts';
import type { Role } from './config.ts';
import { createEdges } from './edges.ts';
import { createFeatures } from './features.ts';
import { type ChatApp, createLifecycle } from './lifecycle.ts';
import { createServices } from './services.ts';
import { type Base, openStores } from './stores.ts';

/** Wires the app in stages, each made of the earlier ones: stores, services, features, edges. */
export async function wire(
  base: Base,
  role: Role,
  database: Database,
  release: () => Promise<void>,
): Promise<ChatApp> {
  const stores = await openStores(base, database);
  const services = createServices(base, stores);
  const features = createFeatures(base, stores, services);
  const edges = createEdges(base, role, stores, services, features);
  return createLifecycle(base, role, { stores, services, features, edges }, release);
}
