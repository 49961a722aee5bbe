import { describe, expect, inject, it } from 'vitest'
import { configOf } from '../../support/gateway.ts'
import { answer, change, rateLimited, stallAfter } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = (name: string) => `refusal-${process.pid}-${name}`
const messages = [{ role: 'user', content: 'Hello' }]

const gateway = withGateway(() => {
  const settings = `router_settings:\n  timeout: 8\ngateway_settings:\n  fallbacks: [{ ${model('a')}: [${model('b')}] }]\n`
  const groups = { [model('a')]: [model('a')], [model('b')]: [model('b')] }
  return configOf(upstream.url, groups, settings)
})

describe('a refusal whose body does not end', () => {
  it.each([false, true])(
    'does not use up the time in which others could answer, streamed: %s',
    async (stream) => {
      await upstream.script(model('a'), [change(rateLimited(), stallAfter({ bytes: 10 }))])
      await upstream.script(model('b'), [answer({ text: 'Hello.' })])
      const response = await gateway.chat({ model: model('a'), messages, stream })
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('Hello.')
      await upstream.until(model('a'), ([call]) => call?.outcome === 'client_closed')
    },
    12_000,
  )
})
