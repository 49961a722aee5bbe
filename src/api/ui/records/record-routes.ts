import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { section } from '../../../config/fields.ts'
import { ownReach, type Reach } from '../../../identity/grants.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Changed } from '../../../stores/sql/records/scope-records.ts'
import type { RecordOrder } from '../../../stores/sql/scopes/record-order.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changedMeanwhile, expectedScopeVersion } from '../registry-records.ts'
import { answersOf, budgetSubjects, newAnswer, numbered, recountedBudgets } from './record-answer.ts'
import { changeAnswer, changeAnswers, changeHolds } from './record-changed.ts'
import { cursorOf, positionAt } from './record-cursor.ts'
import type { Fields } from './record-fields.ts'
import { absent, columnsOf, type RecordKind, referring, type ScopeRow, unneeded } from './record-kind.ts'
import { auditsOf, reach, reachOfOwner, refused, visible } from './record-reach.ts'
import { withArticle } from './with-article.ts'

/** The part of a contract that the routes of one record share. */
export function oneOf<Row extends ScopeRow>({ path, id }: RecordKind<Row>) {
  return {
    path: `${path}/{${id}}`,
    tag: 'Identity',
    auth: 'admin',
    scoped: true,
    params: () => z.object({ [id]: z.string() }),
  } as const
}

/** The id that the path names. */
export function idOf<Row extends ScopeRow>(kind: RecordKind<Row>, scope: Scope): string {
  const { params } = scope.input as { params: Record<string, string> }
  const id = params[kind.id]
  if (id === undefined || !isStorable(id)) throw absent(kind)
  return id
}

/** A page of records, by id or in the requested order. */
export function listRoute<Row extends ScopeRow>(kind: RecordKind<Row>): Route {
  const orders = ['id', ...(kind.orders ?? [])] as const
  return defineRoute(
    {
      method: 'get',
      path: kind.path,
      summary: `The ${kind.noun}s, by id or in the order asked for.`,
      tag: 'Identity',
      auth: 'admin',
      permission: kind.permissions.read,
      scoped: kind.ownersFields ? 'own' : true,
      query: () =>
        z.object({
          search: storable().max(256).default('').describe('Part of the id or the name.'),
          ...(kind.ownersFields && { owner: z.enum(['me']).optional().describe('me: those that the caller owns.') }),
          ...Object.fromEntries(kind.filters.map((name) => [name, storable().max(256).optional()])),
          ...kind.asked?.(),
          order: z
            .enum(orders)
            .default('id')
            .describe('What the list goes by. Ids and names ascend; the others descend.'),
          ...paging(),
        }),
      responses: { 200: pageAnswer(kind.answer) },
    },
    async (scope) => {
      const { search, cursor, limit, owner, order, ...given } = scope.input.query as Asked
      const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      const columns = Object.entries(filters).filter(([name]) => kind.filters.some((one) => one === name))
      const records = kind.records(scope.services)
      const rows = await records.page({
        reach: owner === 'me' ? ownReach(scope.caller()) : visible(scope, kind),
        search,
        order,
        after: positionAt(order, cursor),
        limit: limit + 1,
        where: columnsOf(kind, Object.fromEntries(columns)),
        filters,
      })
      const { data, next_cursor } = pageOf(rows, limit, (row) => cursorOf(order, row.order_value, String(row[kind.id])))
      return json({ data: await answersOf(scope.services, kind, data), next_cursor })
    },
  )
}

type Asked = z.output<z.ZodObject<ReturnType<typeof paging>>> & {
  readonly search: string
  readonly owner?: 'me'
  readonly order: RecordOrder
}

/** Makes a record whose id may be chosen. `owner` is the column of the organization that it is made in. */
export function createRoute<Row extends ScopeRow>(
  kind: RecordKind<Row>,
  options: { readonly prefix: string; readonly owner?: keyof Row & string },
): Route {
  const body = lazily(() => section({ ...kind.settled(), ...kind.fields() }))
  return defineRoute(
    {
      method: 'post',
      path: kind.path,
      summary: `Creates ${withArticle(kind.noun)}.`,
      tag: 'Identity',
      auth: 'admin',
      permission: kind.permissions.create,
      scoped: true,
      json: () => body().optional(),
      responses: changeAnswers(201, { description: `The ${kind.noun}.`, schema: kind.answer }),
    },
    async (scope) => {
      const given: Fields = accepted(body(), scope.input.json ?? {})
      const within = reach(scope, kind.permissions.create)
      requireWithin(within, options.owner, given)
      const values = { ...given, [kind.id]: chosenId(kind, within, given) ?? newId(options.prefix, '-') }
      const row = await referring(kind.records(scope.services).create(columnsOf(kind, values)))
      if (row) return changed(scope, kind, { record: row, before: {} }, { status: 201, written: values })
      throw takenId(kind)
    },
  )
}

/** The id that the maker of a record has chosen for it. */
export function chosenId<Row extends ScopeRow>({ id }: RecordKind<Row>, within: Reach, given: Fields): unknown {
  const chosen = given[id] ?? undefined
  // A conflict of ids would reveal a record that the caller may not see.
  if (within === 'everything' || chosen === undefined) return chosen
  throw mistake(id, 'is chosen by administrators of the platform; leave it out, and it is made up')
}

export function takenId<Row extends ScopeRow>({ id, noun }: RecordKind<Row>): GatewayError {
  return new GatewayError('conflict', `There is ${withArticle(noun)} with this id already.`, { param: id })
}

export function getRoute<Row extends ScopeRow>(kind: RecordKind<Row>): Route {
  return defineRoute(
    {
      ...oneOf(kind),
      method: 'get',
      summary: `One ${kind.noun}.`,
      permission: kind.permissions.read,
      responses: { 200: { description: `The ${kind.noun}.`, schema: kind.answer } },
    },
    async (scope) => {
      const row = await kind.records(scope.services).find(idOf(kind, scope), visible(scope, kind))
      if (!row) throw absent(kind)
      const [answer] = await answersOf(scope.services, kind, [row])
      return json(answer)
    },
  )
}

/** PATCH keeps what is left out, PUT clears it. */
export function changeRoute<Row extends ScopeRow>(kind: RecordKind<Row>, method: 'patch' | 'put'): Route {
  const body = lazily(() => section({ ...kind.settled(), ...kind.fields(), version: expectedScopeVersion() }))
  const summary =
    method === 'patch'
      ? `Changes ${withArticle(kind.noun)}: omitted fields stay, null removes.`
      : `Replaces all changeable fields of ${withArticle(kind.noun)}: omitted ones are cleared.`
  return defineRoute(
    {
      ...oneOf(kind),
      method,
      summary,
      permission: kind.permissions.update,
      json: body,
      responses: changeAnswers(200, { description: `The ${kind.noun}.`, schema: kind.answer }),
    },
    async (scope) => {
      const { version, ...sent }: Fields = accepted(body(), scope.input.json)
      const settled = pick(sent, Object.keys(kind.settled()))
      const named = Object.keys(kind.fields()).filter((name) => method === 'put' || sent[name] !== undefined)
      const values = columnsOf(kind, Object.fromEntries(named.map((name) => [name, sent[name] ?? null])))
      const [records, id] = [kind.records(scope.services), idOf(kind, scope)]
      const { update } = kind.permissions
      const byOwner = named.every((name) => kind.ownersFields?.some((field) => field === name))
      const mine = byOwner ? reachOfOwner(scope, kind, update) : reach(scope, update)
      if (kind.mayRefer && mine !== 'everything') {
        // References are checked only for callers who may change the record: the check reveals what exists.
        if (!(await records.find(id, mine))) throw await refused(scope, kind, id, update)
        await kind.mayRefer(scope.services, mine, values)
      }
      const expected = columnsOf(kind, version === undefined ? settled : { ...settled, version })
      const change = await referring(records.change(id, mine, values, expected))
      if (change) {
        const { given, taken } = recountedBudgets(kind.level, id, change.record, change.before)
        // A new budget is read with what earlier calls have cost.
        const { store, delivery } = scope.services
        if (given.length > 0 && store.mode() === 'shared') await delivery.gathered?.()
        return changed(scope, kind, change, { written: values, staleBudgets: [...given, ...taken] })
      }
      const present = await records.find(id, mine)
      if (!present) throw await refused(scope, kind, id, update)
      auditsOf(scope, present)
      const moved = Object.keys(settled).find((name) => settled[name] !== present[name])
      if (moved === undefined && version !== undefined) throw changedMeanwhile(kind.noun)
      throw mistake(moved ?? kind.id, 'is settled when the record is made, and cannot be changed')
    },
  )
}

export function removeRoute<Row extends ScopeRow>(kind: RecordKind<Row>, summary: string): Route {
  return defineRoute(
    {
      ...oneOf(kind),
      method: 'delete',
      summary,
      permission: kind.permissions.remove,
      responses: changeAnswers(200, { description: 'As it was.', schema: kind.answer }),
    },
    async (scope) => {
      const [records, id] = [kind.records(scope.services), idOf(kind, scope)]
      const { remove } = kind.permissions
      const within = reachOfOwner(scope, kind, remove)
      const known = await records.find(id, within)
      if (known) auditsOf(scope, known)
      // Read before the removal, which also removes the spend that the answer shows.
      const [shownOnce = {}] = known ? await answersOf(scope.services, kind, [known]) : []
      const row = await unneeded(kind.noun, records.remove(id, within))
      if (!row) throw await refused(scope, kind, id, remove)
      const removedBudgets = budgetSubjects(kind.level, id, row)
      return changed(scope, kind, { record: row, before: {} }, { removedBudgets, shownOnce })
    },
  )
}

interface Aftermath {
  readonly status?: number
  /** The fields that were written. */
  readonly written?: Fields
  readonly newHashes?: readonly string[]
  readonly staleBudgets?: readonly string[]
  readonly removedBudgets?: readonly string[]
  /** Goes into this answer and nowhere else. */
  readonly shownOnce?: Fields
}

/** Completes a change: publishes it, so that it holds from the next request; audits it; answers the whole record. */
export async function changed<Row extends ScopeRow>(
  scope: Scope,
  kind: RecordKind<Row>,
  { record, before }: Changed<Row>,
  { status = 200, written = {}, shownOnce = {}, ...aftermath }: Aftermath = {},
): Promise<Answer> {
  const id = String(record[kind.id])
  const hashes = [record.key_hash, (before as Fields).key_hash].filter((hash) => typeof hash === 'string')
  const { version } = record
  const everywhere = await changeHolds(scope.services, { record: `${kind.level}:${id}`, version, hashes, ...aftermath })
  auditsOf(scope, record)
  scope.audits({
    resource_id: id,
    changes: changesBetween(numbered(before), numbered(record), Object.keys(written)),
  })
  const [answer] =
    status === 201 ? [await newAnswer(scope.services, kind, record)] : await answersOf(scope.services, kind, [record])
  return changeAnswer(everywhere, { ...answer, ...shownOnce }, status)
}

function pick(given: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]))
}

/** Refuses a new record outside of the organizations in which the caller may create one. */
function requireWithin(reach: Reach, owner: string | undefined, values: Fields): void {
  if (reach === 'everything') return
  const organization = owner === undefined ? undefined : values[owner]
  if (typeof organization === 'string' && reach.organizations.includes(organization)) return
  throw new GatewayError('permission', 'You may create this only in organizations where you have this permission.', {
    ...(owner === undefined ? {} : { param: owner }),
    code: 'missing_permission',
  })
}
