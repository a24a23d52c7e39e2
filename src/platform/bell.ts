/**
 * Somebody waits until it rings or the time is up. A ring while nobody waits is remembered, so that none is lost
 * between looking and waiting. Waiting takes real time; what the time *is* remains the clock's business.
 */
export class Bell {
  #rung = false;
  #answer: (() => void) | undefined;

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
        clearTimeout(timer);
        this.#answer = undefined;
        this.#rung = false;
        resolve();
      };
      const timer = setTimeout(answer, milliseconds);
      this.#answer = answer;
    });
  }
}
