import { administeredBatches } from '../batches/administered-batches.ts'
import { batchRecords } from '../batches/batch-records.ts'
import { fileRecords } from '../batches/file-records.ts'
import { itemRecords } from '../batches/item-records.ts'
import { retentionRecords } from '../batches/retention-records.ts'
import { credentialRecords } from '../credential-records.ts'
import { deadLetterRecords } from '../dead-letter-records.ts'
import { drainedDeployments } from '../drained-deployments.ts'
import { keyNoticeRecords } from '../key-notice-records.ts'
import { accountRecords } from '../people/account-records.ts'
import { administeredAccounts } from '../people/administered-accounts.ts'
import { emailRecords } from '../people/email-records.ts'
import { identityRecords } from '../people/identity-records.ts'
import { invitationAcceptance } from '../people/invitation-acceptance.ts'
import { invitationRecords } from '../people/invitation-records.ts'
import type { Inviters } from '../people/inviters.ts'
import { passwordRecords } from '../people/password-records.ts'
import { secondFactorRecords } from '../people/second-factor-records.ts'
import { sessionRecords } from '../people/session-records.ts'
import { promptRecords } from '../prompts/prompt-records.ts'
import { recordFacts } from '../scopes/record-facts.ts'
import { usedBudgets } from '../scopes/used-budgets.ts'
import { refusalRecords } from '../spend/refusal-records.ts'
import type { Sql } from '../sql.ts'
import { mcpServerRecords } from '../tools/mcp-server-records.ts'
import { callableBindingRecords } from './callable-binding-records.ts'
import { callableScopeRecords } from './callable-scope-records.ts'
import { callerRecords } from './caller-records.ts'
import { keyRecords } from './key-records.ts'
import { membershipRecords } from './membership-records.ts'
import { modelRecords } from './model-records.ts'
import { organizationRecords } from './organization-records.ts'
import { routeGroupPolicyRecords } from './route-group-policy-records.ts'
import { routeGroupRecords } from './route-group-records.ts'
import { teamRecords } from './team-records.ts'
import { userRecords } from './user-records.ts'

/** The records of the database, by kind. */
export const sqlRecords = (sql: Sql, inviters: Inviters) => ({
  models: modelRecords(sql),
  credentials: credentialRecords(sql),
  drained: drainedDeployments(sql),
  mcpServers: mcpServerRecords(sql),
  routeGroups: routeGroupRecords(sql),
  routeGroupPolicies: routeGroupPolicyRecords(sql),
  prompts: promptRecords(sql),
  organizations: organizationRecords(sql),
  teams: teamRecords(sql),
  users: userRecords(sql),
  memberships: membershipRecords(sql),
  keys: keyRecords(sql),
  keyNotices: keyNoticeRecords(sql),
  callers: callerRecords(sql),
  facts: recordFacts(sql),
  usedBudgets: usedBudgets(sql),
  refusals: refusalRecords(sql),
  callableBindings: callableBindingRecords(sql),
  callableScopes: callableScopeRecords(sql),
  accounts: accountRecords(sql),
  administeredAccounts: administeredAccounts(sql),
  sessions: sessionRecords(sql),
  passwords: passwordRecords(sql),
  emails: emailRecords(sql),
  invitations: invitationRecords(sql, inviters),
  invitationAcceptance: invitationAcceptance(sql, inviters),
  secondFactors: secondFactorRecords(sql),
  identities: identityRecords(sql, inviters),
  batches: batchRecords(sql),
  administeredBatches: administeredBatches(sql),
  files: fileRecords(sql),
  batchItems: itemRecords(sql),
  retention: retentionRecords(sql),
  deadLetters: deadLetterRecords(sql),
})

export type SqlRecords = Readonly<ReturnType<typeof sqlRecords>>
