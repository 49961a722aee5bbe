import type { FullGateway } from './full-gateway.node.ts'

export interface AdminAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

/** Asks the admin API with the master key. */
export function adminApi(gateway: () => FullGateway) {
  return async (method: string, path: string, body?: unknown): Promise<AdminAnswer> => {
    const response = await gateway().fetch(`/ui/api${path}`, {
      method,
      ...(body === undefined
        ? {}
        : {
            body: typeof body === 'string' ? body : JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
    })
    return { status: response.status, body: await response.json() }
  }
}
