import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { FALLBACK_TEXT, FAULTS, type Fault } from '../support/faults.ts'
import { readStream, spokenText } from '../support/sse.ts'
import { answer, overloaded, rateLimited, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0

/** Names of one test alone, so that scripts and calls of tests never meet. */
function names() {
  serial += 1
  return { primary: `faults-${run}-${serial}-primary`, fallback: `faults-${run}-${serial}-fallback` }
}

const everyRow = {
  retry_after: 0.02,
  cooldown_time: 0,
  timeout: 12,
  total_timeout: 12,
  stream_first_token_timeout: 0.6,
  stream_idle_timeout: 0.6,
}

const asked = async (key: string) => (await upstream.calls(key)).length
const finishedCalls = () => gateway.logs.filter(({ event }) => event === 'call.finished')

/** What a client makes of an answer, whichever way it came. */
async function seen(response: Response) {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const stream = await readStream(response)
    const last = JSON.parse(stream.events.at(-1)?.data.replace('[DONE]', '{}') ?? '{}')
    const ended = stream.events.at(-1)?.data === '[DONE]'
    expect(ended).toBe(last.error === undefined)
    const words = { events: stream.events.filter(({ data }) => !data.startsWith('{"error"')) }
    return { code: last.error?.code, text: spokenText(words) }
  }
  const body = (await response.json()) as {
    error?: { code: string }
    choices?: { message: { content: string } }[]
  }
  return { code: body.error?.code, text: body.choices?.[0]?.message.content }
}

const usageKind = (usage: unknown) =>
  usage === undefined ? 'none' : (usage as { estimated: boolean }).estimated ? 'estimated' : 'reported'

describe('faults of a provider', () => {
  it.each(FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (_, fault: Fault) => {
    const id = names()
    await gateway.restart(
      configuration({
        router_settings: { ...everyRow, ...fault.settings },
        gateway_settings: { fallbacks: [{ group: ['spare'] }] },
        model_list: [deployment(upstream.url, 'group', id.primary), deployment(upstream.url, 'spare', id.fallback)],
      }),
    )
    await upstream.script(id.primary, fault.primary)
    await upstream.script(id.fallback, fault.fallback ?? [answer({ text: FALLBACK_TEXT })])

    const body = { model: 'group', messages, ...(fault.streamed ? { stream: true } : {}) }
    for (let call = 1; call < (fault.calls ?? 1); call++) {
      await (await gateway.chat(body)).text()
      await gateway.idle()
    }
    const started = performance.now()
    const response = await gateway.chat(body)
    const { code, text } = await seen(response)
    const took = performance.now() - started
    await gateway.idle()

    expect({ status: response.status, code, ...(text === undefined ? {} : { text }) }).toEqual({
      status: fault.client.status,
      code: fault.client.code,
      ...(fault.client.text === undefined ? {} : { text: fault.client.text }),
    })
    const retryAfter = response.headers.get('retry-after')
    if (fault.client.retryAfter !== undefined) expect(Number(retryAfter)).toBe(fault.client.retryAfter)
    if (fault.within !== undefined) expect(took).toBeLessThan(fault.within)
    expect({ primary: await asked(id.primary), fallback: await asked(id.fallback) }).toEqual(fault.asked)

    expect(finishedCalls()).toHaveLength(fault.calls ?? 1)
    const line = finishedCalls().at(-1)
    const { ending, by, attempts, usage } = fault.logged
    expect(line).toMatchObject({ ending, deployment: id[by], attempts })
    expect(usageKind(line?.usage)).toBe(usage)
  })
})

describe('a client that leaves', () => {
  it('out of a pause between attempts ends the call: nobody is asked any more, and nothing is billed', async () => {
    const id = names()
    await gateway.restart(
      configuration({
        router_settings: { ...everyRow, num_retries: 5, retry_after: 4 },
        gateway_settings: { fallbacks: [{ group: ['spare'] }] },
        model_list: [deployment(upstream.url, 'group', id.primary), deployment(upstream.url, 'spare', id.fallback)],
      }),
    )
    // The fallback does not answer sooner.
    for (const key of [id.primary, id.fallback]) await upstream.script(key, [overloaded({ seconds: 4 })])
    const leaving = new AbortController()
    const call = gateway.chat({ model: 'group', messages }, { signal: leaving.signal }).catch(() => undefined)
    await upstream.until(id.fallback, ([first]) => first?.outcome === 'finished')
    await new Promise((resolve) => setTimeout(resolve, 50))
    leaving.abort()
    await call
    await gateway.idle()
    await new Promise((resolve) => setTimeout(resolve, 4500))
    expect([await asked(id.primary), await asked(id.fallback)]).toEqual([1, 1])
    expect(finishedCalls()).toMatchObject([{ ending: 'client_closed', attempts: 2 }])
    expect(finishedCalls()[0]?.usage).toBeUndefined()
  })
})

describe('two deployments that fail', () => {
  it('are asked again in the order in which they may be', async () => {
    const id = names()
    await gateway.restart(
      configuration({
        router_settings: { ...everyRow, num_retries: 2, routing_strategy: 'priority-based-routing' },
        model_list: [
          deployment(upstream.url, 'group', id.primary, { priority: 0 }),
          deployment(upstream.url, 'group', id.fallback, { priority: 1 }),
        ],
      }),
    )
    await upstream.script(id.primary, [serverError(), answer({ text: 'first again' })])
    await upstream.script(id.fallback, [rateLimited({ seconds: 10 })])
    const started = performance.now()
    expect(await seen(await gateway.chat({ model: 'group', messages }))).toMatchObject({ text: 'first again' })
    expect(performance.now() - started).toBeLessThan(8000)
    expect([await asked(id.primary), await asked(id.fallback)]).toEqual([2, 1])
  })
})
