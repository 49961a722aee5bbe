import type { FunctionComponent } from 'preact'
import type { IconName } from '../design/icons.tsx'

/** A page of the console. */
export interface ConsolePage {
  /** Its name in `pages` of /auth/me, which lists the pages that the person may open. */
  readonly id: string
  /** After /console; '' is the first page. */
  readonly path: string
  readonly label: string
  readonly group: '' | 'Observe' | 'Use' | 'Routing' | 'People' | 'Operate'
  readonly icon: IconName
  /** The second key of its shortcut, after g. */
  readonly key?: string
  readonly load: () => Promise<FunctionComponent>
}

/** Every page, in the order of the navigation. A page is a file beside this one, and its line here. */
export const PAGES: readonly ConsolePage[] = [
  {
    id: 'overview',
    path: '',
    label: 'Overview',
    group: '',
    icon: 'overview',
    key: 'o',
    load: () => import('./overview.tsx').then(({ Overview }) => Overview),
  },
  {
    id: 'usage',
    path: 'usage',
    label: 'Usage',
    group: 'Observe',
    icon: 'usage',
    key: 'u',
    load: () => import('./usage.tsx').then(({ Usage }) => Usage),
  },
  {
    id: 'requests',
    path: 'requests',
    label: 'Requests',
    group: 'Observe',
    icon: 'requests',
    key: 'r',
    load: () => import('./requests.tsx').then(({ Requests }) => Requests),
  },
  {
    id: 'health',
    path: 'health',
    label: 'Health',
    group: 'Observe',
    icon: 'health',
    key: 'h',
    load: () => import('./health.tsx').then(({ Health }) => Health),
  },
  {
    id: 'batches',
    path: 'batches',
    label: 'Batches',
    group: 'Observe',
    icon: 'batches',
    key: 'b',
    load: () => import('./batches.tsx').then(({ Batches }) => Batches),
  },
  {
    id: 'my-keys',
    path: 'my-keys',
    label: 'My keys',
    group: 'Use',
    icon: 'key',
    key: 'm',
    load: () => import('./my-keys.tsx').then(({ MyKeys }) => MyKeys),
  },
  {
    id: 'models',
    path: 'models',
    label: 'Models',
    group: 'Use',
    icon: 'models',
    load: () => import('./models.tsx').then(({ Models }) => Models),
  },
  {
    id: 'playground',
    path: 'play',
    label: 'Playground',
    group: 'Use',
    icon: 'playground',
    key: 'p',
    load: () => import('./playground.tsx').then(({ Playground }) => Playground),
  },
  {
    id: 'deployments',
    path: 'deployments',
    label: 'Deployments',
    group: 'Routing',
    icon: 'deployments',
    key: 'd',
    load: () => import('./deployments.tsx').then(({ Deployments }) => Deployments),
  },
  {
    id: 'groups',
    path: 'groups',
    label: 'Route groups',
    group: 'Routing',
    icon: 'groups',
    key: 'g',
    load: () => import('./groups.tsx').then(({ Groups }) => Groups),
  },
  {
    id: 'prompts',
    path: 'prompts',
    label: 'Prompts',
    group: 'Routing',
    icon: 'prompts',
    load: () => import('./prompts.tsx').then(({ Prompts }) => Prompts),
  },
  {
    id: 'mcp',
    path: 'mcp',
    label: 'MCP servers',
    group: 'Routing',
    icon: 'mcp',
    load: () => import('./mcp.tsx').then(({ McpServers }) => McpServers),
  },
  {
    id: 'keys',
    path: 'keys',
    label: 'Keys',
    group: 'People',
    icon: 'key',
    key: 'k',
    load: () => import('./keys.tsx').then(({ Keys }) => Keys),
  },
  {
    id: 'teams',
    path: 'teams',
    label: 'Teams',
    group: 'People',
    icon: 'teams',
    key: 't',
    load: () => import('./teams.tsx').then(({ Teams }) => Teams),
  },
  {
    id: 'organizations',
    path: 'organizations',
    label: 'Organizations',
    group: 'People',
    icon: 'organizations',
    load: () => import('./organizations.tsx').then(({ Organizations }) => Organizations),
  },
  {
    id: 'people',
    path: 'people',
    label: 'People',
    group: 'People',
    icon: 'people',
    load: () => import('./people.tsx').then(({ People }) => People),
  },
  {
    id: 'audit',
    path: 'audit',
    label: 'Audit',
    group: 'Operate',
    icon: 'audit',
    key: 'a',
    load: () => import('./audit.tsx').then(({ Audit }) => Audit),
  },
  {
    id: 'settings',
    path: 'settings',
    label: 'Settings',
    group: 'Operate',
    icon: 'settings',
    key: 's',
    load: () => import('./settings.tsx').then(({ Settings }) => Settings),
  },
  {
    id: 'account',
    path: 'account',
    label: 'Account',
    group: 'Operate',
    icon: 'people',
    load: () => import('./account.tsx').then(({ Account }) => Account),
  },
]
