import { systemClock } from '../../src/platform/clock.ts';
import { ManualClock } from './manual-clock.ts';

/** The clock of a machine, which may be set wrong; the database has its own. */
export class RealClock extends ManualClock {
  /** By how much this machine is ahead of the others. */
  aheadMs: number;

  constructor(aheadMs = 0) {
    super();
    this.aheadMs = aheadMs;
  }

  override now(): number {
    return systemClock.now() + this.aheadMs;
  }

  override monotonic(): number {
    return systemClock.monotonic();
  }

  override sleep(milliseconds: number): Promise<void> {
    return systemClock.sleep(milliseconds);
  }

  override databaseNow(): undefined {
    return undefined;
  }
}
