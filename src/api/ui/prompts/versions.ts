import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { RenderedMessage } from '../../../routing/prompts/template.ts'
import type { PromptVersionRecord } from '../../../stores/sql/prompts/prompt-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf } from '../page.ts'
import { changedMeanwhile } from '../registry-records.ts'
import { lineDiff } from './line-diff.ts'
import { newVersion } from './new-version.ts'
import {
  applied,
  LATEST_VERSION,
  noVersion,
  one,
  promptAnswer,
  promptOf,
  shownSummary,
  shownVersion,
  summaryAnswer,
  unchanged,
  versionAnswer,
  versionFields,
  versionParam,
} from './prompt-answers.ts'

const creation = lazily(() => z.strictObject(versionFields()))

const create = defineRoute(
  {
    ...one,
    path: `${one.path}/versions`,
    method: 'post',
    action: 'prompt.add_version',
    summary: 'Adds the next version of a prompt, and moves labels to it.',
    permission: 'config.update',
    json: creation,
    responses: { 201: { description: 'The prompt, whose newest version it is.', schema: promptAnswer } },
  },
  async (scope) => {
    const { services, audits, input } = scope
    const { key } = input.params
    const before = await promptOf(services, key)
    const next = newVersion(scope, accepted(creation(), input.json))
    const record = await services.records.prompts.addVersion(key, next)
    if (!record) throw (await unchanged(services, key)) ?? changedMeanwhile('prompt', 'key')
    audits({ changes: changesBetween({ ...before }, { ...record }, ['latest', 'labels']) })
    return applied(services, record, 201)
  },
)

const list = defineRoute(
  {
    ...one,
    path: `${one.path}/versions`,
    method: 'get',
    summary: 'The versions of a prompt, newest first.',
    permission: 'config.read',
    query: () =>
      z.object({
        cursor: versionParam().default(LATEST_VERSION).describe('`next_cursor` of the page before.'),
        limit: z.coerce.number().int().min(1).max(200).default(50),
      }),
    responses: { 200: pageAnswer(summaryAnswer) },
  },
  async ({ services, input: { params, query } }) => {
    await promptOf(services, params.key)
    const { cursor: before, limit } = query
    const found = await services.records.prompts.versions(params.key, { before, limit: limit + 1 })
    return json(pageOf(found.map(shownSummary), limit, ({ version }) => String(version)))
  },
)

const get = defineRoute(
  {
    ...one,
    path: `${one.path}/versions/{version}`,
    params: () => z.object({ key: z.string(), version: versionParam() }),
    method: 'get',
    summary: 'The messages of a version, and its variables.',
    permission: 'config.read',
    responses: { 200: { description: 'The version.', schema: versionAnswer } },
  },
  async ({ services, input: { params } }) => json(shownVersion(await versionOf(services, params.key, params.version))),
)

const diff = defineRoute(
  {
    ...one,
    path: `${one.path}/diff`,
    method: 'get',
    summary: 'Compares two versions, message by message and line by line.',
    permission: 'config.read',
    query: () => z.object({ from: versionParam(), to: versionParam() }),
    responses: {
      200: {
        description: 'The messages of both, by their place, and the variables.',
        schema: () =>
          z.object({
            from: z.int(),
            to: z.int(),
            messages: z.array(
              z.object({
                role: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
                lines: lines(),
              }),
            ),
            variables: lines(),
          }),
      },
    },
  },
  async ({ services, input: { params, query } }) => {
    const [from, to] = await Promise.all(
      [query.from, query.to].map((version) => versionOf(services, params.key, version)),
    )
    const [old, fresh] = [messagesOf(from), messagesOf(to)]
    const places = Array.from({ length: Math.max(old.length, fresh.length) }, (_, place) => place)
    return json({
      ...query,
      messages: places.map((place) => ({
        role: { from: old[place]?.role ?? null, to: fresh[place]?.role ?? null },
        lines: lineDiff(linesOf(old[place]), linesOf(fresh[place])),
      })),
      variables: lineDiff(declared(from), declared(to)),
    })
  },
)

export const promptVersionRoutes: readonly Route[] = [create, list, get, diff]

const lines = () =>
  z.array(
    z.object({ op: z.enum([' ', '-', '+']).describe('In both, in `from` only, in `to` only.'), text: z.string() }),
  )

export async function versionOf(services: ApiServices, key: string, version: number): Promise<PromptVersionRecord> {
  await promptOf(services, key)
  const record = await services.records.prompts.version(key, version)
  if (!record) throw noVersion()
  return record
}

function messagesOf(record: PromptVersionRecord | undefined): readonly RenderedMessage[] {
  return (record?.messages ?? []) as readonly RenderedMessage[]
}

function linesOf(message: RenderedMessage | undefined): string[] {
  if (!message) return []
  const { content } = message
  return (typeof content === 'string' ? [content] : content.map(({ text }) => text)).flatMap((text) => text.split('\n'))
}

function declared(record: PromptVersionRecord | undefined): string[] {
  return JSON.stringify(record?.variables ?? {}, undefined, 2).split('\n')
}
