import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const KINDS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const

const group = lazily(() =>
  z.object({
    name: z.string().describe('As the file names it.'),
    group: z.string().nullable().describe('The model or route group that it is now; null if there is none.'),
  }),
)
const chain = lazily(() => z.object({ kind: z.enum(KINDS), from: group(), to: z.array(group()) }))

export const fallbackChains = defineRoute(
  {
    method: 'get',
    path: '/ui/api/fallbacks',
    summary: 'The fallback chains of the configuration file: which groups are asked, in order, when one fails.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () => z.object({ name: z.string().max(256).optional().describe('Only chains that this group is in.') }),
    responses: {
      200: {
        description: 'The chains, by kind and in the order of the file.',
        schema: () => z.object({ data: z.array(chain()), next_cursor: z.null() }),
      },
    },
  },
  ({ services: { config, registry }, input: { query } }) => {
    const shown = (name: string) => ({ name, group: registry.resolve(name)?.name ?? null })
    const data = KINDS.flatMap((kind) =>
      config.gateway_settings[kind]
        .flatMap((chains) => Object.entries(chains))
        .map(([from, to]) => ({ kind, from: shown(from), to: to.map(shown) })),
    )
    const { name } = query
    const has = ({ from, to }: (typeof data)[number]) =>
      [from, ...to].some((one) => one.name === name || one.group === name)
    return json({ data: name === undefined ? data : data.filter(has), next_cursor: null })
  },
)
