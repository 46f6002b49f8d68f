import manifest from '../../package.json' with { type: 'json' };

/** The version of this bot, as in package.json and CHANGELOG.md. */
export const { version } = manifest;
