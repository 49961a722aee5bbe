import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { isStorable } from '../../storable.ts'
import { lettersWithin } from './letters-within.ts'

/** How many ids the audit keeps of one removal. */
const MOST_NAMED = 100

export const removeDeadLetter = defineRoute(
  {
    method: 'delete',
    path: '/ui/api/dead-letters/{letter_id}',
    summary: 'Gives up a refused record: it is never written.',
    tag: 'Audit',
    auth: 'admin',
    permission: 'config.update',
    action: 'dead_letter.remove',
    params: () => z.object({ letter_id: z.string().max(64) }),
    responses: { 200: { description: 'It is gone.', schema: () => z.object({ letter_id: z.string() }) } },
  },
  async ({ services, input, audits }) => {
    const { letter_id } = input.params
    const removed = isStorable(letter_id) ? await services.records.deadLetters.remove(letter_id) : undefined
    if (!removed) throw new GatewayError('not_found', `There is no dead letter '${letter_id}'.`)
    const { topic, died_at, error } = removed
    audits({ resource_id: letter_id, metadata: { topic, died_at, error } })
    return json({ letter_id })
  },
)

export const removeDeadLetters = defineRoute(
  {
    method: 'delete',
    path: '/ui/api/dead-letters',
    summary: 'Gives up refused records: those of a topic, or of before a moment.',
    tag: 'Audit',
    auth: 'admin',
    permission: 'config.update',
    action: 'dead_letter.remove',
    query: () =>
      z
        .strictObject(lettersWithin())
        .refine(({ topic, died_before }) => topic !== undefined || died_before !== undefined, {
          path: ['topic'],
          message: 'say which: topic, died_before, or both',
        }),
    responses: {
      200: {
        description: 'They are gone.',
        schema: () => z.object({ removed: z.int().describe('How many they were.') }),
      },
    },
  },
  async ({ services, input, audits }) => {
    const { topic, died_before: diedBefore } = input.query
    const ids = await services.records.deadLetters.removeAll({ topic, diedBefore })
    const named = ids.slice(0, MOST_NAMED)
    audits({
      resource_id: null,
      metadata: { topic: topic ?? null, died_before: diedBefore ?? null, removed: ids.length, letter_ids: named },
    })
    return json({ removed: ids.length })
  },
)
