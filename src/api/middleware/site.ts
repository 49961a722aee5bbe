/** The gateway's own address, as the browser of a request names it. */
export interface Site {
  /** With the port. */
  readonly host: string
  /** It is reached by plain http on this very machine, where no network lies between. */
  readonly isPlainLoopback: boolean
}

interface Addressed {
  readonly url: string
  header(name: string): string | undefined
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i

/** A request may say what it likes of its host and scheme: it decides nothing but what its own client is told. */
export function siteOf(request: Addressed): Site {
  const { protocol, host: seen } = new URL(request.url)
  const host = request.header('host') ?? seen
  const isHttps = protocol === 'https:' || request.header('x-forwarded-proto') === 'https'
  return { host, isPlainLoopback: !isHttps && LOOPBACK.test(host) }
}
