import { afterEach, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { DATABASE_PASSWORD, REDIS_TOKEN, SALT_KEY } from './support/edge.ts'
import type { WorkerModules } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** Of stores that nobody answers for: a start asks none of them. */
const variables = {
  REDIS_URL: 'http://127.0.0.1:9',
  REDIS_TOKEN,
  DATABASE_URL: `postgres://gateway:${DATABASE_PASSWORD}@127.0.0.1:9/gateway`,
  DATABASE_HTTP_URL: 'http://127.0.0.1:9/sql',
  GATEWAY_MASTER_KEY: MASTER_KEY,
  GATEWAY_SALT_KEY: SALT_KEY,
}

/** Where zod begins to make any schema, and what then notes the line that asked for it. */
const BEGINS_A_SCHEMA = /\$constructor\("\$ZodType", \(inst, def\) => \{/
const NOTES_WHO_ASKED = 'Error.stackTraceLimit = 100; (globalThis.asked ??= []).push(new Error().stack);'

/** The source file that stands in this line of the bundle, which names each before its text. */
const sourceAt = (lines: readonly string[], line: number) =>
  lines
    .slice(0, line)
    .findLast((text) => /^\/\/ [\w@./-]+\.\w+$/.test(text))
    ?.slice(3)

const linesOf = (worker: Workerd) => worker.output().split('\n')

describe('the start of the worker', () => {
  const started: Workerd[] = []
  afterEach(() => Promise.all(started.splice(0).map((worker) => worker.stop())))

  async function start(modules: WorkerModules, changed: Record<string, string> = {}): Promise<Workerd> {
    const worker = await startWorkerd(modules, { ...variables, ...changed })
    started.push(worker)
    return worker
  }

  it('takes the runtime little time', async () => {
    const modules = await workerModules()
    const empty = { ...modules, script: { name: 'empty.js', text: 'export default {}' } }
    const fastest = async (one: WorkerModules) => {
      const times = []
      for (let run = 0; run < 3; run++) times.push((await start(one)).startedInMs)
      return Math.min(...times)
    }
    const evaluation = (await fastest(modules)) - (await fastest(empty))
    // A second is what Workers allows; a busy machine takes twice as long as a quiet one.
    expect(evaluation).toBeLessThan(500)
  })

  it('builds no schema: each waits for the first request that needs it', async () => {
    const { script, texts, sources } = await workerModules()
    const text = script.text.replace(BEGINS_A_SCHEMA, (begins) => `${begins} ${NOTES_WHO_ASKED}`)
    expect(text).not.toBe(script.text)
    const counting = `import worker from './${script.name}'
const atStart = [...(globalThis.asked ?? [])]
export default {
  async fetch(...given) {
    await worker.fetch(...given)
    return Response.json({ atStart, afterwards: globalThis.asked.length })
  },
}`
    const worker = await start({
      script: { name: 'counting.js', text: counting },
      beside: [{ ...script, text }],
      texts,
      sources,
    })
    const response = await fetch(`${worker.url}/health/liveliness`)
    const { atStart, afterwards } = (await response.json()) as { atStart: string[]; afterwards: number }
    const lines = text.split('\n')
    const sourceOf = (stack: string) => sourceAt(lines, Number(/:(\d+):\d+\)?$/.exec(stack)?.[1]))
    expect([...new Set(atStart.map(sourceOf))]).toEqual([])
    // Those of the configuration, which the first request has needed.
    expect(afterwards).toBeGreaterThan(100)
  })

  it('answers its first request without waiting for a store', async () => {
    const worker = await start(await workerModules())
    const startedAt = performance.now()
    const response = await fetch(`${worker.url}/health/liveliness`)
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
    const ms = performance.now() - startedAt
    expect(ms).toBeLessThan(500)
  })

  it.each([
    ['no Redis', { REDIS_URL: '' }, /REDIS_URL/],
    ['no database', { DATABASE_URL: '' }, /DATABASE_URL/],
    ['no master key', { GATEWAY_MASTER_KEY: '' }, /GATEWAY_MASTER_KEY/],
    ['no salt key', { GATEWAY_SALT_KEY: '' }, /GATEWAY_SALT_KEY/],
    ['a weak master key', { GATEWAY_MASTER_KEY: 'sk-weak-99' }, /master_key/],
    ['a Redis over TCP', { REDIS_URL: `redis://:${REDIS_TOKEN}@127.0.0.1:6379` }, /REDIS_URL/],
    ['a broken address', { DATABASE_URL: `//x:${DATABASE_PASSWORD}@` }, /database_url/],
  ])('with %s is refused in the one error shape, and the log says what to change', async (_, changed, named) => {
    const worker = await start(await workerModules(), changed)
    for (const path of ['/v1/models', '/health/liveliness']) {
      const response = await fetch(worker.url + path)
      expect(response.status).toBe(500)
      const { error } = (await response.json()) as { error: { message: string } }
      expect(error).toMatchObject({ type: 'api_error', code: 'misconfigured', param: null })
      const requestId = response.headers.get('x-request-id')
      const logged = () => JSON.parse(linesOf(worker).find((text) => text.includes(`"${requestId}"`)) ?? '{}')
      await expect.poll(logged).toMatchObject({ event: 'misconfigured', error: expect.stringMatching(named) })
    }
    for (const canary of [REDIS_TOKEN, DATABASE_PASSWORD, MASTER_KEY, SALT_KEY, 'sk-weak-99']) {
      expect(worker.output()).not.toContain(canary)
    }
  })
})
