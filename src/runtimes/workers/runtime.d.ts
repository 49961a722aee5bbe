/** The part of the Workers runtime's own module that is used. Its full types declare globals that contradict the
 *  Web's. */
declare module 'cloudflare:workers' {
  /** Keeps the current request or event alive for `work`. */
  export function waitUntil(work: Promise<unknown>): void
}
