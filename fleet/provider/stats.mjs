// What a provider has seen.

/** Figures that grow with the provider's events. */
export function countEvents(provider) {
  const stats = { interactions: 0, registrations: 0, revocations: 0, grants: {}, errors: {} };
  const count = (table, name) => { table[name ?? 'unknown'] = (table[name ?? 'unknown'] ?? 0) + 1; };
  const grant = (ctx) => ctx.oidc?.params?.grant_type;
  provider.on('grant.success', (ctx) => count(stats.grants, grant(ctx)));
  provider.on('grant.error', (ctx, error) => {
    count(stats.grants, grant(ctx));
    count(stats.errors, error.error);
  });
  provider.on('registration_create.success', () => { stats.registrations += 1; });
  provider.on('grant.revoked', () => { stats.revocations += 1; });
  return stats;
}
