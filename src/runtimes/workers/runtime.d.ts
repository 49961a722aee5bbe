/** The part of the Workers runtime's own module that we use. Its full types bring globals that contradict the Web's. */
declare module 'cloudflare:workers' {
  /** Keeps the request, or the event, that runs at the moment alive for `work`. */
  export function waitUntil(work: Promise<unknown>): void
}
