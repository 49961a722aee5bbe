import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { PromptRecord } from '../../../stores/sql/prompts/prompt-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changedMeanwhile } from '../registry-records.ts'
import { isGroup } from '../routing/known-group.ts'
import { newVersion } from './new-version.ts'
import {
  applied,
  common,
  description,
  LATEST_VERSION,
  MOST_SHOWN,
  one,
  PATH,
  promptAnswer,
  promptKey,
  promptOf,
  shownSummary,
  summaryAnswer,
  versionFields,
} from './prompt-answers.ts'

const answers = { 200: { description: 'The prompt.', schema: promptAnswer } } as const

const list = defineRoute(
  {
    ...common,
    method: 'get',
    path: PATH,
    summary: 'The prompts, by key.',
    permission: 'config.read',
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the key or of the description.'),
        state: z.enum(['active', 'archived', 'any']).default('active'),
        ...paging(),
      }),
    responses: { 200: pageAnswer(promptAnswer) },
  },
  async ({ services, input: { query } }) => {
    const { search, state, cursor, limit } = query
    const ofState = state === 'any' ? undefined : state
    const found = await services.records.prompts.page({ search, cursor, limit: limit + 1, state: ofState })
    return json(pageOf(found, limit, ({ key }) => key))
  },
)

const creation = lazily(() =>
  z.strictObject({ key: promptKey(), description: description().default(''), ...versionFields() }),
)

const create = defineRoute(
  {
    ...common,
    method: 'post',
    path: PATH,
    summary: 'Makes a prompt with its first version. Every process knows it within five seconds.',
    permission: 'config.update',
    json: creation,
    responses: { 201: { description: 'The prompt.', schema: promptAnswer } },
  },
  async (scope) => {
    const { services, audits } = scope
    const { key, description, ...first } = accepted(creation(), scope.input.json)
    audits({ resource_id: key })
    const record = await services.records.prompts.create(key, description, newVersion(scope, first))
    if (!record) {
      const message = 'There is a prompt with this key already. Add a version to it, or choose another key.'
      throw new GatewayError('conflict', message, { param: 'key' })
    }
    audits({ changes: changesBetween({}, { ...record }, ['description', 'labels', 'latest']) })
    return applied(services, record, 201)
  },
)

const get = defineRoute(
  {
    ...one,
    method: 'get',
    summary: `A prompt with its newest versions, at most ${MOST_SHOWN}.`,
    permission: 'config.read',
    responses: {
      200: {
        description: 'The prompt.',
        schema: () => promptAnswer().extend({ versions: z.array(summaryAnswer()).describe('Newest first.') }),
      },
    },
  },
  async ({ services, input: { params } }) => {
    const record = await promptOf(services, params.key)
    const page = { before: LATEST_VERSION, limit: MOST_SHOWN }
    const versions = await services.records.prompts.versions(params.key, page)
    return json({ ...record, versions: versions.map(shownSummary) })
  },
)

const change = lazily(() =>
  z.strictObject({
    description: description(),
    revision: z.int32().optional().describe('The revision to change; any other answers 409.'),
  }),
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes the description of a prompt. A new version changes its messages.',
    permission: 'config.update',
    json: change,
    responses: answers,
  },
  async ({ services, audits, input }) => {
    const { key } = input.params
    const { description, revision } = input.json
    const before = await promptOf(services, key)
    const record = await services.records.prompts.describe(key, description, revision)
    if (!record) {
      await promptOf(services, key)
      throw changedMeanwhile('prompt', 'revision')
    }
    audits({ changes: changesBetween({ ...before }, { ...record }, ['description']) })
    return json(record)
  },
)

const archive = defineRoute(
  {
    ...one,
    path: `${one.path}/archive`,
    method: 'post',
    action: 'prompt.archive',
    summary:
      'Archives a prompt: calls that name it are refused. Its versions and labels stay. No published policy may name it.',
    permission: 'config.update',
    responses: answers,
  },
  (scope) =>
    setState(scope, async (key) => {
      const { prompts, routeGroupPolicies } = scope.services.records
      const groups = await routeGroupPolicies.naming(key)
      const gone = await absentOf(scope.services, groups)
      const archived = await prompts.archive(key, gone)
      if (!archived && (await prompts.find(key))?.state === 'active')
        throw inUse(await routeGroupPolicies.naming(key), gone)
      return archived
    }),
)

const unarchive = defineRoute(
  {
    ...one,
    path: `${one.path}/unarchive`,
    method: 'post',
    action: 'prompt.unarchive',
    summary: 'Takes a prompt out of the archive.',
    permission: 'config.update',
    responses: answers,
  },
  (scope) => setState(scope, scope.services.records.prompts.unarchive),
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes an archived prompt with all its versions.',
    permission: 'config.update',
    responses: answers,
  },
  async ({ services, audits, input: { params } }) => {
    await promptOf(services, params.key)
    const record = await services.records.prompts.remove(params.key)
    if (record) {
      audits({ changes: changesBetween({ ...record }, {}, ['description', 'labels', 'latest']) })
      return applied(services, record)
    }
    await promptOf(services, params.key)
    const message = 'The prompt is in use. Archive it first.'
    throw new GatewayError('conflict', message, { param: 'key', code: 'prompt_active' })
  },
)

export const prompts: readonly Route[] = [list, create, get, patch, archive, unarchive, remove]

/** Archives or unarchives a prompt; does nothing where it is in that state already. */
async function setState(
  { services, audits, input }: Scope<{ readonly params: { readonly key: string } }>,
  move: (key: string) => Promise<PromptRecord | undefined>,
): Promise<Answer> {
  const { key } = input.params
  const before = await promptOf(services, key)
  const record = await move(key)
  if (!record) return json(await promptOf(services, key))
  audits({ changes: changesBetween({ ...before }, { ...record }, ['state']) })
  return applied(services, record)
}

/** The groups that no longer exist. Their policies have no effect, and could not be changed. */
async function absentOf(services: ApiServices, groups: readonly string[]): Promise<string[]> {
  const known = await Promise.all(groups.map((name) => isGroup(services, name)))
  return groups.filter((_, at) => !known[at])
}

function inUse(groups: readonly string[], gone: readonly string[]): GatewayError {
  const names = groups.filter((name) => !gone.includes(name)).map((name) => `'${name}'`)
  const message =
    names.length === 0
      ? 'Policies that name the prompt are being changed. Try again.'
      : `The published policies of these route groups name the prompt: ${names.join(', ')}. Publish others first.`
  return new GatewayError('conflict', message, { param: 'key', code: 'prompt_in_use' })
}
