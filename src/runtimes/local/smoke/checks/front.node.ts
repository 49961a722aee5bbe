import { type Check, failed, notChecked, passed } from '../check.node.ts'
import { inShort, jsonOf } from '../far-end.node.ts'
import { clockSkew, missingHeaders, transportOf } from '../judge-front.ts'

/** What every caller meets before any model is asked. */
export const front: readonly Check[] = [
  {
    name: 'readiness',
    promise: 'the store and the database answer',
    async run({ farEnd }) {
      const answer = await farEnd.ask({ path: '/health/readiness' })
      const { checks } = (jsonOf(answer) ?? {}) as { checks?: Record<string, unknown> }
      if (answer.status === 200 && checks) return passed(`${Object.keys(checks).join(' and ')} answer`)
      const away = Object.keys(checks ?? {}).filter((name) => checks?.[name] !== true)
      return failed(`${inShort(answer)}${away.length > 0 ? `; away: ${away.join(', ')}` : ''}`)
    },
  },
  {
    name: 'transport',
    promise: 'the way is encrypted, and browsers are told to stay on it',
    async run({ farEnd }) {
      const console = await farEnd.ask({ path: '/console', headers: { accept: 'text/html' } })
      const { ok, detail } = transportOf(farEnd.url, console.tls, console.headers['strict-transport-security'])
      return ok ? passed(detail) : failed(detail)
    },
  },
  {
    name: 'headers',
    promise: 'answers arrive with the headers that the gateway gives them',
    async run({ farEnd, key }) {
      const requestId = 'smoke-test-of-headers'
      const headers = { 'x-request-id': requestId }
      const shown = await farEnd.ask({ path: '/health', headers })
      const page = await farEnd.ask({ path: '/console', headers: { accept: 'text/html' } })
      const models = await farEnd.ask({ path: '/v1/models', key, headers })
      const missing = [
        ...missingHeaders('/health', shown.headers, { 'x-request-id': requestId, 'cache-control': 'no-store' }),
        ...missingHeaders('/v1/models', models.headers, { 'x-request-id': requestId }),
        ...missingHeaders('/console', page.headers, {
          'content-security-policy': /default-src/,
          'x-content-type-options': 'nosniff',
          'cache-control': /no-cache|no-store/,
        }),
      ]
      return missing.length === 0 ? passed('request ids, caching and policies arrive') : failed(missing.join('; '))
    },
  },
  {
    name: 'clock',
    promise: 'the clock of the gateway is right',
    async run({ farEnd, bounds }) {
      const { headers, sentAt, headAt } = await farEnd.ask({ path: '/health/liveliness' })
      if (headers.date === undefined) return notChecked('the answer has no Date')
      const skewMs = clockSkew(headers.date, sentAt, headAt)
      const words =
        skewMs === 0 ? 'no skew that a Date can show' : `${Math.round(skewMs / 100) / 10} s from this machine's`
      return skewMs <= bounds.clockSkew ? passed(words) : failed(`${words}, ${bounds.clockSkew / 1000} s at most`)
    },
  },
]
