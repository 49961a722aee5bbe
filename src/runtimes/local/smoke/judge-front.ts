type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

interface Judgement {
  readonly ok: boolean
  readonly detail: string
}

const LOOPBACK = /^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:|\/|$)/

/** Plain http is right on this machine alone. */
export function transportOf(url: string, tls: string | undefined, strict: string | undefined): Judgement {
  if (!url.startsWith('https:')) {
    return LOOPBACK.test(url)
      ? { ok: true, detail: 'plain http, which does not leave this machine' }
      : { ok: false, detail: 'plain http over a network: keys can be read on the way' }
  }
  if (tls !== 'TLSv1.2' && tls !== 'TLSv1.3')
    return { ok: false, detail: `${tls ?? 'an unknown protocol'} is outdated` }
  if (!/max-age=[1-9]/.test(strict ?? ''))
    return { ok: false, detail: `${tls}; /console has no strict-transport-security` }
  return { ok: true, detail: `${tls}, strict-transport-security` }
}

/** What is not as wanted, in words. */
export function missingHeaders(
  path: string,
  headers: Headers,
  wanted: Readonly<Record<string, string | RegExp>>,
): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const found = String(headers[name] ?? '')
    const fits = typeof value === 'string' ? found === value : value.test(found)
    return fits ? [] : [`${path}: ${name} is ${found === '' ? 'missing' : `'${found}'`}`]
  })
}

/** How far a Date, which knows whole seconds, lies outside the time in which the answer was asked and came. */
export function clockSkew(date: string, askedAt: number, cameAt: number): number {
  const from = Date.parse(date)
  if (Number.isNaN(from)) return Number.POSITIVE_INFINITY
  return Math.max(0, askedAt - (from + 1000), from - cameAt)
}
