import { getMe as getEndpoint } from '../../contract/partner/me.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { findKey } from '../../store/access/keys.ts';
import { findPartner } from '../../store/access/partners.ts';
import { transact } from '../../store/database.ts';
import { listGroupsInReach } from '../../store/practices/practice-groups.ts';
import { operation } from '../app.ts';

export const getMe = operation(getEndpoint, async (app, { principal: { holder } }) => {
  return transact(app.db, SYSTEM, async (tx) => {
    const [key, partner, practice_groups] = await Promise.all([
      findKey(tx, holder.keyId),
      findPartner(tx, holder.partnerId),
      listGroupsInReach(tx, holder),
    ]);
    if (!key || !partner) throw new Error('a key was let in and is not there');
    const body = {
      partner: { id: partner.id, name: partner.name },
      key: {
        id: key.id,
        label: key.label,
        scopes: key.scopes,
        rate_limit_per_minute: holder.rateLimitPerMinute,
        expires_at: key.expires_at,
      },
      practice_groups,
    };
    return { body };
  });
});
