import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { clearedKey } from '../../../stores/kv/keys.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

/** The mark must live longer than any cached answer, even one of an earlier, longer `cache_ttl`. */
const LEAST_MARK_SECONDS = 30 * 86_400

const query = lazily(() =>
  z.strictObject({
    scope: z
      .string()
      .regex(/^((organization|api_key|user):.+|master_key)$/s, 'expected organization:<id>, api_key:<id> or user:<id>')
      .optional()
      .describe(
        "Whose answers: `organization:<id>`, or `api_key:<id>` for a key outside of organizations. Left out: everybody's.",
      ),
    model: z.string().min(1).optional().describe('The model or route group that was called. Left out: every one.'),
  }),
)

export const clearCache = defineRoute(
  {
    method: 'delete',
    path: '/ui/api/cache',
    summary: 'Clears the answer cache: earlier answers are not used again.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    action: 'cache.clear',
    query,
    responses: {
      200: {
        description: 'The answers are cleared, for every process at once.',
        schema: () => z.object({ scope: z.string().nullable(), model: z.string().nullable() }),
      },
    },
  },
  async ({ services, input, audits }) => {
    const { scope = '', model: named = '' } = input.query
    const model = named && (services.registry.resolve(named)?.name ?? named)
    audits({ resource_id: null, metadata: { scope: scope || null, model: model || null } })
    const { cache_ttl } = services.config.general_settings
    await services.store.stamp(clearedKey(scope, model), Math.max(cache_ttl, LEAST_MARK_SECONDS))
    return json({ scope: scope || null, model: model || null })
  },
)
