import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { groupSettings } from '../../../routing/group-settings.ts'
import { readPromptRef, versionMeant } from '../../../routing/prompts/prompt-ref.ts'
import { policyOf, type RouteGroupPolicy, routeGroupPolicy, settingsOf } from '../../../routing/route-group-policy.ts'
import type { RouteGroupPolicyRecord } from '../../../stores/sql/records/route-group-policy-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { makerOf } from '../maker.ts'
import { pageAnswer, pageOf } from '../page.ts'
import { changedMeanwhile, reload } from '../registry-records.ts'
import { requireGroup } from './known-group.ts'

const PATH = '/ui/api/route-groups/{name}/policy'

const version = lazily(() =>
  z.object({
    version: z.int().describe('Increases with every publication.'),
    policy: routeGroupPolicy(),
    restored_from: z.int().nullable().describe('The version that this one restored.'),
    published_at: z.iso.datetime(),
  }),
)
const pastVersion = lazily(() =>
  version().extend({
    published_by: z.string().nullable().describe('The account, or master_key; null where that was not kept.'),
  }),
)
const effective = lazily(() =>
  z.record(z.string(), z.unknown()).describe('The settings in force: router_settings overridden by the policy.'),
)
const answer = lazily(() =>
  z.object({
    name: z.string(),
    effective: effective(),
    published: version().nullable().describe('The published policy; null before the first publication.'),
    draft: z
      .object({
        draft_version: z.int().describe('Increases with every draft.'),
        policy: routeGroupPolicy(),
        drafted_at: z.iso.datetime(),
      })
      .nullable()
      .describe('The draft, which has no effect before it is published.'),
  }),
)

const common = { tag: 'Configuration', auth: 'admin', params: () => z.object({ name: z.string() }) } as const
const changes = { ...common, permission: 'config.update' } as const
const answers = { 200: { description: 'The policy and its draft.', schema: answer } } as const
const ofDraft = lazily(() =>
  z.object({
    draft_version: z.coerce
      .number()
      .int()
      .min(0)
      .max(2_147_483_647)
      .optional()
      .describe('The version of the draft; any other answers 409.'),
  }),
)

const get = defineRoute(
  {
    ...common,
    method: 'get',
    path: PATH,
    summary: "A group's policy, which overrides router_settings for its calls, and the draft of the next.",
    permission: 'config.read',
    responses: answers,
  },
  async ({ services, input: { params } }) => {
    await requireGroup(services, params.name)
    return shown(services, params.name, await services.records.routeGroupPolicies.find(params.name))
  },
)

const putDraft = defineRoute(
  {
    ...changes,
    method: 'put',
    path: `${PATH}/draft`,
    summary: 'Stores the draft of a policy. An empty one uses router_settings unchanged.',
    query: ofDraft,
    json: routeGroupPolicy,
    responses: answers,
  },
  async ({ services, input: { params, query, json: policy } }) => {
    await requireGroup(services, params.name)
    await requirePrompt(services, policy)
    const records = services.records.routeGroupPolicies
    const record = await records.putDraft(params.name, policy, query.draft_version)
    if (!record) throw draftChanged()
    return shown(services, params.name, record)
  },
)

const dropDraft = defineRoute(
  {
    ...changes,
    method: 'delete',
    path: `${PATH}/draft`,
    summary: 'Discards the draft of a policy.',
    responses: answers,
  },
  async ({ services, input: { params } }) => {
    await requireGroup(services, params.name)
    const record = await services.records.routeGroupPolicies.dropDraft(params.name)
    if (!record) throw new GatewayError('not_found', 'This group has no draft.', { param: 'name' })
    return shown(services, params.name, record)
  },
)

const validate = defineRoute(
  {
    ...common,
    method: 'post',
    path: `${PATH}/validate`,
    summary: 'Validates a policy and returns the settings that would be in force. Stores nothing.',
    permission: 'config.read',
    json: routeGroupPolicy,
    responses: {
      200: {
        description: 'The policy is valid; otherwise the answer is a 400 that names the field.',
        schema: () => z.object({ valid: z.literal(true), policy: routeGroupPolicy(), effective: effective() }),
      },
    },
  },
  async ({ services, input: { params, json: policy } }) => {
    await requireGroup(services, params.name)
    await requirePrompt(services, policy)
    return json({ valid: true, policy, effective: effectiveOf(services, policy) })
  },
)

const publish = defineRoute(
  {
    ...changes,
    method: 'post',
    path: `${PATH}/publish`,
    action: 'route_group_policy.publish',
    summary: 'Publishes the draft. Every process applies it within five seconds.',
    query: ofDraft,
    responses: answers,
  },
  async (scope) => {
    const { services, audits, input } = scope
    const { params, query } = input
    await requireGroup(services, params.name)
    const records = services.records.routeGroupPolicies
    const record = await records.publish(params.name, query.draft_version, makerOf(scope))
    if (record) return publicationAnswer({ services, audits }, record)
    const draft = (await records.find(params.name))?.draft
    if (draft) {
      await requirePrompt(services, draft)
      throw draftChanged()
    }
    const message = 'There is no draft to publish. Write one, unless somebody else has just published it.'
    throw new GatewayError('conflict', message, { code: 'no_draft' })
  },
)

const rollback = defineRoute(
  {
    ...changes,
    method: 'post',
    path: `${PATH}/rollback`,
    action: 'route_group_policy.rollback',
    summary: 'Publishes a former version again, as a new version.',
    json: () => z.strictObject({ version: z.int().min(1).max(2_147_483_647) }),
    responses: answers,
  },
  async (scope) => {
    const { services, audits, input } = scope
    const { params, json: asked } = input
    await requireGroup(services, params.name)
    const records = services.records.routeGroupPolicies
    const past = await records.version(params.name, asked.version)
    // Another release may have published it: this one may not accept all of it.
    if (past) accepted(routeGroupPolicy(), past.policy)
    const record = past && (await records.restore(params.name, asked.version, makerOf(scope)))
    if (past && !record) await requirePrompt(services, past.policy)
    if (!record) throw new GatewayError('not_found', 'This version was never published.', { param: 'version' })
    return publicationAnswer({ services, audits }, record)
  },
)

const versions = defineRoute(
  {
    ...common,
    method: 'get',
    path: `${PATH}/versions`,
    summary: 'All published versions of a policy, newest first.',
    permission: 'config.read',
    query: () =>
      z.object({
        cursor: z.coerce
          .number()
          .int()
          .min(1)
          .max(2_147_483_647)
          .default(2_147_483_647)
          .describe('`next_cursor` of the page before.'),
        limit: z.coerce.number().int().min(1).max(200).default(50),
      }),
    responses: { 200: pageAnswer(pastVersion) },
  },
  async ({ services, input: { params, query } }) => {
    await requireGroup(services, params.name)
    const { cursor, limit } = query
    const found = await services.records.routeGroupPolicies.versions(params.name, { cursor, limit: limit + 1 })
    const shownVersions = found.map(({ published_by: by, ...row }) => ({ ...row, published_by: by === '' ? null : by }))
    return json(pageOf(shownVersions, limit, ({ version }) => String(version)))
  },
)

export const routeGroupPolicies: readonly Route[] = [get, putDraft, dropDraft, validate, publish, rollback, versions]

function shown(services: ApiServices, name: string, record: RouteGroupPolicyRecord | undefined): Answer {
  const { published, version, restored_from, published_at, draft, draft_version, drafted_at } = record ?? {}
  return json({
    name,
    effective: effectiveOf(services, published ?? {}),
    published: published ? { version, policy: published, restored_from, published_at } : null,
    draft: draft ? { draft_version, policy: draft, drafted_at } : null,
  })
}

/** The settings that hold under a policy. One that this build cannot read changes nothing. */
function effectiveOf({ config }: ApiServices, policy: unknown): RouteGroupPolicy {
  const result = routeGroupPolicy().safeParse(policy)
  const own = result.success ? { policy: settingsOf(result.data) } : {}
  return policyOf(groupSettings(config.router_settings, own))
}

/** Applies a publication in this process, and audits and shows it. */
async function publicationAnswer(
  { services, audits }: Pick<Scope, 'services' | 'audits'>,
  record: RouteGroupPolicyRecord,
): Promise<Answer> {
  const { group_name: name, version, published, restored_from } = record
  await reload(services)
  const before = await services.records.routeGroupPolicies.version(name, version - 1).catch(() => undefined)
  const changes = changesBetween(before?.policy ?? {}, published ?? {}, Object.keys(routeGroupPolicy().shape))
  audits({ changes, metadata: { version, ...(restored_from === null ? {} : { restored_from }) } })
  return shown(services, name, record)
}

/** Refuses a policy that names an absent prompt: every call of the group would fail. */
async function requirePrompt(services: ApiServices, { prompt_ref }: { readonly prompt_ref?: unknown }): Promise<void> {
  const ref = typeof prompt_ref === 'string' ? readPromptRef(prompt_ref) : undefined
  if (!ref) return
  const prompt = await services.records.prompts.find(ref.key)
  if (prompt?.state === 'active' && versionMeant(prompt, ref) !== undefined) return
  throw mistake('prompt_ref', 'there is no such prompt, version or label')
}

const draftChanged = () => changedMeanwhile('draft', 'draft_version')
