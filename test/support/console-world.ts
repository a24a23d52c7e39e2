import { scopeNames } from '../../src/contract/access.ts';
import { type Partner, partnerWith } from './post.ts';
import type { Harness } from './service.ts';

/** Text that a partner or a practice could have written to do harm, or by being who they are. */
export const HOSTILE = `<img src=x onerror="document.title='taken'"> \u202eevil\u202c 🩺 "quoted" & more`;
/** As long as a name may be. */
export const LONG = 'Very long name '.repeat(17).slice(0, 255);

/** A verified partner of this name, with a key for the practice group. */
export async function partnerCalled(
  house: Harness,
  name: string,
  groupId: string,
  key: Record<string, unknown> = {},
): Promise<Partner> {
  const { id } = await house.operator('POST', '/partners', { name, contact_email: 'dev@partner.example' });
  await house.operator('POST', `/partners/${id}/sign-agreement`);
  await house.operator('POST', `/partners/${id}/verify`);
  const issued = await house.operator('POST', '/keys', {
    partner_id: id,
    practice_group_id: groupId,
    scopes: scopeNames,
    ...key,
  });
  return partnerWith(house, groupId, { partnerId: id, key: issued.key, keyId: issued.id });
}

/** A practice of this name, with a submission type. */
export async function practiceCalled(house: Harness, id: string, name: string): Promise<string> {
  await house.operator('POST', '/practice-groups', { id, name });
  await house.operator('PUT', `/practice-groups/${id}/forms/form-1`, { title: 'Form' });
  await house.operator('POST', `/practice-groups/${id}/submission-types`, {
    id: 'repeat-prescription',
    pathway_id: 'pathway-1',
    title: 'Repeat prescription',
  });
  return id;
}
