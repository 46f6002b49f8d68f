import type { Deliverer } from './delivery.ts';
import type { SocketTransport } from './delivery-socket.ts';
import type { Files } from './files.ts';
import type { Installs } from './installs.ts';
import type { Messages } from './messages.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { Script } from './script.ts';
import type { Steps } from './steps.ts';
import type { Triggers } from './triggers.ts';
import type { Views } from './views.ts';
import type { World } from './world.ts';

/** One call of the app to the Web API (or to a response_url or an upload address), as the simulator took it. */
export interface Call {
  method: string;
  teamId?: string;
  token: 'bot' | 'app' | 'user' | 'none' | 'wrong';
  args: Record<string, unknown>;
  at: number;
  ok: boolean;
  error?: string;
}

/** The parts of one running simulator, as they see each other. */
export interface Simulation {
  readonly now: () => number;
  /** The address of the server; known once it listens. */
  readonly base: () => string;
  /** Of WebSockets, where it is another than that of the Web API. */
  readonly socketBase: string | undefined;
  /** The OAuth redirect address of the app's settings, for calls that name none. */
  readonly redirectUrl: () => string | undefined;
  readonly appToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly world: World;
  readonly installs: Installs;
  readonly messages: Messages;
  readonly views: Views;
  readonly triggers: Triggers;
  readonly responseUrls: ResponseUrls;
  readonly files: Files;
  readonly steps: Steps;
  readonly script: Script;
  readonly socket: SocketTransport;
  readonly deliverer: Deliverer;
  /** The events that the manifest subscribes to; undefined = all. */
  readonly events: readonly string[] | undefined;
  readonly calls: Call[];
  readonly problem: (text: string) => void;
  /** Notices of Slack itself to a person, by `team/user`. */
  readonly notices: Map<string, string[]>;
  readonly changed: () => void;
  /** Calls back at every change; returns how to stop. */
  readonly onChange: (listener: () => void) => () => void;
}
