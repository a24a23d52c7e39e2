import type { Transaction } from './database.ts';

/** Tells the workers, when the transaction commits, that deliveries may be due. A hint: they would find out by themselves. */
export function wakeWorkers(tx: Transaction): void {
  tx.defer("SELECT pg_notify('porter_deliveries', '')");
}
