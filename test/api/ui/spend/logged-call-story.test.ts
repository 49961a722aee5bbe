import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usageOf } from '../../../../src/modes/usage.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { configuration, deployment } from '../../../support/configuration.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { signedIn } from '../../../support/people.ts'
import { startUpstream, type Upstream } from '../../../support/scripted-upstream.ts'
import { answer, cutAfter, json, reset, slowHeaders } from '../../../support/upstream/index.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const PROVIDER_KEY = 'sk-9b1e77ac-provider'
const CONTENT = 'The content of the story, which nobody else may read.'

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
type Body = any

describe('GET /ui/api/logs/{call_id}', () => {
  let upstream: Upstream
  const gateway = withFullGateway(async () => {
    upstream = await startUpstream()
    const key = { api_key: PROVIDER_KEY }
    return configuration({
      router_settings: {
        num_retries: 1,
        cooldown_time: 0,
        routing_strategy: 'priority-based-routing',
        retry_after: 0.01,
      },
      gateway_settings: {
        fallbacks: [{ group: ['spare'] }],
        success_callback: ['langfuse', 's3', 'webhook'],
        callback_settings: {
          langfuse: { host: upstream.url, public_key: 'pk', secret_key: 'sk', project_id: 'project 1' },
          s3: { bucket: 'logs', prefix: 'calls', endpoint: upstream.url, access_key_id: 'a', secret_access_key: 's' },
          webhook: { url: upstream.url, secret: `whsec_${'A'.repeat(44)}` },
        },
      },
      model_list: [
        deployment(
          upstream.url,
          'group',
          'story-one',
          { priority: 0, input_cost_per_token: 0.001, output_cost_per_token: 0.002 },
          key,
        ),
        deployment(upstream.url, 'group', 'story-two', { priority: 1, supports_assistant_prefix: true }, key),
        deployment(upstream.url, 'spare', 'story-spare', {}, key),
      ],
    })
  })
  beforeAll(async () => {
    await gateway.sql.query({
      sql: "INSERT INTO gateway_organization (organization_id, organization_name) VALUES ('acme', 'Acme')",
      parameters: [],
    })
    for (const team of ['red', 'blue'])
      await gateway.sql.query({
        sql: 'INSERT INTO gateway_team (team_id, organization_id, team_name) VALUES ($1, $2, $3)',
        parameters: [team, 'acme', team.toUpperCase()],
      })
  })
  afterAll(() => upstream?.close())

  async function ask(path: string): Promise<{ status: number; body: Body }> {
    const response = await gateway.fetch(`/ui/api${path}`)
    return { status: response.status, body: await response.json() }
  }

  /** Makes a call, and reads what is told of it once it is in the ledger. */
  async function told(more: object = {}): Promise<Body> {
    const messages = [{ role: 'user', content: CONTENT }]
    const response = await gateway.chat({ model: 'group', messages, ...more })
    const requestId = response.headers.get('x-request-id')
    await response.text()
    const rows = async () => (await ask(`/logs?request_id=${requestId}`)).body.data.length
    await expect.poll(rows, { timeout: 10_000 }).toBe(1)
    const [row] = (await ask(`/logs?request_id=${requestId}`)).body.data
    const { status, body } = await ask(`/logs/${row.call_id}`)
    expect(status).toBe(200)
    expect(body.call).toEqual(row)
    return body
  }

  it('tells of each attempt: where, when, how it ended and what it cost', async () => {
    const said = `Overloaded by "${CONTENT}" of ${PROVIDER_KEY}`
    upstream.script('story-one', [json(500, { error: { message: said } }, {}, slowHeaders({ ms: 40 }))])
    upstream.script('story-two', [json(429, { error: { message: 'Slow down, org-4711' } })])
    upstream.script('story-spare', [answer()])
    const { call, attempts, ...rest } = await told()
    expect(call).toMatchObject({ ending: 'answered', attempts: 3, failed_over: true, deployment: 'story-spare' })
    expect(attempts).toEqual([
      {
        deployment: 'story-one',
        provider: 'openai-compatible',
        group: 'group',
        turn: 1,
        result: 'failed',
        error: 'provider_error',
        message: 'The provider failed with status 500.',
        upstream_status: 500,
        upstream_message: 'Overloaded by "[…]" of [secret]',
        started_ms: expect.any(Number),
        first_token_ms: null,
        total_ms: expect.any(Number),
        cost: 0,
      },
      expect.objectContaining({
        deployment: 'story-two',
        result: 'failed',
        error: 'rate_limit',
        upstream_status: 429,
        upstream_message: 'Slow down, org-4711',
      }),
      expect.objectContaining({
        deployment: 'story-spare',
        group: 'spare',
        result: 'answered',
        error: null,
        message: null,
        upstream_status: 200,
        upstream_message: null,
        cost: null,
      }),
    ])
    const [one, two, spare] = attempts
    expect(one.total_ms).toBeGreaterThanOrEqual(39)
    expect(two.started_ms).toBeGreaterThanOrEqual(one.started_ms + one.total_ms - 0.01)
    expect(spare.started_ms + spare.first_token_ms).toBeLessThanOrEqual(call.total_ms)
    expect(rest).toMatchObject({ attempts_left_out: 0, tool_calls: [], tool_calls_left_out: 0 })
  })

  it('tells for what reason a connection failed', async () => {
    upstream.script('story-one', [reset()])
    upstream.script('story-two', [answer()])
    const { attempts } = await told()
    expect(attempts[0]).toMatchObject({
      message: 'The connection to the provider failed.',
      upstream_message: expect.stringMatching(/^the connection to http:\/\/[\w.:]+ failed: ECONNRESET$/),
    })
  })

  it('tells of a call that was answered at once what its row says', async () => {
    upstream.script('story-one', [answer()])
    const { call, attempts, price, held } = await told()
    const [input, output] = [call.input_tokens, call.output_tokens]
    const part = { deployment: 'story-one', tool: null, times: [] }
    expect(price).toEqual({
      parts: [
        { ...part, unit: 'input_tokens', count: input, price: 0.001, amount: expect.closeTo(input * 0.001, 9) },
        { ...part, unit: 'output_tokens', count: output, price: 0.002, amount: expect.closeTo(output * 0.002, 9) },
      ],
      total: call.cost,
      exact: true,
    })
    expect(held).toBe(null)
    expect(attempts).toEqual([
      {
        deployment: 'story-one',
        provider: 'openai-compatible',
        group: 'group',
        turn: 1,
        result: 'answered',
        error: null,
        message: null,
        upstream_status: null,
        upstream_message: null,
        started_ms: call.overhead_ms,
        first_token_ms: expect.closeTo(call.first_token_ms - call.overhead_ms, 6),
        total_ms: call.upstream_ms,
        cost: call.cost,
      },
    ])
    const [stored] = (
      await gateway.sql.query({
        sql: 'SELECT detail FROM gateway_spend WHERE call_id = $1',
        parameters: [call.call_id],
      })
    ).rows
    expect(stored).toEqual({ detail: null })
  })

  it('tells what a budget held for a call until it was settled, and its price in any dialect', async () => {
    const made = await gateway.fetch('/ui/api/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key_name: 'with a budget', max_budget: 100 }),
    })
    const { key, key_id: keyId } = (await made.json()) as Body
    upstream.script('story-one', [answer()])
    const answered = await gateway.fetch('/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'group', max_tokens: 500, messages: [{ role: 'user', content: CONTENT }] }),
    })
    expect(answered.status).toBe(200)
    const rows = async () => (await ask(`/logs?key_id=${keyId}`)).body.data
    await expect.poll(async () => (await rows()).length, { timeout: 10_000 }).toBe(1)
    const [{ call_id: callId }] = await rows()
    const { call, held, price, attempts } = (await ask(`/logs/${callId}`)).body
    expect(held).toBeGreaterThan(1)
    expect(price).toMatchObject({ total: call.cost, exact: true })
    expect(attempts).toHaveLength(1)
  })

  it('tells of an answer that broke off and was continued, and of one whose request was at fault', async () => {
    const text = 'one two three four five six seven eight'
    upstream.script('story-one', [answer({ text }, cutAfter({ frames: 4 }))])
    upstream.script('story-two', [answer()])
    const cut = await told({ stream: true })
    expect(cut.call).toMatchObject({ failed_over: true, rescued: 1 })
    expect(cut.attempts).toMatchObject([
      { result: 'cut', error: 'truncated', upstream_status: 200 },
      { result: 'answered' },
    ])

    upstream.script('story-one', [json(400, { error: { message: `Not this: ${CONTENT}` } })])
    const refused = await told()
    expect(refused.call).toMatchObject({ ending: 'failed', failed_over: false })
    expect(refused.attempts).toMatchObject([{ result: 'failed', upstream_status: 400, message: 'Not this: […]' }])
    expect(JSON.stringify(refused)).not.toContain('nobody else')
  })

  it('links to where sinks have it, if they can name the place', async () => {
    upstream.script('story-one', [answer()])
    const { call, links } = await told()
    const [day, hour] = call.at.slice(0, 13).split('T')
    const folder = { sink: 's3', url: `s3://logs/calls/date=${day}/hour=${hour}/` }
    expect(links).toEqual([
      { sink: 'langfuse', url: `${upstream.url}/project/project%201/traces/${call.call_id}` },
      folder,
    ])
    const traced = await told({ metadata: { trace_id: 'trace/of mine' } })
    expect(traced.links[0].url).toBe(`${upstream.url}/project/project%201/traces/trace%2Fof%20mine`)
    expect(traced.attempts).toMatchObject([{ result: 'answered' }])
  })

  it('names who it was, and is there within reach alone; own calls are there without a permission', async () => {
    const viewer = await signedIn(gateway, { role: 'org_user', teams: { red: 'team_viewer' } })
    const auditor = await signedIn(gateway, { role: 'org_user', organizations: { acme: 'org_auditor' } })
    const failed = {
      deployment: 'd',
      provider: 'openai',
      group: 'g',
      result: 'failed',
      error: 'provider_error',
      message: 'It failed.',
      upstreamStatus: 500,
      upstreamMessage: 'org-4711 has no money',
      turn: 1,
      usage: undefined,
      costNano: 0,
      startedMs: 1,
      firstTokenMs: undefined,
      totalMs: 2,
    } as const
    const common = { keyId: 'master_key', ending: 'failed', tried: [failed] } as const
    await ledger.write(gateway.sql, [
      finishedCall({ ...common, callId: 'own', teamId: '', organizationId: '', userId: viewer.userId }),
      finishedCall({ ...common, callId: 'in-red', teamId: 'red', organizationId: 'acme' }),
      finishedCall({ ...common, callId: 'in-blue', teamId: 'blue', organizationId: 'acme' }),
      finishedCall({ ...common, callId: 'elsewhere', teamId: 'gone', organizationId: 'other' }),
    ])
    const statuses = async ({ ask }: typeof viewer) =>
      Promise.all(
        ['own', 'in-red', 'in-blue', 'elsewhere', 'absent'].map(
          async (id) => (await ask('GET', `/ui/api/logs/${id}`)).status,
        ),
      )
    expect(await statuses(viewer)).toEqual([200, 404, 404, 404, 404])
    expect(await statuses(auditor)).toEqual([404, 200, 200, 404, 404])
    const seen = (await auditor.ask('GET', '/ui/api/logs/in-red')).body as Body
    expect(seen.call).toMatchObject({ team_name: 'RED', organization_name: 'Acme', key_name: null, user_name: null })
    // How the operator's account is called is the operator's alone.
    expect(seen.attempts).toMatchObject([{ message: 'It failed.', upstream_message: null }])
    expect((await ask('/logs/in-red')).body.attempts).toMatchObject([{ upstream_message: 'org-4711 has no money' }])
    const own = (await viewer.ask('GET', '/ui/api/logs/own')).body as Body
    expect(own.call.user_name).toBe(viewer.email)
  })

  it('has no price of a call with more attempts than are kept', async () => {
    const one = {
      deployment: 'story-one',
      provider: 'openai-compatible',
      group: 'group',
      result: 'answered',
      error: '',
      message: undefined,
      upstreamStatus: 200,
      upstreamMessage: undefined,
      usage: usageOf({ inputTokens: 1 }),
      costNano: 1_000_000,
      startedMs: 1,
      firstTokenMs: 1,
      totalMs: 2,
    } as const
    for (const [callId, attempts] of [
      ['whole', 16],
      ['long', 17],
    ] as const) {
      const tried = Array.from({ length: attempts }, (_, at) => ({ ...one, turn: at + 1 }))
      await ledger.write(gateway.sql, [finishedCall({ callId, attempts, tried, costNano: attempts * one.costNano })])
    }
    expect((await ask('/logs/whole')).body.price).toMatchObject({ total: 0.016, exact: true })
    expect((await ask('/logs/long')).body).toMatchObject({ price: null, attempts_left_out: 1 })
  })

  it('counts the attempts of a call that an earlier build has recorded', async () => {
    await ledger.write(gateway.sql, [finishedCall({ callId: 'earlier', attempts: 3 })])
    expect((await ask('/logs/earlier')).body).toMatchObject({ attempts: [], attempts_left_out: 3 })
  })
})
