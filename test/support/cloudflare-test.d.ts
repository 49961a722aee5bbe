/** What our tests use of the module that exists inside the workerd test runner only. Its own types bring the globals of
 *  Workers, which contradict those of Node. */
declare module 'cloudflare:test' {
  export interface Execution {
    waitUntil(work: Promise<unknown>): void
  }
  export function createExecutionContext(): Execution
  export function waitOnExecutionContext(execution: Execution): Promise<void>
}
