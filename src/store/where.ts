/**
 * The conditions of a list, only those that were asked for: with `$1 IS NULL OR …` for each, PostgreSQL makes a plan that
 * suits all cases after a few calls, and that one can use no index. A `?` stands for the value; what is given none is left out.
 */
export function where(...conditions: readonly (readonly [condition: string, value: unknown])[]): {
  text: string;
  values: unknown[];
} {
  const given = conditions.filter(([, value]) => value !== undefined && value !== null);
  const texts = given.map(([condition], index) => condition.replaceAll('?', `$${index + 1}`));
  return {
    text: texts.length > 0 ? `WHERE ${texts.join(' AND ')}` : '',
    values: given.map(([, value]) => value),
  };
}
