import type { Clock } from './clock.ts';

/**
 * Somebody waits until it rings or the time is up. A ring while nobody waits is remembered, so that none is lost
 * between looking and waiting.
 */
export class Bell {
  readonly #clock: Pick<Clock, 'timer'>;
  #rung = false;
  #answer: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'timer'>) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#answer?.();
  }

  wait(milliseconds: number): Promise<void> {
    if (this.#rung) {
      this.#rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const answer = () => {
        cancel();
        this.#answer = undefined;
        this.#rung = false;
        resolve();
      };
      const cancel = this.#clock.timer(milliseconds, answer);
      this.#answer = answer;
    });
  }
}
