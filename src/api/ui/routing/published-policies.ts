import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { routeGroupPolicy } from '../../../routing/route-group-policy.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'

const answer = lazily(() =>
  z.object({
    name: z.string().describe('The route group, or the model.'),
    routing_strategy: z.string().nullable().describe('Of the published policy; null: as router_settings say.'),
    version: z.int().nullable().describe('The version in force; null before the first publication.'),
    published_at: z.iso.datetime().nullable(),
    has_draft: z.boolean().describe('There is a draft, which has no effect before it is published.'),
  }),
)

const list = defineRoute(
  {
    method: 'get',
    path: '/ui/api/route-group-policies',
    summary: 'The route groups and models that have a policy or the draft of one, by name.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () => z.object(paging()),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, input: { query } }) => {
    const { cursor, limit } = query
    const rows = await services.records.routeGroupPolicies.page({ cursor, limit: limit + 1 })
    const { data, next_cursor } = pageOf(rows, limit, ({ group_name }) => group_name)
    const shown = data.map(({ group_name, published, version, published_at, draft }) => ({
      name: group_name,
      routing_strategy: routeGroupPolicy().safeParse(published).data?.routing_strategy ?? null,
      version: published === null ? null : version,
      published_at: published === null ? null : published_at,
      has_draft: draft !== null,
    }))
    return json({ data: shown, next_cursor })
  },
)

export const publishedPolicies: readonly Route[] = [list]
