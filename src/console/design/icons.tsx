/** Lines on a grid of 16. They repeat what a word beside them says, or a label names them. */
const LINES = {
  overview: 'M2.5 2.5h4.5v5H2.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5h4.5v4H2.5z',
  usage: 'M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6.5',
  requests: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  health: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  batches: 'M2.5 5 8 2.5 13.5 5 8 7.5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5l5.5-2.5',
  key: 'M9.5 6.5a3.5 3.5 0 1 0-3.2 3.5l1.2 1.2H9v1.5h1.5v1.5h3v-2.6L9.4 7.9a3.5 3.5 0 0 0 .1-1.4zM5.5 6h.01',
  models: 'M8 1.8 13.6 5v6L8 14.2 2.4 11V5zM2.4 5 8 8.2 13.6 5M8 8.2v6',
  playground: 'M3.5 2.5h9v7h-5l-2.5 2.5V9.5H3.5z',
  deployments: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  groups: 'M3.5 8h3c3 0 2-4.5 6-4.5M6.5 8c3 0 2 4.5 6 4.5M1.5 8a1 1 0 1 0 2 0 1 1 0 0 0-2 0',
  prompts: 'M3 2.5h7l3 3v8H3zM5.5 7h5M5.5 10h5',
  mcp: 'M5.5 2v3.5M10.5 2v3.5M3.5 5.5h9V8A4.5 4.5 0 0 1 8 12.5 4.5 4.5 0 0 1 3.5 8zM8 12.5V15',
  teams:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.5.5 2.5 1.8 2.5 3.7',
  organizations: 'M2.5 13.5v-11h7v11M9.5 6.5h4v7M1.5 13.5h13M5 5.5h2M5 8h2M5 10.5h2',
  people: 'M8 7.5a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM2.5 14c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5',
  audit: 'M8 1.8 13 4v4c0 3-2 5.2-5 6.200C5 13.2 3 11 3 8V4zM5.8 8l1.7 1.700L10.5 6.5',
  settings:
    'M2 4.500h6M11.5 4.500H14M2 11.500h2.500M8 11.500h6M8 4.500a1.75 1.75 0 1 0 3.5 0 1.75 1.75 0 0 0-3.5 0zM4.5 11.500a1.75 1.75 0 1 0 3.5 0 1.75 1.75 0 0 0-3.5 0z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  close: 'M3.5 3.500l9 9M12.5 3.500l-9 9',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  copy: 'M5.5 5.500h8v8h-8zM3.5 10.500h-1v-8h8v1',
  check: 'M3 8.500l3.5 3.500L13 4.5',
  down: 'M4 6l4 4 4-4',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.500L13 6M13 2.500V6H9.5',
  download: 'M8 2.500v8M4.5 7.5 8 11l3.5-3.500M2.5 13.500h11',
  external: 'M6.5 3.500h-3v9h9v-3M9 3.500h3.500V7M12.5 3.500l-5.5 5.5',
  warning: 'M8 2.5 14.5 13.500h-13zM8 6.500v3.500M8 12h.01',
  menu: 'M2.5 4.500h11M2.5 8h11M2.5 11.500h11',
  previous: 'M10 3.5 5.5 8l4.5 4.5',
  next: 'M6 3.5 10.5 8 6 12.5',
} as const

export type IconName = keyof typeof LINES

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={LINES[name]} />
    </svg>
  )
}

/** The sign of the gateway: several ways in, one way out. */
export function Sign() {
  return (
    <svg
      width="20"
      height="20"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d="M2 4h3c4 0 3 6 7 6h6M2 16h3c4 0 3-6 7-6M2 10h4" />
    </svg>
  )
}
