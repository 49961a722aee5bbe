import type { AdminApi } from './admin-api.ts'

/** The time that a gateway may take to answer. */
const ANSWER_MS = 60_000

/** A gateway that is running somewhere: on this machine, in a cluster, at the edge. */
export function runningGateway(url: string, key: string): AdminApi {
  const base = url.replace(/\/+$/, '')
  return {
    async request(method, path, body) {
      const response = await fetch(base + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: {
          authorization: `Bearer ${key}`,
          'user-agent': 'model-gateway command line',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error: Error) => {
        const cause = (error.cause as { readonly code?: string } | undefined)?.code ?? error.name
        throw new Error(`${base} cannot be reached (${cause}).`)
      })
      return { status: response.status, body: await response.json().catch(() => undefined) }
    },
    async close() {},
  }
}
