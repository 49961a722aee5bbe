/** The part of the Workers runtime's own module that is used. Its full types declare globals that contradict the
 *  Web's. */
declare module 'cloudflare:workers' {
  /** Keeps the current request or event alive for `work`. */
  export function waitUntil(work: Promise<unknown>): void

  /** The part of a Durable Object's context that is used. */
  export interface DurableObjectState {
    readonly storage: {
      readonly sql: {
        exec(statement: string, ...values: readonly (string | number)[]): Iterable<Record<string, unknown>>
      }
      getAlarm(): Promise<number | null>
      setAlarm(at: number): Promise<void>
    }
    blockConcurrencyWhile(work: () => Promise<void>): void
  }

  export class DurableObject {
    constructor(state: DurableObjectState, bindings: unknown)
  }
}
