import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';

type AddressInput = {
  [K in 'line_1' | 'line_2' | 'town' | 'county' | 'postcode']?: string | null | undefined;
};

/** An address always has all five lines; those not given are null. */
export function wholeAddress(address: AddressInput | null | undefined): PracticeGroup['address'] {
  if (!address) return null;
  const { line_1 = null, line_2 = null, town = null, county = null, postcode = null } = address;
  return { line_1, line_2, town, county, postcode };
}
