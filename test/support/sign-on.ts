/** The browser of a person who signs on: keeps its cookies, and stops where the gateway sends it at last. */
export interface SignOnBrowser {
  readonly cookies: Map<string, string>
  /** From the login page to the address that the provider sends the browser back to. */
  toProvider(next?: string): Promise<{ readonly login: Response; readonly callback: string }>
  /** Opens a path of the gateway. */
  open(path: string, headers?: Record<string, string>): Promise<Response>
  /** All of it: the answer of the callback. */
  signOn(next?: string): Promise<Response>
  me(): Promise<Record<string, unknown>>
}

/** `returnUrl`: the process that the provider sends it back to, where that is another. */
export function signOnBrowser(url: string, returnUrl = url): SignOnBrowser {
  const cookies = new Map<string, string>()
  const self: SignOnBrowser = {
    cookies,
    async open(path, headers = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch((path.startsWith('/auth/callback') ? returnUrl : url) + path, {
        redirect: 'manual',
        headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
      })
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) as unknown as [string, string, string]
        cookies.set(name, value)
      }
      return response
    },
    async toProvider(next) {
      const login = await self.open(`/auth/login${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`)
      const location = login.headers.get('location') ?? ''
      if (!location.includes('/authorize')) return { login, callback: location }
      const back = await fetch(location, { redirect: 'manual' })
      const { pathname, search } = new URL(back.headers.get('location') ?? '')
      return { login, callback: pathname + search }
    },
    async signOn(next) {
      const { callback } = await self.toProvider(next)
      return self.open(callback)
    },
    async me() {
      return (await (await self.open('/auth/me')).json()) as Record<string, unknown>
    },
  }
  return self
}
