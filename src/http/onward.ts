/**
 * Goes on with a value that may or may not have to be waited for. What the door remembers is there at once, and a
 * request that never waits is spared the turns of the microtask queue.
 */
export function onward<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
