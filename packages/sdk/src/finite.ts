/** JSON has no NaN and no Infinity: JSON.stringify writes null for them, which would clear the field. Use as its replacer. */
export function finite(field: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${field}: ${value} is not a finite number. Nothing was sent.`);
  return value;
}
