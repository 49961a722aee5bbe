import type { Route } from '../route.ts'
import { callableTargetBindings } from './access/callable-target-bindings.ts'
import { callableTargetPolicies } from './access/callable-target-policies.ts'
import { callableTargetList } from './access/callable-targets.ts'
import { modelAccess } from './access/model-access.ts'
import { auditEvents } from './audit/audit-events.ts'
import { batches } from './batches/index.ts'
import { clearCache } from './cache/clear-cache.ts'
import { callbackRoutes } from './callbacks/index.ts'
import { deadLetters } from './dead-letters/index.ts'
import { emailRoutes } from './email/index.ts'
import { budgetList } from './limits/budget-list.ts'
import { keyStanding } from './limits/key-standing.ts'
import { callableModels } from './models/callable-models.ts'
import { accounts } from './people/accounts.ts'
import { invitations } from './people/invitations.ts'
import { resetMfa } from './people/reset-mfa.ts'
import { resetPassword } from './people/reset-password.ts'
import { roleList } from './people/roles.ts'
import { playground } from './playground/playground.ts'
import { promptRoutes } from './prompts/index.ts'
import { providerRoutes } from './providers/index.ts'
import { records } from './records/index.ts'
import { credentials } from './routing/credentials.ts'
import { fallbackChains } from './routing/fallback-chains.ts'
import { modelActions } from './routing/model-actions.ts'
import { testModel } from './routing/model-test.ts'
import { models } from './routing/models.ts'
import { publishedPolicies } from './routing/published-policies.ts'
import { routeGroupPolicies } from './routing/route-group-policies.ts'
import { simulateRouteGroup } from './routing/route-group-simulation.ts'
import { settingsRoutes } from './settings/index.ts'
import { logs } from './spend/logs.ts'
import { refusals } from './spend/refusals.ts'
import { spend } from './spend/spend.ts'
import { mcpServerCall } from './tools/mcp-server-call.ts'
import { mcpServerChecks } from './tools/mcp-server-check.ts'
import { mcpServers } from './tools/mcp-servers.ts'

/** The API of the administration. */
export const ui: readonly Route[] = [
  ...records.flat(),
  keyStanding,
  budgetList,
  ...accounts,
  resetMfa,
  resetPassword,
  roleList,
  ...invitations,
  ...emailRoutes,
  ...modelAccess,
  ...callableTargetBindings,
  ...callableTargetPolicies,
  ...callableTargetList,
  callableModels,
  ...models,
  ...modelActions,
  ...credentials,
  testModel,
  ...providerRoutes,
  ...routeGroupPolicies,
  ...publishedPolicies,
  fallbackChains,
  ...promptRoutes,
  simulateRouteGroup,
  ...mcpServers,
  ...mcpServerChecks,
  mcpServerCall,
  ...auditEvents,
  ...settingsRoutes,
  ...deadLetters,
  ...callbackRoutes,
  clearCache,
  ...spend,
  ...logs,
  ...refusals,
  ...batches,
  ...playground,
]
