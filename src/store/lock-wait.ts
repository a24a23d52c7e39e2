import { LOCK_MS, type Transaction } from './database.ts';

const BRIEF_LOCK_MS = 50;

/** How long each of the statements that follow in the transaction waits for a lock. */
export function waitForLocks(tx: Transaction, patience: 'briefly' | 'as usual'): void {
  const milliseconds = patience === 'briefly' ? BRIEF_LOCK_MS : LOCK_MS;
  tx.defer("SELECT set_config('lock_timeout', $1, true)", [String(milliseconds)]);
}
