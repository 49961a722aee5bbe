/** The gateway's own address, as a request names it. */
export interface Site {
  /** The host with its port. */
  readonly host: string
  /** The request came by plain http over the loopback interface, not a network. */
  readonly isPlainLoopback: boolean
}

interface RequestHead {
  readonly url: string
  header(name: string): string | undefined
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i

/** A client can forge its request's host and scheme: they only affect answers to that client. */
export function siteOf(request: RequestHead): Site {
  const { protocol, host: urlHost } = new URL(request.url)
  const host = request.header('host') ?? urlHost
  const isHttps = protocol === 'https:' || request.header('x-forwarded-proto') === 'https'
  return { host, isPlainLoopback: !isHttps && LOOPBACK.test(host) }
}
