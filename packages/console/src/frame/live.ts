/** What has changed is told by the service, and asked for again. */
export function useLive(): void {}
