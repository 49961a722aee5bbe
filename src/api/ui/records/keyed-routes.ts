import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import {
  type KeyedRecords,
  type KeyedTableName,
  keyedRecords,
  type RowOf,
  type TextColumn,
} from '../../../stores/sql/records/keyed-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changedMeanwhile, reload, requireSameId } from '../registry-records.ts'
import { contentsOf } from './keyed-content.ts'
import { type AnyKind, type KeyedKind, schemasOf } from './keyed-kind.ts'
import { mergePatch } from './merge-patch.ts'
import type { Fields } from './record-fields.ts'
import { withArticle } from './with-article.ts'

type Row = Fields & { readonly version: number }

/** The routes of a kind of record: list, create, get, patch, put, remove. Every change holds from the next request in
 *  this process, and elsewhere as soon as the revision is seen. */
export function keyedRoutes<Name extends KeyedTableName, Id extends TextColumn<RowOf<Name>>>(
  given: KeyedKind<Name, Id>,
): readonly Route[] {
  const kind: AnyKind = given
  const { path, noun, id, tag, permissions, summaries } = kind
  const schemas = schemasOf(kind)
  const contents = contentsOf(kind, schemas.whole)
  const answer = { description: `The ${noun}.`, schema: schemas.answer } as const
  const collection = { path, tag, auth: 'admin' } as const
  const one = { ...collection, path: `${path}/{${id}}`, params: () => z.object({ [id]: z.string() }) } as const

  function recordsOf({ sql }: ApiServices): KeyedRecords<Row, Fields> {
    const { table, searched, columns } = { ...kind, columns: contents.columns() }
    // The kind was typed by the table it names; from here on its columns are names of text.
    return keyedRecords(sql, { table, id, searched, columns } as never) as KeyedRecords<Row, Fields>
  }
  async function find(services: ApiServices, key: string): Promise<Row | undefined> {
    return isStorable(key) ? recordsOf(services).find(key) : undefined
  }
  async function existing(scope: Scope): Promise<Row> {
    const record = await find(scope.services, keyOf(scope))
    if (record) return record
    throw absent()
  }
  const keyOf = ({ input }: Scope) => String((input as { readonly params: Fields }).params[id])
  const absent = () => new GatewayError('not_found', `There is no such ${noun}.`, { param: id })
  async function applied(services: ApiServices, record: Row, status = 200): Promise<Answer> {
    await reload(services)
    return json(shown(record), status)
  }
  const shown = (record: Row) =>
    Object.fromEntries(Object.keys(schemas.answer().shape).map((name) => [name, record[name]]))

  /** Replaces the record with what was sent, unless its version has changed from `expected`. */
  async function replace(scope: Scope, before: Row, sent: Fields, expected: number | undefined): Promise<Answer> {
    const { services, audits } = scope
    const key = String(before[id])
    requireSameId(id, sent[id], key, noun)
    const content = await contents.of(services, key, sent, before)
    const record = await recordsOf(services).replace(key, expected, content)
    if (record) {
      audits({ changes: changesBetween(before, record, Object.keys(kind.fields())) })
      return applied(services, record)
    }
    throw (await find(services, key)) ? changedMeanwhile(noun) : absent()
  }

  return [
    defineRoute(
      {
        ...collection,
        method: 'get',
        summary: summaries?.list ?? `The ${noun}s, by ${id}.`,
        permission: permissions.read,
        query: () =>
          z.object({
            search: storable()
              .max(256)
              .default('')
              .describe(`Part of the ${kind.searched.join(' or the ')}.`),
            ...Object.fromEntries((kind.filters ?? []).map((name) => [name, storable().max(256).optional()])),
            ...paging(),
          }),
        responses: { 200: pageAnswer(schemas.answer) },
      },
      async ({ services, input: { query } }) => {
        const { search, cursor, limit, ...filters } = query as z.output<z.ZodObject<ReturnType<typeof paging>>> & {
          readonly search: string
        }
        const where = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
        const found = await recordsOf(services).page({ search, cursor, limit: limit + 1, where })
        const { data, next_cursor } = pageOf(found, limit, (record) => String(record[id]))
        return json({ data: data.map(shown), next_cursor })
      },
    ),
    defineRoute(
      {
        ...collection,
        method: 'post',
        summary: summaries?.create ?? `Makes ${withArticle(noun)}.`,
        permission: permissions.create,
        json: schemas.create,
        responses: { 201: answer },
      },
      async ({ services, input, audits }) => {
        const sent = input.json as Fields
        const key = String(sent[id] ?? newId(kind.prefix ?? noun, '-'))
        audits({ resource_id: key })
        const record = await recordsOf(services).create(key, await contents.of(services, key, sent))
        if (record) return applied(services, record, 201)
        throw new GatewayError('conflict', `There is ${withArticle(noun)} with this name already.`, { param: id })
      },
    ),
    defineRoute(
      { ...one, method: 'get', summary: `One ${noun}.`, permission: permissions.read, responses: { 200: answer } },
      async (scope) => json(shown(await existing(scope))),
    ),
    defineRoute(
      {
        ...one,
        method: 'patch',
        summary: `Changes ${withArticle(noun)}; omitted fields stay, null removes, a list replaces the list.`,
        permission: permissions.update,
        json: schemas.patch,
        responses: { 200: answer },
      },
      async (scope) => {
        const { version, ...changes } = scope.input.json as Fields & { readonly version?: number }
        const record = await existing(scope)
        const before = Object.fromEntries(Object.keys(kind.fields()).map((name) => [name, record[name]]))
        return replace(scope, record, mergePatch(before, changes) as Fields, version ?? record.version)
      },
    ),
    defineRoute(
      {
        ...one,
        method: 'put',
        summary: `Replaces ${withArticle(noun)}.`,
        permission: permissions.update,
        json: schemas.put,
        responses: { 200: answer },
      },
      async (scope) => {
        const { version, ...sent } = scope.input.json as Fields & { readonly version?: number }
        const record = await existing(scope)
        // A mask means the secret of the version that was read here, not of a later one.
        return replace(scope, record, sent, version ?? (kind.secrets ? record.version : undefined))
      },
    ),
    defineRoute(
      {
        ...one,
        method: 'delete',
        summary: summaries?.remove ?? `Removes ${withArticle(noun)}.`,
        permission: permissions.remove,
        responses: { 200: answer },
      },
      async (scope) => {
        const key = keyOf(scope)
        const record = isStorable(key) ? await recordsOf(scope.services).remove(key) : undefined
        if (!record) throw absent()
        return applied(scope.services, record)
      },
    ),
  ]
}
