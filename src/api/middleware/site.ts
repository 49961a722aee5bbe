/** The gateway's own address, as a request names it. */
export interface Site {
  /** The host with its port. */
  readonly host: string
  /** The request came by plain http over the loopback interface, not a network. */
  readonly isPlainLoopback: boolean
  /** The client came by https, to this process or to a proxy before it. */
  readonly isHttps: boolean
  /** The connection to this process is encrypted, so that the host is one of its own. */
  readonly isEncrypted: boolean
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
  const isEncrypted = protocol === 'https:'
  const isHttps = isEncrypted || request.header('x-forwarded-proto') === 'https'
  return { host, isPlainLoopback: !isHttps && LOOPBACK.test(host), isHttps, isEncrypted }
}
