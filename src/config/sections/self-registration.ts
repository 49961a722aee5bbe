import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { asciiDomain } from '../ascii-domain.ts'
import { budget, checked, count, evenIfBroken, flag, positiveCount, section, text } from '../fields.ts'

export const TEAM_ROLES = ['team_admin', 'team_developer', 'team_viewer'] as const
export type TeamRole = (typeof TEAM_ROLES)[number]

const domain = () =>
  checked((value) => (asciiDomain(value) ? undefined : 'must be a bare domain such as example.com')).transform(
    (value) => asciiDomain(value) ?? value,
  )

/** Accounts that are created at a person's first single sign-on. The defaults apply once, at provisioning. */
export const selfRegistration = lazily(() =>
  section({
    enabled: flag()
      .default(false)
      .describe('Whether people of an allowed domain get an account at their first sign-on.'),
    mode: z.literal('sso_allowed_domain').default('sso_allowed_domain').describe('How access is decided.'),
    allowed_domains: z.array(domain()).default([]).describe('E-mail domains whose people may register.'),
    require_email_verification: flag()
      .default(true)
      .describe('Only addresses that the identity provider has verified are accepted.'),
    default_org: section({
      id: text().optional().describe('The organization that newcomers join; created if absent.'),
      max_budget: budget().optional().describe('Its budget in US dollars, if it is created here.'),
      rpm_limit: count().optional().describe('Its requests per minute, if it is created here.'),
    })
      .prefault({})
      .describe('The organization of newcomers.'),
    default_team: section({
      id: text().optional().describe('The team that newcomers join; created if absent.'),
      role: z.enum(TEAM_ROLES).default('team_developer').describe('The role that newcomers get in it.'),
      self_service_keys_enabled: flag().default(false).describe('Whether members may create their own keys.'),
      self_service_max_keys_per_user: count().optional().describe('The most keys that one member may own there.'),
      self_service_budget_ceiling: budget().optional().describe('The largest budget of such a key, in US dollars.'),
      self_service_require_expiry: flag().default(false).describe('Whether such a key must expire.'),
      self_service_max_expiry_days: positiveCount().optional().describe('The longest life of such a key, in days.'),
    })
      .prefault({})
      .describe('The team of newcomers.'),
    default_user: section({
      max_budget: budget().optional().describe("A newcomer's budget in US dollars."),
      rpm_limit: count().optional().describe("A newcomer's requests per minute."),
    })
      .prefault({})
      .describe('What a newcomer may use.'),
  }).superRefine((settings, context) => {
    if (settings.enabled !== true) return
    const need = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (Array.isArray(settings.allowed_domains) && settings.allowed_domains.length === 0) {
      need(['allowed_domains'], 'needs at least one domain while self-registration is enabled')
    }
    if (settings.default_org?.id === undefined) {
      need(['default_org', 'id'], 'is required while self-registration is enabled; name the organization')
    }
    if (settings.default_team?.id === undefined) {
      need(['default_team', 'id'], 'is required while self-registration is enabled; name the team')
    }
  }, evenIfBroken),
)
