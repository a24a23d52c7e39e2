/** The seed of a generated test: printed, so that a failure can be run again with PORTER_SEED=<seed>. */
export function seedOf(name: string, fixed?: number): number {
  const given = Number(process.env.PORTER_SEED);
  const seed = Number.isInteger(given) && given !== 0 ? given : (fixed ?? Date.now() % 2_147_483_647);
  console.log(`${name}: PORTER_SEED=${seed}`);
  return seed;
}
