import type { Rights } from '../../auth/policy/policy.ts';

/** `rights: read, export · operator · may approve` */
export function rightsLine({ may, operator, approver, admin }: Rights): string {
  const classes = may.filter((right) => right !== 'admin');
  const roles = [
    ...(operator ? ['operator'] : []),
    ...(approver ? ['may approve'] : []),
    ...(admin ? ['admin'] : []),
  ];
  return [`rights: ${classes.join(', ') || 'none'}`, ...roles].join(' · ');
}
