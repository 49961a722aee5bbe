import * as z from 'zod'
import { callableNames } from '../../../identity/callable-names.ts'
import { bindableTargets } from '../../../identity/personal-targets.ts'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { callableKind } from './callable-scope.ts'

const answer = lazily(() =>
  z.object({
    callable_kind: callableKind(),
    callable_key: z.string(),
    access_groups: z.array(z.string()).optional().describe('The labels of a target.'),
    targets: z.array(z.string()).optional().describe('Only targets with this label.'),
  }),
)

const list = defineRoute(
  {
    method: 'get',
    path: '/ui/api/callable-targets',
    summary:
      'What the caller can bind: models and route groups, then labels, then MCP servers, each by name; nothing that the organizations of the caller forbid.',
    tag: 'Identity',
    auth: 'admin',
    permission: ['config.read', 'org.update', 'team.update', 'user.update', 'key.update'],
    scoped: true,
    responses: {
      200: { description: 'All that there are for the caller.', schema: () => z.object({ data: z.array(answer()) }) },
    },
  },
  async ({ services: { registry, records }, caller }) => {
    const bindable = await bindableTargets(caller(), records.callableScopes)
    const targets: z.output<ReturnType<typeof answer>>[] = []
    const labels = new Map<string, string[]>()
    for (const name of callableNames(registry, bindable.target)) {
      const group = registry.resolve(name)
      // Aliases cannot be bound.
      if (group?.name !== name) continue
      targets.push({ callable_kind: 'target', callable_key: name, access_groups: [...group.accessGroups] })
      for (const label of group.accessGroups) labels.set(label, [...(labels.get(label) ?? []), name])
    }
    const groups = [...labels.keys()].sort().map((label) => ({
      callable_kind: 'access_group' as const,
      callable_key: label,
      targets: labels.get(label) ?? [],
    }))
    const servers = [...registry.toolServers.keys()]
      .filter(bindable.server)
      .sort()
      .map((callable_key) => ({ callable_kind: 'mcp_server' as const, callable_key }))
    return json({ data: [...targets, ...groups, ...servers] })
  },
)

export const callableTargetList: readonly Route[] = [list]
