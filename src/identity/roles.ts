/** The roles of an organization's members. */
export const ORGANIZATION_ROLES = ['org_owner', 'org_admin', 'org_billing', 'org_auditor', 'org_member'] as const
