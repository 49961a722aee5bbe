import type { Upstream } from '../scripted-upstream.ts'
import { answer, badRequest, overloaded, serverError } from '../upstream/index.ts'

export const DEMO_KEY = 'sk-demo-master-5f0c7d1be2a94863'
const DEMO_PASSWORD = 'the demo opens with this'
/** Who can sign in to the demo, each with the password `PASSWORD` of the tests. */
const DEMO_PEOPLE = { admin: 'ada@example.com', lead: 'lin@example.com', developer: 'dev@example.com' } as const

const deployment = (name: string, id: string, upstream: string) => `
  - model_name: ${name}
    deployment_id: ${id}
    gateway_params:
      model: openai-compatible/${id}
      api_base: ${upstream}/v1
      api_key: sk-upstream-of-the-demo
    model_info: { input_cost_per_token: 0.000003, output_cost_per_token: 0.000015, tags: [nightly, interactive] }`

export const demoConfig = (upstream: string) => `
general_settings:
  embeddings_batch_enabled: true
router_settings:
  num_retries: 1
gateway_settings:
  fallbacks: [{ claude-opus: [gpt-5-mini] }]
model_list:
  - model_name: echo
    gateway_params: { model: echo/echo }${deployment('claude-opus', 'claude-opus-1', upstream)}${deployment('claude-opus', 'claude-opus-2', upstream)}${deployment('gpt-5-mini', 'gpt-5-mini-east', upstream)}${deployment('accounts/fireworks/models/llama-v3p3-70b-instruct', 'llama-70b', upstream)}
`

export type Body = Readonly<Record<string, unknown>>

/** Asks the gateway with the master key, or with another; throws where the administration refuses. */
export function askOf(url: string) {
  return async <Answer = Record<string, string>>(
    method: string,
    path: string,
    body?: Body | FormData,
    key = DEMO_KEY,
  ): Promise<Answer> => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    const isForm = body instanceof FormData
    if (body && !isForm) headers['content-type'] = 'application/json'
    const sent = body && { body: isForm ? body : JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    const text = await response.text()
    if (path.startsWith('/ui') && !response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as Answer
  }
}

/** Organizations, teams, people, keys, and calls of every kind: answered, failed over, failed, refused. */
export async function fillDemo(url: string, upstream: Upstream): Promise<void> {
  const ask = askOf(url)
  const post = (path: string, body: Body) => ask('POST', path, body)

  for (const [organization_id, organization_name] of [
    ['research', 'Research'],
    ['products', 'Products'],
  ] as const) {
    await post('/ui/api/organizations', { organization_id, organization_name, max_budget: 500, budget_duration: '30d' })
  }
  const teams: readonly Body[] = [
    {
      team_id: 'search',
      team_name: 'Search quality',
      organization_id: 'products',
      max_budget: 0.05,
      budget_duration: '30d',
      rpm_limit: 600,
    },
    {
      team_id: 'support',
      team_name: 'Support assistant',
      organization_id: 'products',
      max_budget: 50,
      soft_budget: 40,
      budget_duration: '1mo',
      tpm_limit: 200_000,
    },
    {
      team_id: 'eval',
      team_name: 'Model evaluation',
      organization_id: 'research',
      self_service_keys_enabled: true,
      self_service_max_keys_per_user: 3,
      self_service_budget_ceiling: 20,
    },
    {
      team_id: 'night-jobs',
      team_name: 'Night jobs with a rather long name that has to be cut somewhere',
      organization_id: 'research',
      rpm_limit: 0,
    },
    { team_id: 'nameless' },
  ]
  for (const team of teams) await post('/ui/api/teams', team)
  for (const [user_id, user_email] of [
    ['user-ada', DEMO_PEOPLE.admin],
    ['user-lin', DEMO_PEOPLE.lead],
    ['user-dev', DEMO_PEOPLE.developer],
  ] as const) {
    await post('/ui/api/users', { user_id, user_email })
  }
  const invite = (email: string, places: Body = {}) => post('/ui/api/invitations', { email, ...places })
  const accepted: readonly [email: string, places: Body][] = [
    ['grace.hopper@example.com', { organization_id: 'products', organization_role: 'org_owner', team_id: 'search' }],
    ['noor@example.com', { team_id: 'eval', team_role: 'team_admin' }],
    ['a-person-with-a-rather-long-address@department.example.com', {}],
  ]
  for (const [email, places] of accepted) {
    const token = String((await invite(email, places)).invitation_url).split('#')[1]
    await post('/auth/invitations/accept', { token, password: DEMO_PASSWORD })
  }
  await invite('newcomer@example.com', { organization_id: 'research', team_id: 'eval', team_role: 'team_viewer' })
  await post('/ui/api/teams/search/members', { user_id: 'user-lin', role: 'team_admin' })
  await post('/ui/api/teams/eval/members', { user_id: 'user-dev', role: 'team_developer' })

  await fillPrompts(post)

  const key = async (body: Body) => (await post('/ui/api/keys', body)).key as string
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const keys = await Promise.all([
    key({ key_name: 'build-server', team_id: 'search', max_budget: 1, budget_duration: '30d', rpm_limit: 60 }),
    key({ key_name: 'support-widget', team_id: 'support', expires_at: soon }),
    key({ key_name: 'notebook of dev', team_id: 'eval', user_id: 'user-dev' }),
    key({ key_name: 'limited', team_id: 'eval', rpm_limit: 2 }),
  ])
  upstream.script('claude-opus-1', [answer(), serverError(), answer(), badRequest(), overloaded(), answer()])
  const models = [
    'claude-opus',
    'gpt-5-mini',
    'claude-opus',
    'accounts/fireworks/models/llama-v3p3-70b-instruct',
    'echo',
    'no-such-model',
  ]
  for (let call = 0; call < 48; call++) {
    const model = models[call % models.length]
    const body = {
      model,
      messages: [{ role: 'user', content: `Question ${call}: ${'why '.repeat(call)}` }],
      user: 'someone',
      ...(model === 'echo' ? {} : { metadata: { tags: [call % 2 ? 'nightly' : 'interactive'] } }),
    }
    await ask('POST', '/v1/chat/completions', body, keys[call % keys.length])
  }
}

/** A prompt with three versions and two labels, one of which was moved; one without labels; an archived one. */
async function fillPrompts(post: (path: string, body: Body) => Promise<unknown>): Promise<void> {
  const variables = {
    shop: { type: 'string', max_length: 100, description: 'As customers know it.' },
    language: { type: 'enum', enum: ['English', 'Deutsch'], default: 'English' },
  }
  const system = (content: string) => [{ role: 'system', content }]
  const before = 'You help customers of {{shop}}.\nAnswer in {{language}}.'
  const description = 'The first answer to customers, before a person reads it.'
  await post('/ui/api/prompts', {
    key: 'support',
    description,
    messages: system(before),
    variables,
    labels: ['production'],
  })
  await post('/ui/api/prompts/support/versions', {
    messages: system(`${before}\nNever promise a refund.`),
    variables,
    note: 'No refunds without a person',
    labels: ['production'],
  })
  await post('/ui/api/prompts/support/versions', {
    messages: [
      ...system('You help customers of {{shop}}, in {{language}}.\nNever promise a refund.'),
      { role: 'assistant', content: 'How can I help?' },
    ],
    variables,
    note: 'Shorter, and it greets',
    labels: ['staging'],
  })
  await post('/ui/api/prompts', { key: 'summary.of.a.call', messages: system('Sum up in {{sentences}} sentences.') })
  await post('/ui/api/prompts', { key: 'old-greeting', messages: system('Say hello.') })
  await post('/ui/api/prompts/old-greeting/archive', {})
}
